import type { Argument } from './arguments.ts'
import type { Condition } from './condition.ts'

/** What a line of a scenario does to the node, at its time. */
export type Effect = (condition: Condition, atMs: number) => Condition

/** One kind of line. */
export interface Phrase {
  readonly subject: string
  readonly verb: string
  /** What must follow the verb, in words; undefined where nothing may. */
  readonly argument: string | undefined
  readonly means: string
  /** Undefined where the argument is wrong. */
  read(argument: string): Effect | undefined
}

type Head = Pick<Phrase, 'subject' | 'verb' | 'means'>

export const phrase = <T>(
  head: Head,
  { expected, read }: Argument<T>,
  effect: (value: T) => Effect,
): Phrase => ({
  ...head,
  argument: expected,
  read: (text) => {
    const value = read(text)
    return value === undefined ? undefined : effect(value)
  },
})

export const bare = (head: Head, effect: Effect): Phrase => ({
  ...head,
  argument: undefined,
  read: () => effect,
})
