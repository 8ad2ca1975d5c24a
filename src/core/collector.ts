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

/** How often, and how long we wait: milliseconds. */
export interface Timing {
  readonly interval: number
  readonly timeout: number
}

export interface Collector<Reading> {
  /** Its name in the configuration, in logs and in the `collector` label. */
  readonly name: string
  /** One sentence for `/api/v1/status` and the docs. */
  readonly help: string
  /** How often it asks or, where it follows, shows that it is alive; and how long one attempt may take. */
  readonly timing: Timing
  /** Reports readings until the signal aborts. */
  run(context: Context, report: Report<Reading>): Promise<void>
  /** What a reading means in metrics. Pure. */
  samples(reading: Reading): readonly Sample[]
  /** What a reading means in words: subject → state. Each change is worth one line in the log. */
  states(reading: Reading): Readonly<Record<string, string>>
}

/** A reading older than this is no longer exported. The one place where staleness is decided. */
export const staleAfter = ({ interval, timeout }: Timing): number => 2 * interval + timeout

/** A collector's `run` that asks every so often, and gives up on an answer after the timeout. */
export const poll =
  <Reading>(
    { interval, timeout }: Timing,
    read: (context: Context) => Promise<Reading>,
  ): Collector<Reading>['run'] =>
  async (context, report) => {
    while (!context.signal.aborted) {
      const outcome = await attempt(context.clock, () => withDeadline(context, timeout, read))
      if (context.signal.aborted) return
      report(outcome)
      await context.clock.sleep(interval, context.signal)
    }
  }

/**
 * Aborts `read` at the deadline, and stops waiting then even when `read` does not listen.
 * A controller by hand: `AbortSignal.any` on a signal that lives as long as we do leaks on Node 20.
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
      { doing: 'get an answer in time', happened: `none within ${renderDuration(timeout)}` },
      { timeout: true },
    )
  })
  try {
    return await Promise.race([read({ clock, signal: cancel.signal }), late])
  } finally {
    signal.removeEventListener('abort', stop)
    cancel.abort()
    // Whichever lost the race is nobody's any more; its rejection must not end the process.
    late.catch(() => undefined)
  }
}

/**
 * A collector's `run` that listens, folding each event into the reading. What was folded is kept
 * when the stream has to be opened anew. An event that brings nothing new is a heartbeat: it too is
 * reported, so that silent and stale can be told apart.
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
