import { ParseError } from './errors.ts'

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

/** JSON as unknown data. Throws a ParseError naming `what` it was. */
export const parseJson = (what: string, text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    throw new ParseError(what, 'JSON', text)
  }
}

/** Whether the value is a JSON object. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON as unknown data; undefined for a text that is not JSON. */
export const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
