import type { Filter } from '../store.ts'
import { blobOf, integerOf } from './literals.ts'
import { MASKED_FILTERS, maskedBy } from './masks.ts'

/** Fewer values the engine compares one by one; for more it makes a table, of some megabytes. */
const LONG = 5
/** With more tables than these, those of masks are faster, and need no more memory than one a column. */
const FEW_TABLES = 8
/** So many constants are told twice where filters are compared one by one, which takes longer than the look itself. */
const FEW_VALUES = 200

/** Where rows have to be put in order, which takes memory, so many fewer are looked at together. */
const SORTED = 10

export interface Wanted {
  /** `FROM logs WHERE …`, in order: logs of these blocks that one of the filters keeps. */
  readonly logs: (from: number, to: number) => string
  /** What a look at a row costs, as a multiple of the least. */
  readonly effort: number
}

export const wantedBy = (filters: readonly Filter[]): Wanted => {
  // No log has a fifth topic.
  const possible = filters.filter(({ topics }) => (topics[4]?.length ?? 0) === 0)
  const masked = isManyTables(possible)
  const { joins, condition } = masked ? maskedBy(possible) : comparedWith(possible)
  // The engine joins rows with the table of a long list, and then they come in any order.
  const sorted = hasTable(possible)
  return {
    logs: (from, to) =>
      `FROM logs ${joins} WHERE block BETWEEN ${integerOf(from)} AND ${integerOf(to)} AND ${condition}${sorted ? ' ORDER BY block, log_index' : ''}`,
    effort: (masked ? 1 : Math.max(1, possible.length)) * (sorted ? SORTED : 1),
  }
}

/** Also by the values of several filters together. */
const hasTable = (filters: readonly Filter[]): boolean =>
  [0, 1, 2, 3, 4].some(
    (column) =>
      filters
        .map(({ addresses, topics }) => [addresses, ...topics][column]?.length ?? 0)
        .reduce((sum, length) => sum + length, 0) >= LONG,
  )

const isManyTables = (filters: readonly Filter[]): boolean => {
  const lists = filters.flatMap(({ addresses, topics }) => [addresses, ...topics])
  const tables = lists.filter(({ length }) => length >= LONG).length
  return (
    filters.length > 1 &&
    filters.length <= MASKED_FILTERS &&
    (tables > FEW_TABLES || lists.flat().length > FEW_VALUES)
  )
}

const comparedWith = (filters: readonly Filter[]) => {
  const alternatives = filters.map(alternativeOf)
  return { joins: '', condition: conditionOf(filters, alternatives) }
}

const conditionOf = (filters: readonly Filter[], alternatives: readonly string[]): string => {
  if (alternatives.length === 0) return 'false'
  if (alternatives.includes('')) return 'true'
  const any = `(${alternatives.join(' OR ')})`
  return filters.length > 1 ? [...needed(filters), any].join(' AND ') : any
}

/** What every alternative asks for in the same column, all values together: one look at a row instead of a hundred. */
const needed = (filters: readonly Filter[]): readonly string[] => {
  const together = (column: string, lists: readonly (readonly string[])[]): string =>
    lists.some(({ length }) => length === 0) ? '' : oneOf(column, [...new Set(lists.flat())])
  return [
    together(
      'address',
      filters.map(({ addresses }) => addresses),
    ),
    ...[0, 1, 2, 3].map((position) =>
      together(
        `topic${position}`,
        filters.map(({ topics }) => topics[position] ?? []),
      ),
    ),
  ].filter((condition) => condition !== '')
}

/** Empty: any log. */
const alternativeOf = ({ addresses, topics }: Filter): string => {
  const conditions = [
    oneOf('address', addresses),
    ...topics.map((values, position) => oneOf(`topic${position}`, values)),
  ].filter((condition) => condition !== '')
  return conditions.length > 1 ? `(${conditions.join(' AND ')})` : (conditions[0] ?? '')
}

const oneOf = (column: string, values: readonly string[]): string => {
  const [first, ...others] = values.map(blobOf)
  if (first === undefined) return ''
  return others.length === 0
    ? `${column} = ${first}`
    : `${column} IN (${[first, ...others].join(', ')})`
}
