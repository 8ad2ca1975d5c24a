import { Command, InvalidArgumentError, Option } from 'commander'
import type { Config } from '../../config/schema.ts'
import { SourceError } from '../../core/errors.ts'
import { type Event, eventAsJson } from '../../core/event.ts'
import { isAtLeast, SEVERITIES, type Severity } from '../../core/severity.ts'
import { second } from '../../core/units.ts'
import { type Events, readEvents } from './events.ts'
import { configOf, configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { type ExitCode, type Io, unlessInterrupted } from '../../cli/io.ts'
import { readTime } from '../../cli/option-values.ts'
import { createStyle, type Style } from '../../cli/terminal/style.ts'
import { sanitize } from '../../core/sanitize.ts'
import { wrap } from '../../cli/terminal/layout.ts'

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

/** `chain-agent events`: the timeline of state changes. */
export const eventsCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('events'))
    .option('-S, --since <moment>', 'start: 1d, 2026-03-01', readTime(io.clock))
    .option('-n, --lines <count>', 'the newest N changes', readCount, 100)
    .option('-f, --follow', 'print new changes until Ctrl-C')
    .option('--collector <name>', 'only changes of this collector; `agent` is the agent itself')
    .addOption(
      new Option('--severity <severity>', 'only changes of at least this severity').choices(SEVERITIES).default('info'),
    )
    .option('--all', 'also the first reading of each subject that has no fault')
    .option('--json', 'as JSON; one line per change with -f')
    .option('--no-color', 'without colours')
    .addHelpText(
      'after',
      `
Oldest first. Read from the running agent, or from its file in state.directory if no agent is running. The agent
keeps the newest 10,000 changes (events.keep); a restart of the agent adds no duplicates.

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
      // With --follow, Ctrl-C is the normal end.
      const end = options.follow ? () => exit(0) : exit
      const page = await unlessInterrupted(io, end, () => readEvents(readOptions(io, config, options)))
      if (!page) return
      const wanted = matching(page.events, options)
      const shown = wanted.slice(-options.lines)
      const hidden = matching(page.events, { ...options, all: true }).length - wanted.length
      const style = createStyle(io, { color: options.color })
      const print = (lines: readonly string[]): void => {
        if (lines.length > 0) io.stdout.write(`${lines.join('\n')}\n`)
      }
      const render = (events: readonly Event[]): readonly string[] =>
        options.json ? events.map((event) => JSON.stringify(eventAsJson(event))) : eventLines(events, style)
      if (options.json && !options.follow) print([asJson(page, shown)])
      else {
        if (!options.json)
          print(headline({ ...page, ...options, wanted, shown, hidden }, config.state.directory, style))
        print(render(shown))
      }
      if (options.follow) {
        await follow({ io, config, from: page.events.at(-1)?.id ?? 0 }, (events) => {
          print(render(matching(events, options)))
        })
      }
      exit(0)
    })

const readOptions = (io: Io, config: Config, { since }: Pick<Options, 'since'>) => ({
  config,
  clock: io.clock,
  signal: io.signal,
  ...(since !== undefined && { since }),
  ...io.overrides,
})

type Filter = Pick<Options, 'collector' | 'severity'> & { readonly all?: boolean }

const matching = (events: readonly Event[], { collector, severity, all = false }: Filter): readonly Event[] =>
  events.filter(
    (event) =>
      (collector === undefined || event.collector === collector) &&
      isAtLeast(event.severity, severity) &&
      (all || !isFirstReading(event)),
  )

/** The first start of an agent records one change per subject. Events of the agent itself are no readings. */
const isFirstReading = ({ collector, from, severity }: Event): boolean =>
  from === null && severity === 'info' && collector !== 'agent'

const POLL_INTERVAL_MS = second

interface FollowOptions {
  readonly io: Io
  readonly config: Config
  /** The id of the last printed event. */
  readonly from: number
}

/** Polls for new events until the signal aborts. */
const follow = async (
  { io, config, from }: FollowOptions,
  onMore: (events: readonly Event[]) => void,
): Promise<void> => {
  let after = from
  const reported = new Set<string>()
  while (!io.signal.aborted) {
    await io.clock.sleep(POLL_INTERVAL_MS, io.signal)
    if (io.signal.aborted) return
    try {
      const { events, newestId } = await readEvents({ ...readOptions(io, config, {}), after })
      if (newestId !== undefined && (newestId ?? 0) < after) {
        io.stderr.write('The stored changes were deleted; continuing with newer ones.\n')
        after = 0
        continue
      }
      after = events.at(-1)?.id ?? after
      reported.clear()
      onMore(events)
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      // A restarting agent is unreachable for a moment.
      if (!reported.has(error.message)) io.stderr.write(`${error.message}\n`)
      reported.add(error.message)
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

interface EventPage extends Omit<Events, 'events'> {
  /** All matching events, and the newest of them, which are shown. */
  readonly wanted: readonly Event[]
  readonly shown: readonly Event[]
  readonly since?: number
  readonly collector?: string
  /** The number of first readings that are left out. */
  readonly hidden: number
}

/** The number of changes, their start and their source. */
const headline = (page: EventPage, directory: string, style: Style): readonly string[] => {
  const { wanted, shown, since, oldestAt, origin, collector, hidden } = page
  const count = shown.length === 0 ? 'No change' : shown.length === 1 ? '1 change' : `${shown.length} changes`
  const of = collector === undefined ? '' : ` of ${collector}`
  const isCut = wanted.length > shown.length
  const newest = isCut ? `The newest ${shown.length} of ${wanted.length} changes` : count
  const from = isCut ? (shown[0]?.at ?? null) : (since ?? oldestAt)
  const reach = from === null ? '' : ` since ${utc(from)}`
  const by = origin === 'agent' ? ', from the running agent' : `, from ${directory}: no agent is running`
  const rest =
    hidden === 0 ? '' : `; ${hidden} first ${hidden === 1 ? 'reading' : 'readings'} without a fault not shown (--all)`
  return wrap(style.plain(`${newest}${of}${reach}${by}${rest}`), style).map((line) => style.paint('strong', line))
}

const TONES = { critical: 'bad', warning: 'notice', info: undefined } as const

/** Time, mark, collector, subject, from → to: one line per event. */
export const eventLines = (events: readonly Event[], style: Style): readonly string[] =>
  events.flatMap((event) => {
    const { at, severity, collector, subject, from, to } = event
    const change = from === null ? to : `${from} \u2192 ${to}`
    const text = subject === null ? change : `${subject}: ${change}`
    const tone = TONES[severity]
    const mark = tone === undefined ? ' ' : style.sign(tone)
    const head = `${utc(at)} ${mark} ${collector.padEnd(11)}  `
    const isNarrow = style.width !== undefined && style.width - head.length < 30
    const room = isNarrow ? '    ' : ' '.repeat(head.length)
    const lines = wrap(style.plain(sanitize(text).replaceAll(/\s*\n\s*/g, ' ')), style, room)
    const painted = lines.map((line) => (tone ? style.paint(tone, line.trimStart()) : line.trimStart()))
    const indent = (line: string): string => `${room}${line}`
    if (isNarrow) return [style.paint('quiet', head.trimEnd()), ...painted.map(indent)]
    const [first = '', ...rest] = painted
    return [`${style.paint('quiet', head)}${first}`, ...rest.map(indent)]
  })

/** To the millisecond, as in the file. */
const utc = (at: number): string => new Date(at).toISOString()
