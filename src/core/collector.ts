import type { Sample } from './metric.ts'
import type { Clock } from './clock.ts'
import { SourceError } from './errors.ts'
import { attempt, type Outcome } from './outcome.ts'
import { renderDuration } from './units.ts'

export interface Context {
  readonly clock: Clock
  readonly signal: AbortSignal
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
}

/** A reading older than this is no longer exported. Staleness is decided only here. */
export const staleAfter = ({ interval, timeout }: Timing): number => 2 * interval + timeout

/** A collector's `run` that reads at an interval and aborts a read after the timeout. */
export const poll =
  <Reading>({ interval, timeout }: Timing, read: (context: Context) => Promise<Reading>): Collector<Reading>['run'] =>
  async (context, report) => {
    while (!context.signal.aborted) {
      const outcome = await attempt(context.clock, () => withDeadline(context, timeout, read))
      if (context.signal.aborted) return
      report(outcome)
      await context.clock.sleep(interval, context.signal)
    }
  }

/**
 * Aborts `read` at the deadline and stops waiting then, even if `read` ignores its signal. Not `AbortSignal.any`: with
 * a signal that lives as long as the process it leaks on Node 20.
 */
export const withDeadline = async <T>(
  { clock, signal }: Context,
  timeout: number,
  read: (context: Context) => Promise<T>,
): Promise<T> => {
  const cancel = new AbortController()
  const stop = (): void => {
    cancel.abort(signal.reason)
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const late = clock.sleep(timeout, cancel.signal).then((): never => {
    throw new SourceError(
      { doing: 'get a response in time', happened: `none within ${renderDuration(timeout)}` },
      { timeout: true },
    )
  })
  try {
    return await Promise.race([read({ clock, signal: cancel.signal }), late])
  } finally {
    signal.removeEventListener('abort', stop)
    cancel.abort()
    // The result of the loser is ignored; its rejection must not end the process.
    late.catch(() => undefined)
  }
}

/**
 * A collector's `run` that follows a stream and folds each event into the reading. The reading is kept when the stream
 * is reopened. An event without new data is a heartbeat and is reported too, so that silent and stale can be
 * distinguished.
 */
export const follow = <Event, Reading>(
  open: (context: Context) => AsyncIterable<Event>,
  initial: Reading,
  step: (reading: Reading, event: Event) => Reading,
): Collector<Reading>['run'] => {
  let reading = initial
  return async (context, report) => {
    for await (const event of open(context)) {
      reading = step(reading, event)
      report({ ok: true, value: reading, at: context.clock.now() })
    }
  }
}
