import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'

interface Patience {
  /** Milliseconds. */
  readonly within?: number
  readonly every?: number
}

/** A function, the value itself, or an expression that matches it. */
export type Condition<T> = ((seen: T) => boolean) | RegExp | string | number | boolean | undefined

const satisfies = <T>(condition: Condition<T>, seen: T): boolean => {
  if (typeof condition === 'function') return condition(seen)
  return condition instanceof RegExp ? condition.test(String(seen)) : Object.is(condition, seen)
}

/** What is looked at is not there yet. */
export class NotYetError extends Error {}

/** Of a connection, or of a file that does not exist yet. fetch has the reason as the cause of its error. */
const isNotYet = (error: unknown): boolean =>
  error instanceof NotYetError ||
  (error instanceof Error &&
    (error.name === 'TimeoutError' ||
      ('code' in error &&
        /^(?:E(?:CONN|HOSTUN|NETUN|PIPE|PROTO|TIMEDOUT)|UND_ERR|HPE_|ENOENT$)/.test(String(error.code))) ||
      isNotYet(error.cause)))

/**
 * Looks again and again until what it sees satisfies, and returns that. Where it never does, the failure shows what was
 * seen last: a value, or the error of a connection. Another error is thrown at once.
 */
export const eventually = async <T>(
  look: () => Promise<T> | T,
  condition: Condition<T>,
  { within = 300_000, every = 100 }: Patience = {},
): Promise<T> => {
  const deadline = Date.now() + within
  for (;;) {
    let last: () => string
    try {
      const seen = await look()
      if (satisfies(condition, seen)) return seen
      last = () => `last seen: ${inspect(seen)}`
    } catch (error) {
      if (!isNotYet(error)) throw error
      last = () => `looking threw: ${inspect(error)}`
    }
    if (Date.now() >= deadline) throw new Error(`waited ${within} ms in vain for: ${String(condition)}\n${last()}`)
    await delay(every)
  }
}
