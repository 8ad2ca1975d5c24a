import { Script } from 'node:vm'
import { type Dice, diceOf } from '../support/store-cases.ts'
import { mutate, piece } from './mutate.ts'

/** A function that reads text from outside. */
export interface Target {
  readonly name: string
  /** Valid inputs. */
  readonly seeds: readonly string[]
  /** The value that leaves the parser. Throws only errors that `isExpected` accepts. */
  readonly run: (text: string) => unknown
  readonly isExpected: (error: unknown) => boolean
  /** Fields that may hold any double: samples of an exposition. */
  readonly doubles?: readonly string[]
  /** Whether integers are computed. Those of other parsers occur in the input with the same digits. */
  readonly derives?: boolean
}

export interface Finding {
  readonly target: string
  readonly problem: string
  readonly input: string
}

/** Why the value of a number, or an error, must not leave a parser; undefined if it may. */
export const problemOf = ({ run, isExpected, doubles, derives }: Target, input: string): string | undefined => {
  try {
    // Parsers of terminal output remove colours, also within a number. -06 is read as -6.
    const digits = derives === true ? null : input.replaceAll(ESCAPES, '').replaceAll(LEADING_ZEROS, '')
    return badValue(run(input), { input: digits, doubles: doubles ?? [] })
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    if (!isExpected(error))
      return `throws ${error instanceof Error ? error.name : typeof error}: ${message.slice(0, 50)}`
    if (message.length > MAX_MESSAGE) return 'an error message without a limit'
    return CONTROL.test(message) ? 'an error message with control characters' : undefined
  }
}

// oxlint-disable-next-line no-control-regex -- colours
const ESCAPES = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\([0AB])/g
const LEADING_ZEROS = /(?<!\d)0+(?=\d)/g
/** The configuration lists every problem. */
const MAX_MESSAGE = 64 * 1024
// oxlint-disable-next-line no-control-regex -- control characters are what it searches
const CONTROL = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/
const MAX_DEPTH = 100

interface Expectation {
  readonly input: string | null
  readonly doubles: readonly string[]
}

const badValue = (value: unknown, expected: Expectation, depth = 0): string | undefined => {
  if (typeof value === 'bigint') {
    const isRead = value === 0n || expected.input?.includes(String(value)) !== false
    return isRead ? undefined : 'an integer that is not in the input'
  }
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return 'NaN'
    if (!Number.isFinite(value)) return 'an infinite number'
    if (Object.is(value, -0)) return 'negative zero'
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? 'an integer beyond 2^53' : undefined
  }
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > MAX_DEPTH) return 'a value without a limit of its depth'
  const isCollection = value instanceof Map || value instanceof Set
  for (const [key, entry] of isCollection ? value.entries() : Object.entries(value)) {
    if (typeof key === 'string' && expected.doubles.includes(key)) continue
    const problem = badValue(entry, expected, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

interface Budget {
  readonly executions?: number
  readonly seconds?: number
}

export interface Result {
  readonly executions: number
  readonly seconds: number
  readonly findings: readonly Finding[]
}

/** An input that takes longer than this ends the batch and is a finding. */
const HANG_MS = 10_000
const BATCH = 500

/** Runs a parser on mutated inputs until the budget is used up. Each problem is reported once, minimised. */
export const fuzz = (target: Target, seed: number, { executions = Infinity, seconds = Infinity }: Budget): Result => {
  const dice = diceOf(seed)
  const findings = new Map<string, Finding>()
  const started = performance.now()
  const elapsed = (): number => (performance.now() - started) / 1000
  let count = 0
  let input = ''
  const batch = (): void => {
    for (let each = 0; each < BATCH && count < executions; each += 1) {
      input = mutate(dice, target.seeds)
      count += 1
      const problem = problemOf(target, input)
      if (problem !== undefined && !findings.has(problem)) {
        findings.set(problem, { target: target.name, problem, input: minimise(target, input, problem) })
      }
    }
  }
  while (count < executions && elapsed() < seconds) {
    if (isWithin(HANG_MS, batch)) continue
    findings.set('hang', { target: target.name, problem: `takes more than ${HANG_MS} ms`, input })
    break
  }
  return { executions: count, seconds: elapsed(), findings: [...findings.values()] }
}

const script = new Script('fuzzedBatch()')

/** Only a script can be interrupted by a timeout. */
const isWithin = (timeout: number, work: () => void): boolean => {
  Reflect.set(globalThis, 'fuzzedBatch', work)
  try {
    script.runInThisContext({ timeout })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false
    throw error
  }
}

/** Removes as much of the input as possible without losing the problem. */
const minimise = (target: Target, input: string, problem: string): string => {
  let left = input
  let tries = 2000
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < left.length && tries > 0;) {
      const shorter = left.slice(0, at) + left.slice(at + size)
      tries -= 1
      if (problemOf(target, shorter) === problem) left = shorter
      else at += size
    }
  }
  return left
}

