import type { Filter } from '../store.ts'
import { blobLiteral, integerLiteral } from './sql.ts'

/** The engine compares fewer values one by one; for more it builds a table of several megabytes. */
const TABLE_VALUES = 5
/** With more tables than this, bit masks are faster and need no more memory than one table per column. */
const MAX_TABLES = 8
/**
 * With more values than this, comparing filters one by one is slow, since each constant occurs twice in the statement.
 */
const MAX_VALUES = 200

/** Sorting takes memory, so this many times fewer rows are read at once. */
const SORT_EFFORT = 10

export interface LogQuery {
  /** `FROM logs WHERE …`, ordered: the logs of these blocks that match one of the filters. */
  readonly logs: (from: number, to: number) => string
  /** Cost per row, as a multiple of the cheapest condition. */
  readonly effort: number
}

export const createLogQuery = (filters: readonly Filter[]): LogQuery => {
  // A log has at most four topics.
  const possible = filters.filter(({ topics }) => (topics[4]?.length ?? 0) === 0)
  const usesMasks = isManyTables(possible)
  const { joins, condition } = usesMasks ? createMaskCondition(possible) : createComparison(possible)
  // The engine joins a long list as a table, which loses the order of rows.
  const isSorted = hasTable(possible)
  return {
    logs: (from, to) =>
      `FROM logs ${joins} WHERE block BETWEEN ${integerLiteral(from)} AND ${integerLiteral(to)} AND ${condition}${isSorted ? ' ORDER BY block, log_index' : ''}`,
    effort: (usesMasks ? 1 : Math.max(1, possible.length)) * (isSorted ? SORT_EFFORT : 1),
  }
}

/** Also true for the values of several filters together. */
const hasTable = (filters: readonly Filter[]): boolean =>
  [0, 1, 2, 3, 4].some(
    (column) =>
      filters
        .map(({ addresses, topics }) => [addresses, ...topics][column]?.length ?? 0)
        .reduce((sum, length) => sum + length, 0) >= TABLE_VALUES,
  )

const isManyTables = (filters: readonly Filter[]): boolean => {
  const lists = filters.flatMap(({ addresses, topics }) => [addresses, ...topics])
  const tables = lists.filter(({ length }) => length >= TABLE_VALUES).length
  return (
    filters.length > 1 && filters.length <= MASKED_FILTERS && (tables > MAX_TABLES || lists.flat().length > MAX_VALUES)
  )
}

const createComparison = (filters: readonly Filter[]) => {
  const alternatives = filters.map(alternativeOf)
  return { joins: '', condition: conditionOf(filters, alternatives) }
}

const conditionOf = (filters: readonly Filter[], alternatives: readonly string[]): string => {
  if (alternatives.length === 0) return 'false'
  if (alternatives.includes('')) return 'true'
  const any = `(${alternatives.join(' OR ')})`
  return filters.length > 1 ? [...commonConditions(filters), any].join(' AND ') : any
}

/** A condition on the values that all alternatives accept in a column: one comparison per row instead of a hundred. */
const commonConditions = (filters: readonly Filter[]): readonly string[] => {
  const commonCondition = (column: string, lists: readonly (readonly string[])[]): string =>
    lists.some(({ length }) => length === 0) ? '' : oneOf(column, [...new Set(lists.flat())])
  return [
    commonCondition(
      'address',
      filters.map(({ addresses }) => addresses),
    ),
    ...[0, 1, 2, 3].map((position) =>
      commonCondition(
        `topic${position}`,
        filters.map(({ topics }) => topics[position] ?? []),
      ),
    ),
  ].filter((condition) => condition !== '')
}

/** Empty: matches any log. */
const alternativeOf = ({ addresses, topics }: Filter): string => {
  const conditions = [
    oneOf('address', addresses),
    ...topics.map((values, position) => oneOf(`topic${position}`, values)),
  ].filter((condition) => condition !== '')
  return conditions.length > 1 ? `(${conditions.join(' AND ')})` : (conditions[0] ?? '')
}

const oneOf = (column: string, values: readonly string[]): string => {
  const [first, ...others] = values.map(blobLiteral)
  if (first === undefined) return ''
  return others.length === 0 ? `${column} = ${first}` : `${column} IN (${[first, ...others].join(', ')})`
}

/** A mask has 128 bits, one of which is the sign. */
const MASKED_FILTERS = 127

const COLUMNS = ['address', 'topic0', 'topic1', 'topic2', 'topic3'] as const

const valuesOf = ({ addresses, topics }: Filter, column: number): readonly string[] =>
  column === 0 ? addresses : (topics[column - 1] ?? [])

/** The joins for the logs table, and the condition on them. */
interface MaskCondition {
  readonly joins: string
  readonly condition: string
}

/**
 * For filters with many long lists. The engine builds a table for each list in a condition, and a hundred of them
 * exceed its memory limit. Here each column has one table, which maps a value to the bit mask of the filters that
 * accept it. A log matches if the masks of all its columns have a common bit. At most MASKED_FILTERS filters, with at
 * most four topics.
 */
const createMaskCondition = (filters: readonly Filter[]): MaskCondition => {
  const joins: string[] = []
  const masks: string[] = []
  for (const [index, column] of COLUMNS.entries()) {
    const { any, masksOf } = masksIn(filters, index)
    if (masksOf.size === 0) continue
    const rows = [...masksOf].map(([value, mask]) => `(${blobLiteral(value)}, ${mask | any}::HUGEINT)`)
    const table = `${column}_masks`
    joins.push(`LEFT JOIN (VALUES ${rows.join(', ')}) ${table}(of, mask) ON ${column} = ${table}.of`)
    masks.push(`coalesce(${table}.mask, ${any}::HUGEINT)`)
  }
  return {
    joins: joins.join(' '),
    condition: masks.length === 0 ? 'true' : `(${masks.join(' & ')}) <> 0`,
  }
}

/** The filters that accept any value of this column, and those that accept each listed value. */
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
