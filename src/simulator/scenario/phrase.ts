import { constants } from 'node:os'
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

/** A word behind the verb: undefined where the text is not one. */
interface Argument<T> {
  readonly expected: string
  read(text: string): T | undefined
}

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

export const blocks: Argument<bigint> = {
  expected: 'a number of blocks, such as 120',
  read: (text) => (/^\d{1,7}$/.test(text) ? BigInt(text) : undefined),
}

export const exitCode: Argument<number> = {
  expected: 'an exit code from 0 to 255',
  read: (text) => (/^\d{1,3}$/.test(text) && Number(text) < 256 ? Number(text) : undefined),
}

export interface Signal {
  readonly number: number
  readonly dumpsCore: boolean
}

export const signal: Argument<Signal> = {
  expected: 'a signal, such as SIGABRT',
  read: (text) => {
    const known = Object.entries(constants.signals).find(([name]) => name === text)
    return known && { number: known[1], dumpsCore: DUMPING.has(text) }
  },
}

const DUMPING: ReadonlySet<string> = new Set(
  ['ABRT', 'BUS', 'FPE', 'ILL', 'QUIT', 'SEGV', 'SYS', 'TRAP'].map((name) => `SIG${name}`),
)
