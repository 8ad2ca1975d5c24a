import { Command } from 'commander'
import { configOptions, type ConfigOptions } from '../../terminal/config-options.ts'
import type { ExitCode, Io } from '../../terminal/io.ts'

/** `chain-agent keys-report`: for a unit that can read files that the agent cannot. */
export const keysReportCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('keys-report'))
    .addHelpText(
      'after',
      `
Prints states only: no paths and no contents. deploy/chain-agent-keys.service
runs this command, and the agent reads its output from keys.reportFile.

Examples:
  sudo chain-agent keys-report
  sudo chain-agent keys-report --config /etc/chain-agent/config.yaml`,
    )
    .action(async (options: ConfigOptions) => {
      const { reportKeys } = await import('./action.ts')
      await reportKeys({ io, exit, options })
    })
