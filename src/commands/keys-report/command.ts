import { Command } from 'commander'
import { readKeysReport } from './keys-report.ts'
import { configOptions, type ConfigOptions, configOf } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'

/** `chain-agent keys-report`: for a unit that may read what the agent may not. */
export const keysReportCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('keys-report'))
    .description("print as JSON how it stands with the node's key files and their backups")
    .addHelpText(
      'after',
      `
States alone: no path, and nothing of a content. deploy/chain-agent-keys.service runs this, and the
agent reads its file where keys.reportFile names it.

Examples:
  sudo chain-agent keys-report
  sudo chain-agent keys-report --config /etc/chain-agent/config.yaml`,
    )
    .action(async (options: ConfigOptions) => {
      const { config } = configOf(io, options)
      const path = io.env['PATH'] ?? '/usr/bin:/bin'
      io.stdout.write(await readKeysReport({ config, clock: io.clock, path, signal: io.signal }))
      exit(0)
    })
