import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'

interface Patience {
  /** Milliseconds. */
  readonly within?: number
  readonly every?: number
}

/**
 * Looks again and again until what it sees satisfies, and returns that. Where it never does, the failure shows what was
 * seen last: a value, or what looking threw.
 */
export const eventually = async <T>(
  look: () => Promise<T> | T,
  satisfies: (seen: T) => boolean,
  { within = 300_000, every = 100 }: Patience = {},
): Promise<T> => {
  const deadline = Date.now() + within
  for (;;) {
    const last = await glance(look)
    if ('seen' in last && satisfies(last.seen)) return last.seen
    if (Date.now() >= deadline) throw new Error(complaint(satisfies, last, within))
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
