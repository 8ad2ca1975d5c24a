import { Command } from 'commander'
import { configOptions } from '../../terminal/config-options.ts'
import type { ExitCode, Io } from '../../terminal/io.ts'
import { readTime } from '../../terminal/option-values.ts'
import type { Options } from './action.ts'

/** `chain-agent bundle`: one archive for support, with secrets redacted. */
export const bundleCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('bundle'))
    .option('-o, --output <file>', 'the archive; default: chain-agent-bundle-TIME.tar.gz in the current directory')
    .option(
      '-S, --since <time>',
      'start of the logs, at most 5,000 lines or 2 MiB per service; default: an hour ago',
      readTime(io.clock),
    )
    .option('--no-logs', 'without the logs of the services')
    .option('--list', 'print the contents, and write nothing')
    .addHelpText(
      'after',
      `
Contains the health verdict with its evidence, the readings of all collectors,
the metrics, the effective configuration, versions, the state of the systemd
units, the agent's events, and the newest lines of each service's log. Never
contains key files, the environment file, or commands and environment of units.
Everything that looks like a secret is redacted, and the manifest counts the
redactions of each class. Nothing is sent: review the archive before you send
it. Only you can read the file, and no file is overwritten.

Examples:
  chain-agent bundle
  chain-agent bundle --since 6h --output /tmp/for-support.tar.gz
  chain-agent bundle --list --no-logs`,
    )
    .action(async (options: Options) => {
      const { bundle } = await import('./action.ts')
      await bundle({ io, exit, options })
    })
