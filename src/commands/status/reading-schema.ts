import { z } from 'zod'
import { timestamp as timestampOfReading } from '../../health/snapshot.ts'

/**
 * Schemas that accept anything, since the agent may have another version than this command: a missing value or a value
 * of another type is null, that is, unknown.
 */
export const nullableText = z.string().nullable().catch(null)
export const nullableNumber = z.number().nullable().catch(null)
/** A time in RFC 3339, as milliseconds since the epoch. */
export const timestamp = timestampOfReading.nullable().catch(null)
export const nullableFlag = z.boolean().nullable().catch(null)

/** A 64-bit integer as decimal digits; a string in JSON. */
export const nullableInteger = z
  .union([z.string().regex(/^-?\d+$/), z.int().transform(String)])
  .nullable()
  .catch(null)

/** An object; anything else is an object whose fields are all unknown. */
export const lenientObject = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z.preprocess((value) => (isObject(value) ? value : {}), z.object(fields))

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object; anything else is null. */
export const objectOrNull = <Fields extends z.ZodRawShape>(fields: Fields) => z.object(fields).nullable().catch(null)

/** A list; anything else is empty. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).catch([])

/** Values by name; anything else is empty. */
export const recordOf = <Item extends z.ZodType>(item: Item) => z.record(z.string(), item).catch({})
