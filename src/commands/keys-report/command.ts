import { Command } from 'commander'
import { configOf, configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { createKeyExaminer, renderKeyReport } from '../../collectors/keys/files.ts'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { createExec } from '../../sources/exec.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { createPrefix } from '../../sources/prefix.ts'

/** `chain-agent keys-report`: for a unit that can read files that the agent cannot. */
export const keysReportCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('keys-report'))
    .addHelpText(
      'after',
      `
Prints states only: no paths and no contents. deploy/chain-agent-keys.service runs this command, and the agent
reads its output from keys.reportFile.

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

interface Options {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
}

/** The states of the node's key files, for an agent that cannot read them. */
export const readKeysReport = async ({ config, clock, path, signal }: Options): Promise<string> => {
  const exec = createExec({ clock, path })
  const examine = createKeyExaminer({
    files: keyFiles,
    readPrefix: createPrefix({ exec, path, configured: config.prefix }),
    places: config.node,
  })
  try {
    return renderKeyReport(await examine(signal))
  } finally {
    exec.killAll()
  }
}
