import { setMaxListeners } from 'node:events'
import { SourceError } from './errors.ts'
import { renderDuration, second } from './units.ts'

/** The only source of time. Tests pass a clock that they control. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds on a monotonic clock, with fractions: for measuring durations. */
  elapsed(): number
  /**
   * Resolves after `ms`, or at once when `signal` aborts. Never rejects, so loops need no catch. `ms` is from 0 to
   * `LONGEST_SLEEP_MS`: a caller whose due time has passed passes 0. Virtual clocks throw otherwise.
   */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** A timer of Node.js for a longer, negative or invalid time fires at once and prints a warning. */
export const LONGEST_SLEEP_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  // Not that of node:timers/promises, which rejects when the signal aborts: an error costs more than a timer.
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve()
        return
      }
      const end = (): void => {
        clearTimeout(timer)
        // It aborts once.
        if (!signal.aborted) signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      signal.addEventListener('abort', end)
    }),
}

export interface Context {
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Why a signal aborts whose work has ended. Without a reason each `abort` creates an error with its stack. */
const ENDED = new Error('the work has ended')

/**
 * A signal that aborts together with `parent`, or by `abort`. Call `abort` when the work has ended: it also removes the
 * listener. Not `AbortSignal.any`: with a signal that lives as long as the process it leaks on Node 20.
 */
export const linkAbort = (parent: AbortSignal): { readonly signal: AbortSignal; readonly abort: () => void } => {
  const controller = new AbortController()
  // Each read adds a listener; Node.js warns about a leak at more than ten.
  setMaxListeners(0, controller.signal)
  const abort = (): void => {
    if (!parent.aborted) parent.removeEventListener('abort', abort)
    controller.abort(parent.aborted ? parent.reason : ENDED)
  }
  if (parent.aborted) abort()
  else parent.addEventListener('abort', abort)
  return { signal: controller.signal, abort }
}

export const waitForAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
  })

/** The next turn of the event loop, so that other work of the process can run. */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

const EVENT_LOOP_INTERVAL_MS = 500

/**
 * Observes how late a timer is, in seconds, until the signal aborts: the delay of the event loop of this process, by the
 * clock of the system also in a simulation.
 */
export const watchEventLoop = async (
  signal: AbortSignal,
  observe: (seconds: number) => void,
  clock: Clock = systemClock,
): Promise<void> => {
  while (!signal.aborted) {
    const due = clock.elapsed() + EVENT_LOOP_INTERVAL_MS
    await clock.sleep(EVENT_LOOP_INTERVAL_MS, signal)
    if (!signal.aborted) observe(Math.max(0, clock.elapsed() - due) / second)
  }
}

/** Whether `work` ends within this time; if it fails, throws its error. */
export const endsWithin = async (clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> => {
  const done = new AbortController()
  try {
    return await Promise.race([work.then(() => true), clock.sleep(ms, done.signal).then(() => false)])
  } finally {
    done.abort(ENDED)
  }
}

/** Aborts `read` at the deadline and stops waiting then, even if `read` ignores its signal. */
export const withDeadline = async <T>(
  { clock, signal: parent }: Context,
  timeout: number,
  read: (context: Context) => Promise<T>,
): Promise<T> => {
  const { signal, abort } = linkAbort(parent)
  let hasEnded = false
  const late = clock.sleep(timeout, signal).then(async (): Promise<never> => {
    // The race is decided: an error with its stack for each read would cost more than the read.
    if (hasEnded) return new Promise<never>(() => undefined)
    // If the parent aborts, the error of `read` comes first.
    if (signal.aborted) await nextTurn()
    throw new SourceError(
      { doing: 'get a response in time', happened: `none within ${renderDuration(timeout)}` },
      { timeout: true },
    )
  })
  try {
    return await Promise.race([read({ clock, signal }), late])
  } finally {
    hasEnded = true
    abort()
    // The result of the loser is ignored; its rejection must not end the process.
    late.catch(() => undefined)
  }
}

/** The wait after a number of failures: doubled after each, up to the longest. */
export const backoff = (failures: number, first: number, longest: number): number =>
  Math.min(first * 2 ** (failures - 1), longest)
