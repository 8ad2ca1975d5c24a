import { setImmediate } from 'node:timers/promises'
import { ParseError } from './errors.ts'
import { LIMITS } from './limits.ts'
import { sanitize } from './redaction/redact.ts'

/**
 * Converts a value to JSON types: maps to objects, 64-bit integers to decimal strings, unknown to null. Texts and keys
 * are sanitized: a terminal that prints the JSON must not interpret what another program wrote.
 */
export const toJson = (value: unknown): unknown => convert(value, (leaf) => leaf)

/** The keys of timestamps, which the agent keeps in milliseconds since the epoch. */
const MOMENT = /^at$|At$/
/** The range of Date. */
const MAX_MS = 8.64e15

/** The same for the API: timestamps are RFC 3339; a timestamp out of range is null. */
export const toApiJson = (value: unknown): unknown =>
  convert(value, (leaf, key) => {
    if (typeof leaf !== 'number' || !MOMENT.test(key)) return leaf
    return Math.abs(leaf) <= MAX_MS ? new Date(leaf).toISOString() : null
  })

/** `key` is the key that holds the leaf. */
type ConvertLeaf = (leaf: unknown, key: string) => unknown

const convert = (value: unknown, leafOf: ConvertLeaf, key = ''): unknown => {
  if (value === undefined) return null
  if (typeof value === 'bigint') return value.toString()
  // Only the message: an error also carries the complete output of a tool, which is for parsers only.
  if (value instanceof Error) return sanitize(value.message)
  if (typeof value === 'string') return sanitize(value)
  if (value instanceof Map) {
    // The keys of a map are data, so its entries are converted by the key of the map.
    return Object.fromEntries([...value].map(([name, entry]) => [sanitize(String(name)), convert(entry, leafOf, key)]))
  }
  if (Array.isArray(value)) return value.map((entry) => convert(entry, leafOf, key))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [sanitize(name), convert(entry, leafOf, name)]),
    )
  }
  return leafOf(value, key)
}

/** What JSON may have before it is parsed. */
export interface JsonLimits {
  /** Levels of lists and objects. Each level takes fifty times its size in memory. */
  readonly depth: number
  /** Opening brackets and commas: at least the number of values. An empty object takes 60 bytes of memory. */
  readonly values: number
}

/** JSON as unknown data. Throws a ParseError naming `what` it was. */
export const parseJson = (what: string, text: string, limits: JsonLimits = LIMITS.json): unknown => {
  const value = tryJson(text, limits)
  if (value !== undefined) return value
  const exceeded = exceededLimit(text, limits)
  const most = { depth: `JSON of at most ${limits.depth} levels`, values: `JSON of at most ${limits.values} values` }
  throw new ParseError(what, exceeded === undefined ? 'JSON' : most[exceeded], text)
}

/** JSON can contain a negative zero; no format uses it. */
export const withoutMinus = (value: number): number => value + 0

/** Whether the value is a JSON object. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON as unknown data; undefined for a text that is not JSON, or exceeds a limit. */
export const tryJson = (text: string, limits: JsonLimits = LIMITS.json): unknown => {
  if (exceededLimit(text, limits) !== undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The limit that JSON exceeds. Ends at the first value too many and keeps nothing. Takes a fifth of the time of
 * JSON.parse, because strings are skipped by `indexOf`.
 */
export const exceededLimit = (text: string, limits: JsonLimits): keyof JsonLimits | undefined => {
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      if (at < 0) return undefined
    } else if (code === BRACKET || code === BRACE) {
      depth += 1
      values += 1
      if (depth > limits.depth) return 'depth'
      if (values > limits.values) return 'values'
      // The closing characters are two after the opening ones.
    } else if (code === BRACKET + 2 || code === BRACE + 2) depth -= 1
    else if (code === COMMA) {
      values += 1
      if (values > limits.values) return 'values'
    }
  }
  return undefined
}

/** Characters that JSON.parse takes at once in `parseInSteps`: 25 ms if each object has other keys. */
const STEP_LENGTH = 256 * 1024
/** Members of an object that is longer than a step. */
const MAX_LARGE_MEMBERS = 1000

