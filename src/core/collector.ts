import { type Clock, type Context, linkAbort, withDeadline } from './clock.ts'
import type { Sample } from './metric.ts'
import { asError, hostLimitError } from './errors.ts'
import { second } from './units.ts'

interface Attempt {
  /** When the attempt ended, in milliseconds since the epoch. */
  readonly at: number
  /** Its duration in milliseconds; undefined for an event of a stream, which has no start. */
  readonly took?: number
}

/** The result of one attempt to read. Failures are values from here on. */
export type Outcome<T> = Attempt &
  ({ readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Error })

/** Runs `read` and converts anything it throws to an outcome. Failures of reads are caught only here. */
export const attempt = async <T>(clock: Clock, read: () => Promise<T>): Promise<Outcome<T>> => {
  const started = clock.elapsed()
  const done = () => ({ at: clock.now(), took: clock.elapsed() - started })
  try {
    return { ok: true, value: await read(), ...done() }
  } catch (error) {
    const failure = asError(error)
    return { ok: false, error: hostLimitError(failure) ?? failure, ...done() }
  }
}

export type Report<Reading> = (outcome: Outcome<Reading>) => void

/** The interval between reads and the time limit of a read, in milliseconds. */
export interface Timing {
  readonly interval: number
  readonly timeout: number
}

export interface Collector<out Reading> {
  /** Its name in the configuration, in logs and in the `collector` label. */
  readonly name: string
  /** One sentence for `/api/v1/status` and the docs. */
  readonly help: string
  /** The polling interval (for a follower: the heartbeat interval) and the time limit of one attempt. */
  readonly timing: Timing
  /** Reports readings until the signal aborts. */
  run(context: Context, report: Report<Reading>): Promise<void>
  /** The metrics of a reading. A pure function. */
  samples(reading: Reading): readonly Sample[]
  /** The states of a reading: subject → state. Each change is logged as one line. */
  states(reading: Reading): Readonly<Record<string, string>>
  /** The subjects whose state is logged as a warning: a problem that no alert rule shows. */
  warnings?(reading: Reading): readonly string[]
}

/** What a collector has from its definition, and its timing. */
export const metadataOf = ({ name, help }: Pick<Collector<unknown>, 'name' | 'help'>, timing: Timing) => ({
  name,
  help,
  timing,
})

/** A reading older than this is no longer exported. Staleness is decided only here. */
export const staleAfter = ({ interval, timeout }: Timing): number => 2 * interval + timeout

/** Calls the function when a read is needed before the interval has passed. Returns the end of the subscription. */
export type Subscribe = (wake: () => void) => () => void

/** The least time between two reads, in milliseconds, if a change causes the second one. */
const LEAST_PAUSE = second

/**
 * A collector's `run` that reads at an interval, or when `subscribe` wakes it, and aborts a read after the timeout.
 */
export const poll =
  <Reading>(
    { interval, timeout }: Timing,
    read: (context: Context) => Promise<Reading>,
    subscribe?: Subscribe,
  ): Collector<Reading>['run'] =>
  async (context, report) => {
    const { clock, signal } = context
    let isWoken: boolean
    let endPause = (): void => undefined
    const unsubscribe = subscribe?.(() => {
      isWoken = true
      endPause()
    })
    while (!signal.aborted) {
      isWoken = false
      const outcome = await attempt(clock, () => withDeadline(context, timeout, read))
      if (signal.aborted) break
      report(outcome)
      if (!subscribe) {
        await clock.sleep(interval, signal)
        continue
      }
      const endedAt = clock.elapsed()
      const pause = linkAbort(signal)
      endPause = pause.abort
      if (isWoken) endPause()
      await clock.sleep(interval, pause.signal)
      endPause()
      const rest = endedAt + Math.min(LEAST_PAUSE, interval) - clock.elapsed()
      if (rest > 0 && !signal.aborted) await clock.sleep(rest, signal)
    }
    unsubscribe?.()
  }

/**
 * A collector's `run` that follows a stream and reports the reading after each event. An event without new data is a
 * heartbeat and is reported too, so that silent and stale can be distinguished.
 */
export const follow =
  <Event, Reading>(
    open: (context: Context) => AsyncIterable<Event>,
    readingAfter: (event: Event) => Reading,
  ): Collector<Reading>['run'] =>
  async (context, report) => {
    for await (const event of open(context)) report({ ok: true, value: readingAfter(event), at: context.clock.now() })
  }
