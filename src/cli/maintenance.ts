import { Command, InvalidArgumentError, Option } from 'commander'
import { readConfig } from '../config/index.ts'
import { type Maintenance, stands } from '../core/maintenance.ts'
import { minute, parseDuration, renderDuration } from '../core/units.ts'
import { openAnnouncements } from '../tasks/maintenance.ts'
import { MAINTENANCE_REASONS } from '../metrics.ts'
import { configOptions, type ConfigOptions, flagsOf } from './config-options.ts'
import type { ExitCode, Io } from './io.ts'

interface StartOptions extends ConfigOptions {
  readonly reason: (typeof MAINTENANCE_REASONS)[number]
  readonly note?: string
}

type ShowOptions = ConfigOptions & { readonly json?: true }
type Exit = (code: ExitCode) => void

/** `chain-agent maintenance`: alerts about the node keep quiet while its operator works on it. */
export const maintenanceCommand = (io: Io, exit: Exit): Command =>
  new Command('maintenance')
    .description('announce maintenance, so that nobody is woken by it')
    .addCommand(startCommand(io, exit))
    .addCommand(endCommand(io, exit))
    .addCommand(showCommand(io, exit))
    .addHelpText(
      'after',
      `
The running agent sees it within seconds, and exports chain_agent_maintenance{reason}; the alert rules
know it. It ends by itself, and outlives a restart of the agent. Keys and exposed ports stay alerted.

Examples:
  chain-agent maintenance start 30m --reason upgrade
  chain-agent maintenance show
  chain-agent maintenance end`,
    )

const startCommand = (io: Io, exit: Exit): Command =>
  configOptions(new Command('start'))
    .description('begin now; it ends by itself')
    .argument('<duration>', 'how long at most: 30m, 2h', readSpan)
    .addOption(new Option('--reason <reason>', 'why').choices(MAINTENANCE_REASONS).default('other'))
    .option('--note <text>', 'in your own words; shown by `show` and in the API, in no metric')
    .action(async (span: number, options: StartOptions) => {
      const announcements = announcementsOf(io, options)
      // What cannot be read is replaced, as the agent's log advises.
      const before = await announcements.read().catch(() => undefined)
      const startedAt = io.clock.now()
      const { reason, note = null } = options
      const maintenance = { reason, note, startedAt, until: startedAt + span }
      await announcements.write(maintenance)
      if (before && stands(before, startedAt)) io.stdout.write(`Replaces: ${describe(before)}\n`)
      io.stdout.write(`Maintenance: ${describe(maintenance)}\n`)
      exit(0)
    })

const endCommand = (io: Io, exit: Exit): Command =>
  configOptions(new Command('end'))
    .description('end it now')
    .action(async (options: ConfigOptions) => {
      const hadOne = await announcementsOf(io, options).end()
      io.stdout.write(hadOne ? 'Maintenance has ended.\n' : 'No maintenance was announced.\n')
      exit(0)
    })

const showCommand = (io: Io, exit: Exit): Command =>
  configOptions(new Command('show'))
    .description('what is announced; exit code 1 when nothing is')
    .option('--json', 'as JSON')
    .action(async (options: ShowOptions) => {
      const found = await announcementsOf(io, options).read()
      const now = found && stands(found, io.clock.now()) ? found : undefined
      if (options.json) io.stdout.write(`${JSON.stringify(now ? asJson(now) : null)}\n`)
      else io.stdout.write(now ? `Maintenance: ${describe(now)}\n` : 'No maintenance.\n')
      exit(now ? 0 : 1)
    })

const announcementsOf = (io: Io, options: ConfigOptions) => {
  const inputs = { env: io.env, flags: flagsOf(options) }
  return openAnnouncements(readConfig(options.config, inputs).config)
}

const asJson = ({ reason, note, startedAt, until }: Maintenance) => ({
  reason,
  note,
  startedAt: new Date(startedAt).toISOString(),
  until: new Date(until).toISOString(),
})

const describe = (maintenance: Maintenance): string => {
  const { reason, until, note, startedAt } = maintenance
  const end = `${new Date(until).toISOString()} (${renderDuration(until - startedAt)} in all)`
  return `${reason} until ${end}${note === null ? '' : `: ${note}`}`
}

const LONGEST_MS = 7 * 24 * 60 * minute

const readSpan = (text: string): number => {
  const span = parseDuration(text)
  if (span !== undefined && span >= minute && span <= LONGEST_MS) return span
  throw new InvalidArgumentError('expected a duration from 1m to 7d, such as 30m')
}
