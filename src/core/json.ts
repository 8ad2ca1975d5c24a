import { isAscii } from 'node:buffer'
import { nextTurn } from './clock.ts'
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
  const exceeded = exceededLimit(Buffer.from(text), limits)
  const most = { depth: `JSON of at most ${limits.depth} levels`, values: `JSON of at most ${limits.values} values` }
  throw new ParseError(what, exceeded === undefined ? 'JSON' : most[exceeded], text)
}

/** JSON can contain a negative zero; no format uses it. */
export const withoutMinus = (value: number): number => value + 0

/** Whether the value is a JSON object. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON as unknown data; undefined for a text that is not JSON, or exceeds a limit. */
export const tryJson = (json: string | Buffer, limits: JsonLimits = LIMITS.json): unknown => {
  if (!(typeof json === 'string' && isSmall(json, limits))) {
    if (exceededLimit(typeof json === 'string' ? Buffer.from(json) : json, limits) !== undefined) return undefined
  }
  try {
    return JSON.parse(json.toString())
  } catch {
    return undefined
  }
}

/** Whether the text is too short to exceed a limit: a line of a log, of which there are thousands a second. */
const isSmall = (text: string, { depth, values }: JsonLimits): boolean => {
  if (text.length >= values) return false
  let brackets = 0
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      brackets += 1
      if (brackets > depth) return false
    }
  }
  return true
}

/**
 * The limit that JSON exceeds. Ends at the first value too many and keeps nothing. Reads bytes: single characters of a long
 * text take several times as long.
 */
export const exceededLimit = (bytes: Uint8Array, limits: JsonLimits): keyof JsonLimits | undefined => {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes[at] ?? 0
    if (SIGNS[code] === 0) continue
    if (code === QUOTE) {
      at = endOfString(bytes, at)
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

/** Bytes that JSON.parse takes at once in `parseInSteps`: 25 ms if each object has other keys. */
const STEP_LENGTH = 256 * 1024
/** Members of an object that is longer than a step. */
const MAX_LARGE_MEMBERS = 1000

/**
 * The same as `tryJson`, for a text whose parse would block the event loop: the entries of long lists and objects are
 * parsed in steps, and other work is done between them. A parse in a worker thread blocks longer, because its result has
 * to be cloned.
 */
export const parseInSteps = async (bytes: Buffer, limits: JsonLimits, length = STEP_LENGTH): Promise<unknown> => {
  if (exceededLimit(bytes, limits) !== undefined) return undefined
  // Decoding ASCII as latin1 is three times as fast.
  const encoding = isAscii(bytes) ? 'latin1' : 'utf8'
  const steps = stepsOf({ bytes, length, encoding }, 0, bytes.length)
  try {
    for (;;) {
      const { done, value } = steps.next()
      if (done) return value
      await nextTurn()
    }
  } catch {
    return undefined
  }
}

interface Steps {
  readonly bytes: Buffer
  /** The most bytes that one step parses, unless they are one string. */
  readonly length: number
  readonly encoding: 'latin1' | 'utf8'
}

/** Parses the value between these positions in steps. Throws if it is not JSON. */
function* stepsOf(steps: Steps, from: number, end: number): Generator<undefined, unknown> {
  const { bytes, length, encoding } = steps
  const parse = (begin: number, stop: number, [open, close] = ['', '']): unknown =>
    JSON.parse(`${open}${bytes.toString(encoding, begin, stop)}${close}`)
  const begin = afterSpace(bytes, from)
  const code = bytes[begin]
  if (end - begin <= length || (code !== BRACKET && code !== BRACE)) {
    const value = parse(begin, end)
    yield
    return value
  }
  const members: [string, unknown][] = []
  const entries: unknown[] = []
  /** The first entry that is not parsed yet: shorter entries of a list are parsed together. */
  let start = begin + 1
  const parseEntries = (stop: number): void => {
    const some = parse(start, stop, ['[', ']'])
    if (Array.isArray(some)) for (const entry of some) entries.push(entry)
    start = stop + 1
  }
  for (let at = start; ;) {
    const stop = endOfValue(bytes, at)
    const isLast = bytes[stop] === code + 2
    const first = afterSpace(bytes, at)
    if (!isLast && bytes[stop] !== COMMA) throw new SyntaxError('a list or object is not closed')
    if (first === stop) {
      if (!isLast || at > begin + 1) throw new SyntaxError('there is no value')
    } else if (code === BRACE) {
      const colon = afterSpace(bytes, endOfString(bytes, first) + 1)
      const key = parse(first, colon)
      const isMember = typeof key === 'string' && bytes[colon] === COLON
      if (!isMember || members.length === MAX_LARGE_MEMBERS) throw new SyntaxError('not a member of an object')
      members.push([key, yield* stepsOf(steps, colon + 1, stop)])
    } else if (stop - at > length) {
      if (start < at) parseEntries(at - 1)
      entries.push(yield* stepsOf(steps, at, stop))
      start = stop + 1
    } else if (isLast || stop - start > length) {
      parseEntries(stop)
      yield
    }
    if (isLast) {
      if (afterSpace(bytes, stop + 1) < end) throw new SyntaxError('there is text after the value')
      // fromEntries creates a property even for `__proto__`.
      return code === BRACE ? Object.fromEntries(members) : entries
    }
    at = stop + 1
  }
}

const afterSpace = (bytes: Buffer, from: number): number => {
  let at = from
  while (SPACES.has(bytes[at] ?? 0)) at += 1
  return at
}

const SPACES: ReadonlySet<number> = new Set([0x20, 0x0a, 0x0d, 0x09])

/** The position of the comma or the closing bracket after a value; the end without one. */
const endOfValue = (bytes: Buffer, from: number): number => {
  let depth = 0
  for (let at = from; at < bytes.length; at += 1) {
    const code = bytes[at]
    if (code === QUOTE) {
      at = endOfString(bytes, at)
      if (at < 0) return bytes.length
    } else if (code === BRACKET || code === BRACE) depth += 1
    else if (code === BRACKET + 2 || code === BRACE + 2) {
      if (depth === 0) return at
      depth -= 1
    } else if (code === COMMA && depth === 0) return at
  }
  return bytes.length
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET = 0x5b
const BRACE = 0x7b

/** 1 for the characters that structure JSON. */
const SIGNS = new Uint8Array(256)
for (const sign of '"[]{},') SIGNS[sign.charCodeAt(0)] = 1

/** The closing quote of the string that begins here; -1 without one. */
export const endOfString = (bytes: Uint8Array, begin: number): number => {
  for (let at = begin + 1; at < bytes.length; at += 1) {
    const code = bytes[at]
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  return -1
}
