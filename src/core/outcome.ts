import type { Clock } from './clock.ts'

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
    return { ok: false, error: asError(error), ...done() }
  }
}

/** JavaScript allows throwing any value; the rest of the code handles Errors only. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
