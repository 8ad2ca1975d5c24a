import { ParseError } from './errors.ts'

/** A value in JSON's own types: maps as objects, 64-bit integers as decimal strings, unknown as null. */
export const toJson = (value: unknown): unknown => convert(value, (leaf) => leaf)

/** The keys of moments, which the agent keeps in milliseconds since the epoch. */
const MOMENT = /^at$|At$/
/** The range of Date. */
const MAX_MS = 8.64e15

/** The same for the API: moments are RFC 3339; one that no calendar has is unknown. */
export const toApiJson = (value: unknown): unknown =>
  convert(value, (leaf, key) => {
    if (typeof leaf !== 'number' || !MOMENT.test(key)) return leaf
    return Math.abs(leaf) <= MAX_MS ? new Date(leaf).toISOString() : null
  })

/** By the key that holds it. */
type ConvertLeaf = (leaf: unknown, key: string) => unknown

const convert = (value: unknown, leafOf: ConvertLeaf, key = ''): unknown => {
  if (value === undefined) return null
  if (typeof value === 'bigint') return value.toString()
  // An error carries, beside its words, all that a tool printed: for a parser, and for nobody else.
  if (value instanceof Error) return value.message
  if (value instanceof Map) {
    // The keys of a map are data: its entries are what the map is called.
    return Object.fromEntries(
      [...value].map(([name, entry]) => [String(name), convert(entry, leafOf, key)]),
    )
  }
  if (Array.isArray(value)) return value.map((entry) => convert(entry, leafOf, key))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [name, convert(entry, leafOf, name)]),
    )
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

/** JSON as unknown data; undefined for a text that is not JSON. */
export const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
