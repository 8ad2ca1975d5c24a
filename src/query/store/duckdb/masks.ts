import type { Filter } from '../store.ts'
import { blobOf } from './literals.ts'

/** A mask is a number of 128 bits, one of which is its sign. */
export const MASKED_FILTERS = 127

const COLUMNS = ['address', 'topic0', 'topic1', 'topic2', 'topic3'] as const

const valuesOf = ({ addresses, topics }: Filter, column: number): readonly string[] =>
  column === 0 ? addresses : (topics[column - 1] ?? [])

/** What is joined to the logs, and the condition that it makes possible. */
interface Masked {
  readonly joins: string
  readonly condition: string
}

/**
 * For filters with many long lists. Each list in a condition is a table of its own to the engine, and a hundred of them
 * are more than its memory; here each column has one, which tells of a value by bits which filters take it.
 * The logs that all columns leave a common bit are wanted. At most MASKED_FILTERS filters, with at most four topics.
 */
export const maskedBy = (filters: readonly Filter[]): Masked => {
  const joins: string[] = []
  const masks: string[] = []
  for (const [index, column] of COLUMNS.entries()) {
    const { any, masksOf } = masksIn(filters, index)
    if (masksOf.size === 0) continue
    const rows = [...masksOf].map(([value, mask]) => `(${blobOf(value)}, ${mask | any}::HUGEINT)`)
    const table = `${column}_masks`
    joins.push(
      `LEFT JOIN (VALUES ${rows.join(', ')}) ${table}(of, mask) ON ${column} = ${table}.of`,
    )
    masks.push(`coalesce(${table}.mask, ${any}::HUGEINT)`)
  }
  return {
    joins: joins.join(' '),
    condition: masks.length === 0 ? 'true' : `(${masks.join(' & ')}) <> 0`,
  }
}

/** Which filters take any value of this column, and which take each of the values that are named. */
const masksIn = (filters: readonly Filter[], column: number) => {
  let any = 0n
  const masksOf = new Map<string, bigint>()
  for (const [index, filter] of filters.entries()) {
    const bit = 1n << BigInt(index)
    const values = valuesOf(filter, column)
    if (values.length === 0) any |= bit
    for (const value of values) masksOf.set(value, (masksOf.get(value) ?? 0n) | bit)
  }
  return { any, masksOf }
}
