import { ParseError } from './errors.ts'
import { LIMITS } from './limits.ts'

/** Converts a value to JSON types: maps to objects, 64-bit integers to decimal strings, unknown to null. */
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
  if (value instanceof Error) return value.message
  if (value instanceof Map) {
    // The keys of a map are data, so its entries are converted by the key of the map.
    return Object.fromEntries([...value].map(([name, entry]) => [String(name), convert(entry, leafOf, key)]))
  }
  if (Array.isArray(value)) return value.map((entry) => convert(entry, leafOf, key))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, convert(entry, leafOf, name)]))
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

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
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
