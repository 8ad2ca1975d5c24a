import { Command, InvalidArgumentError, Option } from 'commander'
import { MAINTENANCE_REASONS } from '../../domain/maintenance.ts'
import { minute, parseDuration } from '../../core/units.ts'
import { configOptions, type ConfigOptions } from '../../terminal/config-options.ts'
import type { ExitCode, Io } from '../../terminal/io.ts'
import type { StartOptions, ShowOptions } from './action.ts'

type Exit = (code: ExitCode) => void

/** `chain-agent maintenance`: suppresses alerts about the node while its operator works on it. */
export const maintenanceCommand = (io: Io, exit: Exit): Command =>
  new Command('maintenance')
    .addCommand(startCommand(io, exit))
    .addCommand(endCommand(io, exit))
    .addCommand(showCommand(io, exit))
    .addHelpText(
      'after',
      `
The running agent reads the window within seconds and exports
chain_agent_maintenance{reason}, which the alert rules use. \`start\` and \`end\`
wait until the agent reports the change; if it does not, they exit with status 1
and the reason. The window ends by itself and survives a restart of the agent.
Alerts about keys and exposed ports still fire.

Examples:
  sudo chain-agent maintenance start 30m --reason upgrade
  chain-agent maintenance show
  sudo chain-agent maintenance end`,
    )

const startCommand = (io: Io, exit: Exit): Command =>
  configOptions(new Command('start'))
    .description('start a window now; it ends by itself')
    .argument('<duration>', 'maximum length: 30m, 2h', readDuration)
    .addOption(new Option('--reason <reason>', 'why').choices(MAINTENANCE_REASONS).default('other'))
    .option('--note <text>', 'free text; shown by `show` and in the API, in no metric')
    .action(async (span: number, options: StartOptions) => {
      const { startMaintenance } = await import('./action.ts')
      await startMaintenance({ io, exit, options }, span)
    })

const endCommand = (io: Io, exit: Exit): Command =>
  configOptions(new Command('end'))
    .description('end the window now')
    .action(async (options: ConfigOptions) => {
      const { endMaintenance } = await import('./action.ts')
      await endMaintenance({ io, exit, options })
    })

const showCommand = (io: Io, exit: Exit): Command =>
  configOptions(new Command('show'))
    .description('print the current window; exit status 1 when there is none')
    .option('--json', 'as JSON')
    .action(async (options: ShowOptions) => {
      const { showMaintenance } = await import('./action.ts')
      await showMaintenance({ io, exit, options })
    })

const MAX_DURATION_MS = 7 * 24 * 60 * minute

const readDuration = (text: string): number => {
  const span = parseDuration(text)
  if (span !== undefined && span >= minute && span <= MAX_DURATION_MS) return span
  throw new InvalidArgumentError('expected a duration from 1m to 7d, such as 30m')
}
