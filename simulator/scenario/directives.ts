import { constants } from 'node:os'
import { parseDuration } from '../../src/core/units.ts'
import type { Condition, Effect } from './timeline.ts'

/** Sets values of the condition. */
export const set =
  (change: Partial<Condition>): Effect =>
  (condition) => ({ ...condition, ...change })

type Part = { [Name in keyof Condition]: Condition[Name] extends object ? Name : never }[keyof Condition]

/** Sets values of one part of the condition, which may depend on its values before and on the time. */
export const setIn =
  <K extends Part>(part: K) =>
  (change: Partial<Condition[K]> | ((before: Condition[K], atMs: number) => Partial<Condition[K]>)): Effect =>
  (condition, atMs) => ({
    ...condition,
    [part]: { ...condition[part], ...(typeof change === 'function' ? change(condition[part], atMs) : change) },
  })

/** One kind of line in a scenario. */
export interface Directive {
  readonly subject: string
  readonly verb: string
  /** Description of the argument; undefined if there is none. */
  readonly argument: string | undefined
  readonly meaning: string
  /** Undefined if the argument is invalid. */
  read(argument: string): Effect | undefined
}

type Read = Pick<Directive, 'argument' | 'read'>

/** By subject and verb, in this order. */
export const directiveTable = (
  rows: Readonly<Record<string, readonly [meaning: string, effect: Effect | Read]>>,
): readonly Directive[] =>
  Object.entries(rows).map(([name, [meaning, effect]]) => {
    const [subject = '', verb = ''] = name.split(' ')
    return { subject, verb, meaning, ...('read' in effect ? effect : { argument: undefined, read: () => effect }) }
  })

/** The effect of a directive with an argument. */
export const taking = <T>({ expected, read }: Argument<T>, effect: (value: T) => Effect): Read => ({
  argument: expected,
  read: (text) => {
    const value = read(text)
    return value === undefined ? undefined : effect(value)
  },
})

/** The effect of a directive whose argument is a value of one part of the condition. */
export const settingOf = <K extends Part, Name extends keyof Condition[K]>(
  part: K,
  name: Name,
  argument: Argument<Condition[K][Name]>,
): Read => taking(argument, (value) => (condition) => ({ ...condition, [part]: { ...condition[part], [name]: value } }))

/** Parses what follows the verb; undefined if the text is invalid. */
export interface Argument<T> {
  readonly expected: string
  read(text: string): T | undefined
}

export const wholeNumber = (
  expected: string,
  { from, to }: { readonly from: number; readonly to: number },
): Argument<number> => ({
  expected,
  read: (text) => {
    const number = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
    return number >= from && number <= to ? number : undefined
  },
})

export const blocks: Argument<bigint> = {
  expected: 'a number of blocks, such as 120',
  read: (text) => (/^\d{1,7}$/.test(text) ? BigInt(text) : undefined),
}

export const exitCode = wholeNumber('an exit code from 0 to 255', { from: 0, to: 255 })
export const percent = wholeNumber('a percentage from 0 to 100', { from: 0, to: 100 })
export const peerCount = wholeNumber('a number of peers up to 1000', { from: 0, to: 1000 })
export const basisPoints = wholeNumber('basis points, from 0 to 10000', { from: 0, to: 10_000 })
export const linesPerBlock = wholeNumber('a number of lines up to 100', { from: 0, to: 100 })
export const linesPerSecond = wholeNumber('a number of lines from 1 to 10000', { from: 1, to: 10_000 })

const DAY_MS = 86_400_000

export const duration: Argument<number> = {
  expected: 'a duration such as 3m',
  read: (text) => {
    const ms = parseDuration(text)
    return ms !== undefined && Number.isInteger(ms) && ms > 0 && ms <= DAY_MS ? ms : undefined
  },
}

export const oneOf = <const T extends string>(words: readonly T[]): Argument<T> => ({
  expected: `one of ${words.join(', ')}`,
  read: (text) => words.find((word) => word === text),
})

/** A number that changes linearly. */
export interface Course {
  readonly fromMs: number
  readonly overMs: number
  readonly from: number
  readonly to: number
}

type Goal = Pick<Course, 'to' | 'overMs'>

export const steady = (value: number): Course => ({ fromMs: 0, overMs: 0, from: value, to: value })

export const numberAt = ({ fromMs, overMs, from, to }: Course, ms: number): number =>
  ms >= fromMs + overMs ? to : from + (to - from) * Math.max(0, (ms - fromMs) / overMs)

export const courseTo = (goal: Goal, before: Course, atMs: number): Course => ({
  ...goal,
  fromMs: atMs,
  from: numberAt(before, atMs),
})

/** A whole number with its unit, and the time in which it is reached. */
export const goalInTime = (expected: string, unit: string, most: number): Argument<Goal> => ({
  expected,
  read: (text) => {
    const [, amount = '', time = ''] = new RegExp(`^(\\d{1,5})${unit} in (\\S+)$`).exec(text) ?? []
    const overMs = duration.read(time)
    return overMs === undefined || Number(amount) > most ? undefined : { to: Number(amount), overMs }
  },
})

export const signal: Argument<{ readonly number: number; readonly dumpsCore: boolean }> = {
  expected: 'a signal, such as SIGABRT',
  read: (text) => {
    const known = Object.entries(constants.signals).find(([name]) => name === text)
    return known && { number: known[1], dumpsCore: DUMPING.has(text) }
  },
}

const DUMPING: ReadonlySet<string> = new Set(
  ['ABRT', 'BUS', 'FPE', 'ILL', 'QUIT', 'SEGV', 'SYS', 'TRAP'].map((name) => `SIG${name}`),
)
