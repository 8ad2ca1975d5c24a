import type { Config } from '../../config/schema.ts'
import { SourceError } from '../../core/errors.ts'
import { type Event, eventAsJson, isAtLeast, isFirstReading, type Severity } from '../../domain/event.ts'
import { second } from '../../core/units.ts'
import { type Events, readEvents } from './events.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { eventLines, headline } from './render.ts'
import { type Io, unlessInterrupted, type ActionContext } from '../../terminal/io.ts'
import { jsonText, linesText, type OutputOptions } from '../../terminal/output.ts'
import { createStyle } from '../../terminal/style.ts'

interface Options extends ConfigOptions, OutputOptions {
  readonly since?: number
  readonly lines: number
  readonly follow?: true
  readonly collector?: string
  readonly severity: Severity
  readonly all?: true
}

export const printEvents = async ({ io, exit, options }: ActionContext<Options>): Promise<void> => {
  const { config } = configOf(io, options)
  // With --follow, Ctrl-C is the normal end.
  const end = options.follow ? () => exit(0) : exit
  const page = await unlessInterrupted(io, end, () => readEvents(readOptions(io, config, options)))
  if (!page) return
  const wanted = matching(page.events, options)
  const shown = wanted.slice(-options.lines)
  const hidden = matching(page.events, { ...options, all: true }).length - wanted.length
  const style = createStyle(io)
  const print = (lines: readonly string[]): void => {
    io.stdout.write(linesText(lines))
  }
  const render = (events: readonly Event[]): readonly string[] =>
    options.json ? events.map((event) => JSON.stringify(eventAsJson(event))) : eventLines(events, style)
  if (options.json && !options.follow) io.stdout.write(jsonText(asJson(page, shown)))
  else {
    if (!options.json) print(headline({ ...page, ...options, wanted, shown, hidden }, config.state.directory, style))
    print(render(shown))
  }
  if (options.follow) {
    await follow({ io, config, from: page.events.at(-1)?.id ?? 0 }, (events) => {
      print(render(matching(events, options)))
    })
  }
  exit(0)
}

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

const asJson = ({ origin, total, oldestAt }: Events, events: readonly Event[]) => ({
  origin,
  total,
  oldestAt: oldestAt === null ? null : new Date(oldestAt).toISOString(),
  events: events.map(eventAsJson),
})
