import { SourceError } from '../../core/errors.ts'
import { second } from '../../core/units.ts'
import { type Event, eventAsJson, isAtLeast, isFirstReading, type Severity } from '../../domain/event.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { InterruptedError, type Io } from '../../terminal/io.ts'
import { jsonText, linesText, type OutputOptions } from '../../terminal/output.ts'
import { createStyle, type Style } from '../../terminal/style.ts'
import { type Events, eventsDocument, type EventsHost, readEvents } from './events.ts'

interface Options extends OutputOptions {
  readonly since?: number
  readonly lines: number
  readonly follow?: true
  readonly collector?: string
  readonly severity: Severity
  readonly all?: true
}

export const printEvents = async ({ io, exit, options, host, gather }: ConfiguredContext<Options>): Promise<void> => {
  // With --follow, Ctrl-C is the normal end.
  const interruption = new InterruptedError(undefined, options.follow ? 0 : 1)
  const page = await gather(() => readEvents({ ...host, since: options.since }), interruption)
  const wanted = matching(page.events, options)
  const shown = wanted.slice(-options.lines)
  const hidden = matching(page.events, { ...options, all: true }).length - wanted.length
  const style = createStyle(io)
  const print = (lines: readonly string[]) => io.stdout.write(linesText(lines))
  const render = (events: readonly Event[]): readonly string[] =>
    options.json ? events.map((event) => JSON.stringify(eventAsJson(event))) : eventLines(events, style)
  if (options.json && !options.follow) io.stdout.write(jsonText(eventsDocument(page, shown)))
  else {
    if (!options.json)
      print(headline({ ...page, ...options, wanted, shown, hidden }, host.config.state.directory, style))
    print(render(shown))
  }
  if (options.follow) {
    const from = page.events.at(-1)?.id ?? 0
    await follow({ ...host, stderr: io.stderr, from }, (events) => print(render(matching(events, options))))
  }
  exit(0)
}

type Filter = Pick<Options, 'collector' | 'severity'> & { readonly all?: boolean }

const matching = (events: readonly Event[], { collector, severity, all = false }: Filter): readonly Event[] =>
  events.filter(
    (event) =>
      (collector === undefined || event.collector === collector) &&
      isAtLeast(event.severity, severity) &&
      (all || !isFirstReading(event)),
  )

const POLL_INTERVAL_MS = second

/** Polls for new events, from the id of the last printed one on, until the signal aborts. */
const follow = async (
  { from, stderr, ...host }: EventsHost & Pick<Io, 'stderr'> & { readonly from: number },
  onMore: (events: readonly Event[]) => unknown,
): Promise<void> => {
  let after = from
  const reported = new Set<string>()
  while (!host.signal.aborted) {
    await host.clock.sleep(POLL_INTERVAL_MS, host.signal)
    if (host.signal.aborted) return
    try {
      const { events, newestId } = await readEvents({ ...host, after })
      if (newestId !== undefined && (newestId ?? 0) < after) {
        stderr.write('The stored changes were deleted; continuing with newer ones.\n')
        after = 0
        continue
      }
      after = events.at(-1)?.id ?? after
      reported.clear()
      onMore(events)
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      // A restarting agent is unreachable for a moment.
      if (!reported.has(error.message)) stderr.write(`${error.message}\n`)
      reported.add(error.message)
    }
  }
}

interface EventPage extends Omit<Events, 'events'>, Pick<Options, 'since' | 'collector'> {
  /** All matching events, and the newest of them, which are shown. */
  readonly wanted: readonly Event[]
  readonly shown: readonly Event[]
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
  const rest = hidden === 0 ? '' : `; ${hidden} first ${hidden === 1 ? 'reading' : 'readings'} not shown (--all)`
  return style.paragraph('strong', `${newest}${of}${reach}${by}${rest}`)
}

const TONES = { critical: 'bad', warning: 'notice', info: undefined } as const

/** Time, mark, collector, subject, from → to: one line per event. */
const eventLines = (events: readonly Event[], style: Style): readonly string[] =>
  events.flatMap((event) => {
    const { at, severity, collector, subject, from, to } = event
    const change = from === null ? to : `${from} \u2192 ${to}`
    const text = subject === null ? change : `${subject}: ${change}`
    const tone = TONES[severity]
    const mark = tone === undefined ? ' ' : style.sign(tone)
    const head = `${utc(at)} ${mark} ${collector.padEnd(11)}  `
    const isNarrow = style.width !== undefined && style.width - head.length < 30
    const room = isNarrow ? '    ' : ' '.repeat(head.length)
    const lines = style.wrap(text.replaceAll(/\s*\n\s*/g, ' '), room)
    const painted = lines.map((line) => (tone ? style.paint(tone, line.trimStart()) : line.trimStart()))
    const indent = (line: string): string => `${room}${line}`
    if (isNarrow) return [style.paint('quiet', head.trimEnd()), ...painted.map(indent)]
    const [first = '', ...rest] = painted
    return [`${style.paint('quiet', head)}${first}`, ...rest.map(indent)]
  })

/** To the millisecond, as in the file. */
const utc = (at: number): string => new Date(at).toISOString()
