import type { Clock } from './clock.ts'

interface Attempt {
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number
  /** How long it took, in milliseconds; undefined for news of a stream, which has no beginning. */
  readonly took?: number
}

/** What one attempt to read something came to. Failures are data from here on. */
export type Outcome<T> = Attempt &
  ({ readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Error })

/** Runs `read` and turns whatever it throws into an outcome: the one place failures are caught. */
export const attempt = async <T>(clock: Clock, read: () => Promise<T>): Promise<Outcome<T>> => {
  const started = clock.elapsed()
  const done = () => ({ at: clock.now(), took: clock.elapsed() - started })
  try {
    return { ok: true, value: await read(), ...done() }
  } catch (error) {
    return { ok: false, error: asError(error), ...done() }
  }
}

/** JavaScript lets anything be thrown; everything after this line deals in errors. */
export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown))
