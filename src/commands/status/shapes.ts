import { z } from 'zod'
import { timestamp as timestampOfReading } from '../../health/snapshot.ts'

/**
 * Shapes that take anything, since an agent may be of another version than this command: what is
 * missing or is no value of its kind is null, and so unknown.
 */
export const word = z.string().nullable().catch(null)
export const amount = z.number().nullable().catch(null)
/** A moment in RFC 3339, as milliseconds since the epoch. */
export const timestamp = timestampOfReading.nullable().catch(null)
export const flag = z.boolean().nullable().catch(null)

/** A 64-bit integer: decimal digits, in JSON a text. */
export const digits = z
  .union([z.string().regex(/^-?\d+$/), z.int().transform(String)])
  .nullable()
  .catch(null)

/** An object; of what is none, every field is unknown. */
export const shape = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z.preprocess((value) => (isObject(value) ? value : {}), z.object(fields))

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether there is such an object at all: null where not. */
export const shapeOrNull = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z.object(fields).nullable().catch(null)

/** A list; what is none is empty. */
export const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).catch([])

/** Values by names; what is none has none. */
export const byName = <Item extends z.ZodType>(item: Item) => z.record(z.string(), item).catch({})