/** A text of any size: the piece is repeated. */
export interface Repeated {
  readonly head: string
  readonly piece: string
  readonly tail: string
}

export interface Slowest {
  readonly repeated: Repeated
  /** CPU time for 64 KiB, and the factor for four times the input: 4 is linear. */
  readonly milliseconds: number
  readonly growth: number
}

const KIB = 1024

export const repeatedText = ({ head, piece: part, tail }: Repeated, size: number): string =>
  head + part.repeat(Math.max(1, Math.floor((size - head.length - tail.length) / Math.max(1, part.length)))) + tail

/** The CPU time of one execution in milliseconds. */
export const cpuTime = (target: Target, input: string): number => {
  const began = process.cpuUsage()
  problemOf(target, input)
  return process.cpuUsage(began).user / 1000
}

/** Searches an input of 64 KiB that takes long: a part of a seed, a repeated piece, another part. */
export const findSlowest = (
  target: Target,
  seed: number,
  { executions = Infinity, seconds = Infinity }: Budget,
): Slowest => {
  const dice = diceOf(seed)
  const started = performance.now()
  let best: Repeated = { head: '', piece: 'a', tail: '' }
  let record = 0
  const attempt = (): void => {
    const repeated = candidate(target, dice, best)
    const text = repeatedText(repeated, 64 * KIB)
    // Again, because another process may have been in the way.
    const time = (): number => cpuTime(target, text)
    const first = time()
    if (first <= record) return
    const milliseconds = Math.min(first, time(), time())
    if (milliseconds <= record) return
    record = milliseconds
    best = repeated
  }
  for (let count = 0; count < executions && (performance.now() - started) / 1000 < seconds; count += 1) {
    if (!isWithin(3 * HANG_MS, attempt)) break
  }
  const quarter = repeatedText(best, 16 * KIB)
  const small = Math.min(cpuTime(target, quarter), cpuTime(target, quarter), cpuTime(target, quarter))
  return { repeated: best, milliseconds: record, growth: record / Math.max(small, 0.1) }
}

const candidate = ({ seeds }: Target, dice: Dice, best: Repeated): Repeated => {
  const seed = seeds[dice(seeds.length)] ?? ''
  const at = dice(seed.length + 1)
  // Runs of one character, most often a space or a digit, make patterns backtrack.
  const one = ' 0a-"\\\n\t.,:=[{'.charAt(dice(14))
  const pieces = dice(3) === 0 ? one : Array.from({ length: 1 + dice(3) }, () => piece(dice, seeds)).join('') || ' '
  const fresh = {
    head: dice(4) === 0 ? '' : seed.slice(0, at),
    piece: pieces,
    tail: dice(2) === 0 ? '' : seed.slice(at),
  }
  switch (dice(6)) {
    case 0:
      return { ...best, piece: fresh.piece }
    case 1:
      return { ...best, head: fresh.head }
    case 2:
      return { ...best, tail: fresh.tail }
    default:
      return fresh
  }
}