/**
 * The same as `tryJson`, for a text whose parse would block the event loop: the entries of long lists and objects are
 * parsed in steps, and other work is done between them. A parse in a worker thread blocks longer, because its result has
 * to be cloned.
 */
export const parseInSteps = async (text: string, limits: JsonLimits, length = STEP_LENGTH): Promise<unknown> => {
  if (text.length <= length) return tryJson(text, limits)
  if (exceededLimit(text, limits) !== undefined) return undefined
  const steps = stepsOf({ text, length }, 0)
  try {
    for (;;) {
      const { done, value } = steps.next()
      if (done) return text.slice(value.end).trim() === '' ? value.value : undefined
      await setImmediate()
    }
  } catch {
    return undefined
  }
}

interface Steps {
  readonly text: string
  /** The most characters that one step parses, unless they are one string. */
  readonly length: number
}

/** Parses the value at this position in steps. Returns it and the position after it; throws if it is not JSON. */
function* stepsOf({ text, length }: Steps, from: number): Generator<undefined, { value: unknown; end: number }> {
  const begin = afterSpace(text, from)
  const end = endOfValue(text, begin)
  const code = text.charCodeAt(begin)
  if (end - begin <= length || (code !== BRACKET && code !== BRACE)) {
    yield
    return { value: JSON.parse(text.slice(begin, end)), end }
  }
  const members: [string, unknown][] = []
  const entries: unknown[] = []
  /** The first entry that is not parsed yet: shorter entries of a list are parsed together. */
  let start = begin + 1
  const parseEntries = (stop: number): void => {
    const some: unknown = JSON.parse(`[${text.slice(start, stop)}]`)
    if (Array.isArray(some)) for (const entry of some) entries.push(entry)
    start = stop + 1
  }
  for (let at = start; ;) {
    const stop = endOfValue(text, at)
    const isLast = text.charCodeAt(stop) === code + 2
    const first = afterSpace(text, at)
    if (!isLast && text.charCodeAt(stop) !== COMMA) throw new SyntaxError('a list or object is not closed')
    if (first === stop) {
      if (!isLast || at > begin + 1) throw new SyntaxError('there is no value')
    } else if (code === BRACE || stop - at > length) {
      if (start < at) parseEntries(at - 1)
      const colon = code === BRACE ? afterSpace(text, endOfString(text, first) + 1) : at - 1
      const value = yield* stepsOf({ text, length }, colon + 1)
      if (afterSpace(text, value.end) !== stop) throw new SyntaxError('a value is not separated')
      if (code === BRACKET) entries.push(value.value)
      else {
        const key: unknown = JSON.parse(text.slice(first, colon))
        const isMember = typeof key === 'string' && text.charCodeAt(colon) === COLON
        if (!isMember || members.length === MAX_LARGE_MEMBERS) throw new SyntaxError('not a member of an object')
        members.push([key, value.value])
      }
      start = stop + 1
    } else if (isLast || stop - start > length) {
      parseEntries(stop)
      yield
    }
    // fromEntries creates a property even for `__proto__`.
    if (isLast) return { value: code === BRACE ? Object.fromEntries(members) : entries, end: stop + 1 }
    at = stop + 1
  }
}

const afterSpace = (text: string, from: number): number => {
  let at = from
  while (SPACES.has(text.charCodeAt(at))) at += 1
  return at
}

const SPACES: ReadonlySet<number> = new Set([0x20, 0x0a, 0x0d, 0x09])

/** The position of the comma or the closing bracket after a value; the end of the text without one. */
const endOfValue = (text: string, from: number): number => {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      if (at < 0) return text.length
    } else if (code === BRACKET || code === BRACE) depth += 1
    else if (code === BRACKET + 2 || code === BRACE + 2) {
      if (depth === 0) return at
      depth -= 1
    } else if (code === COMMA && depth === 0) return at
  }
  return text.length
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET = 0x5b
const BRACE = 0x7b

/** The closing quote of the string that begins here; -1 without one. A quote after an odd number of backslashes is not. */
export const endOfString = (text: string, begin: number): number => {
  let end = text.indexOf('"', begin + 1)
  while (end >= 0 && text.charCodeAt(end - 1) === BACKSLASH) {
    let first = end - 1
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1
    if ((end - first) % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return end
}
