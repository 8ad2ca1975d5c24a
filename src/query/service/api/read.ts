import { isObject, join, type JsonObject } from './json.ts'
import { Refusal } from './refusal.ts'

/** A value of the body, and where it is. */
export interface Place {
  readonly value: unknown
  readonly path: string
}

const SHOWN = 60

/** What came, cut short: never a whole body back. */
const shown = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

export const bad = ({ value, path }: Place, expected: string): Refusal =>
  new Refusal('bad_value', `expected ${expected}, came ${shown(value)}`, { path })

export const member = (object: JsonObject, key: string, path = ''): Place => ({
  value: object[key],
  path: join(path, key),
})

export const readInteger = (place: Place): number => {
  const { value } = place
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw bad(place, 'a whole number from 0 to 2^53-1')
  // JSON has a -0.
  return value + 0
}

/** Null is as good as absent. */
export const readOptionalInteger = (place: Place): number | null =>
  (place.value ?? null) === null ? null : readInteger(place)

/** Absent is empty. Only so many are looked at: a body has room for more than anybody may ask for. */
export const readList = (place: Place, most = Infinity): readonly Place[] => {
  const { value, path } = place
  if (value === undefined) return []
  if (!Array.isArray(value)) throw bad(place, 'a list')
  const entries: readonly unknown[] = value
  return entries.slice(0, most).map((entry, index) => ({ value: entry, path: join(path, index) }))
}

/** An object with no other keys than these. */
export const readObject = (place: Place, keys: readonly string[]): JsonObject => {
  const { value, path } = place
  if (!isObject(value)) throw bad(place, 'an object')
  const other = Object.keys(value).find((key) => !keys.includes(key))
  if (other === undefined) return value
  const name = other.length > SHOWN ? `${other.slice(0, SHOWN)}…` : other
  throw new Refusal('unknown_field', `no such field; there are: ${keys.join(', ')}`, {
    path: join(path, name),
  })
}

/** Names out of a selection, each once. */
export const readNames = <Name extends string>(
  place: Place,
  names: readonly Name[],
): ReadonlySet<Name> =>
  new Set(
    readList(place).map((entry) => {
      const name = names.find((one) => one === entry.value)
      if (name === undefined) throw bad(entry, `one of ${names.join(', ')}`)
      return name
    }),
  )
