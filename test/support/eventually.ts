import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'

interface Patience {
  /** Milliseconds. */
  readonly within?: number
  readonly every?: number
}

/** A function, the value itself, or an expression that matches it. */
type Condition<T> = ((seen: T) => boolean) | RegExp | string | number

const satisfies = <T>(condition: Condition<T>, seen: T): boolean => {
  if (typeof condition === 'function') return condition(seen)
  return condition instanceof RegExp ? condition.test(String(seen)) : Object.is(condition, seen)
}

/**
 * Looks again and again until what it sees satisfies, and returns that. Where it never does, the failure shows what was
 * seen last: a value, or what looking threw.
 */
export const eventually = async <T>(
  look: () => Promise<T> | T,
  condition: Condition<T>,
  { within = 300_000, every = 100 }: Patience = {},
): Promise<T> => {
  const deadline = Date.now() + within
  for (;;) {
    const last = await glance(look)
    if ('seen' in last && satisfies(condition, last.seen)) return last.seen
    if (Date.now() >= deadline) throw new Error(complaint(condition, last, within))
    await delay(every)
  }
}

type Glance<T> = { readonly seen: T } | { readonly thrown: unknown }

const glance = async <T>(look: () => Promise<T> | T): Promise<Glance<T>> => {
  try {
    return { seen: await look() }
  } catch (thrown) {
    return { thrown }
  }
}

const complaint = (condition: unknown, last: Glance<unknown>, within: number): string =>
  [
    `waited ${within} ms in vain for: ${String(condition)}`,
    'seen' in last ? `last seen: ${inspect(last.seen)}` : `looking threw: ${inspect(last.thrown)}`,
  ].join('\n')
