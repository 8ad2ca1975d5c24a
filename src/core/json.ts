/** A value in JSON's own types: maps as objects, 64-bit integers as decimal strings, unknown as null. */
export const toJson = (value: unknown): unknown => {
  if (value === undefined) return null
  if (typeof value === 'bigint') return value.toString()
  // An error carries, beside its words, all that a tool printed: for a parser, and for nobody else.
  if (value instanceof Error) return value.message
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, entry]) => [String(key), toJson(entry)]))
  }
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toJson(entry)]))
  }
  return value
}
