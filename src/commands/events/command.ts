import { Command, InvalidArgumentError, Option } from 'commander'
import type { Config } from '../../config/schema.ts'
import { SourceError } from '../../core/errors.ts'
import { type Event, eventAsJson } from '../../core/event.ts'
import { isAtLeast, SEVERITIES, type Severity } from '../../core/severity.ts'
import { second } from '../../core/units.ts'
import { type Events, readEvents } from './events.ts'
import { configOf, configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { eventLines, headline } from './page.ts'
import { type ExitCode, type Io, unlessInterrupted } from '../../cli/io.ts'
import { readTime } from '../../cli/option-values.ts'
import { createStyle } from '../../cli/terminal/style.ts'

interface Options extends ConfigOptions {
  readonly since?: number
  readonly lines: number
  readonly follow?: true
  readonly collector?: string
  readonly severity: Severity
  readonly all?: true
  readonly json?: true
  readonly color: boolean
}

/** `chain-agent events`: what has changed, and when. */
export const eventsCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('events'))
    .description('the timeline of state changes that the agent has seen')
    .option('-S, --since <moment>', 'from when on: 1d, 2026-03-01', readTime(io.clock))
    .option('-n, --lines <count>', 'the newest so many', readCount, 100)
    .option('-f, --follow', 'go on with those that come, until Ctrl-C')
    .option('--collector <name>', 'of one collector alone; `agent` is the agent itself')
    .addOption(
      new Option('--severity <severity>', 'only changes of at least this severity')
        .choices(SEVERITIES)
        .default('info'),
    )
    .option('--all', 'also the first reading of each subject that has no fault')
    .option('--json', 'as JSON; with -f a line each')
    .option('--no-color', 'without colours')
    .addHelpText(
      'after',
      `
Oldest first. The running agent tells them; where none runs, they come from the file that it has left in
state.directory. It keeps the newest ten thousand (events.keep), and a restart of it repeats nothing.

The severity is that of the new state: critical (marked with a cross, or x in ASCII), warning (!) or info.
A recovery is info.

Examples:
  chain-agent events
  chain-agent events --since 1d -n 1000 --collector services
  chain-agent events --since 1d --severity warning
  chain-agent events -f
  chain-agent events --json | jq -r '.events[] | select(.subject == "bft") | .at + " " + .to'`,
    )
    .action(async (options: Options) => {
      const { config } = configOf(io, options)
      // Who follows ends it with Ctrl-C, however soon.
      const end = options.follow ? () => exit(0) : exit
      const told = await unlessInterrupted(io, end, () => readEvents(askWith(io, config, options)))
      if (!told) return
      const wanted = wantedOf(told.events, options)
      const shown = wanted.slice(-options.lines)
      const hidden = wantedOf(told.events, { ...options, all: true }).length - wanted.length
      const style = createStyle(io, { color: options.color })
      const print = (lines: readonly string[]): void => {
        if (lines.length > 0) io.stdout.write(`${lines.join('\n')}\n`)
      }
      const render = (events: readonly Event[]): readonly string[] =>
        options.json
          ? events.map((event) => JSON.stringify(eventAsJson(event)))
          : eventLines(events, style)
      if (options.json && !options.follow) print([asJson(told, shown)])
      else {
        if (!options.json)
          print(
            headline({ ...told, ...options, wanted, shown, hidden }, config.state.directory, style),
          )
        print(render(shown))
      }
      if (options.follow) {
        await follow({ io, config, from: told.events.at(-1)?.id ?? 0 }, (events) => {
          print(render(wantedOf(events, options)))
        })
      }
      exit(0)
    })

const askWith = (io: Io, config: Config, { since }: Pick<Options, 'since'>) => ({
  config,
  clock: io.clock,
  signal: io.signal,
  ...(since !== undefined && { since }),
  ...io.overrides,
})

type Filter = Pick<Options, 'collector' | 'severity'> & { readonly all?: boolean }

const wantedOf = (
  events: readonly Event[],
  { collector, severity, all = false }: Filter,
): readonly Event[] =>
  events.filter(
    (event) =>
      (collector === undefined || event.collector === collector) &&
      isAtLeast(event.severity, severity) &&
      (all || !isFirstReading(event)),
  )

/** At the first start of an agent there is one for each subject. The agent's own events are no readings. */
const isFirstReading = ({ collector, from, severity }: Event): boolean =>
  from === null && severity === 'info' && collector !== 'agent'

const EVERY_MS = second

interface Following {
  readonly io: Io
  readonly config: Config
  /** The last that was told. */
  readonly from: number
}

/** Asks again and again, until the signal aborts. */
const follow = async (
  { io, config, from }: Following,
  onMore: (events: readonly Event[]) => void,
): Promise<void> => {
  let after = from
  const complaints = new Set<string>()
  while (!io.signal.aborted) {
    await io.clock.sleep(EVERY_MS, io.signal)
    if (io.signal.aborted) return
    try {
      const { events, newestId } = await readEvents({ ...askWith(io, config, {}), after })
      if (newestId !== undefined && (newestId ?? 0) < after) {
        io.stderr.write('The changes that were kept are gone; going on with those since then.\n')
        after = 0
        continue
      }
      after = events.at(-1)?.id ?? after
      complaints.clear()
      onMore(events)
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      // An agent that is started anew is away for a moment.
      if (!complaints.has(error.message)) io.stderr.write(`${error.message}\n`)
      complaints.add(error.message)
    }
  }
}

const asJson = ({ origin, total, oldestAt }: Events, events: readonly Event[]): string =>
  JSON.stringify(
    {
      origin,
      total,
      oldestAt: oldestAt === null ? null : new Date(oldestAt).toISOString(),
      events: events.map(eventAsJson),
    },
    undefined,
    2,
  )

const readCount = (text: string): number => {
  const count = Number(text)
  if (/^\d{1,6}$/.test(text) && count > 0) return count
  throw new InvalidArgumentError('expected a number of lines, such as 100')
}
