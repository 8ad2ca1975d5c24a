import { z } from 'zod'
import { isObject } from '../../core/json.ts'
import { recordFor } from '../../core/record.ts'

/**
 * Schemas of readings. They decode the JSON of the API to the types that the collectors use: times to milliseconds since
 * the epoch, decimal strings to 64-bit integers. The agent may have another version than the command that reads it: a
 * value that is missing or of another type is null, that is, unknown.
 */
export const orNull = {
  text: z.string().nullable().catch(null),
  number: z.number().nullable().catch(null),
  flag: z.boolean().nullable().catch(null),
  /** A 64-bit integer. */
  integer: z
    .union([z.string().regex(/^-?\d{1,20}$/), z.int()])
    .transform(BigInt)
    .nullable()
    .catch(null),
  /** An amount of up to 256 bits. */
  amount: z
    .union([z.string().regex(/^-?\d{1,78}$/), z.int()])
    .transform(BigInt)
    .nullable()
    .catch(null),
  /** A time in RFC 3339. */
  time: z.iso
    .datetime()
    .transform((text) => Date.parse(text))
    .nullable()
    .catch(null),
} as const

/** Fields of one type. */
export const each = <Name extends string, Item extends z.ZodType>(item: Item, ...names: readonly Name[]) =>
  recordFor(names, () => item)

/** An object; anything else is an object whose fields are all unknown. */
export const objectOf = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z.preprocess((value) => (isObject(value) ? value : {}), z.object(fields))

/** An object; anything else is null. */
export const objectOrNull = <Fields extends z.ZodRawShape>(fields: Fields) => z.object(fields).nullable().catch(null)

/** A list; anything else is empty. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).readonly().catch([])

/** Values by name; anything else is empty. */
export const recordOf = <Item extends z.ZodType>(item: Item) => z.record(z.string(), item).catch({})

/** The same as a map. */
export const mapOf = <Item extends z.ZodType>(item: Item) =>
  recordOf(item).transform((record): ReadonlyMap<string, z.output<Item>> => new Map(Object.entries(record)))
