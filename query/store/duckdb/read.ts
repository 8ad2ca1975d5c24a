import type { DuckDBConnection } from '@duckdb/node-api'
import type { Clock } from '../../../src/core/clock.ts'
import { abortedRead, emptyStore, prunedBlocks } from '../errors.ts'
import { readInBatches, storedFields, withBlockFields } from '../columns.ts'
import type { Filter, LogPage, Selection, StoredHeader } from '../store.ts'
import { type BlockSpan, readContents, readReplaced } from './database.ts'
import { blobLiteral, type DuckDb, integerLiteral, queryRows } from './engine.ts'
import { createLayout, createPage, type Page } from './page.ts'

/** Logs in the first slice, approximately. Later slices are sized to take this many milliseconds. */
const FIRST_SLICE = 2_000_000
const SLICE_TIME = 250
/**
 * A result with fewer rows is fetched at once, which uses all threads. A larger one is streamed, since the page may end
 * within it.
 */
const FEW_ROWS = 5000
/** Largest number of blocks in a page: block numbers relative to the first have 32 bits. */
const LONGEST_PAGE = 2 ** 32 - 1

interface Reader {
  readonly duckdb: DuckDb
  readonly connection: DuckDBConnection
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Reads within the open transaction, so that the returned range matches the rows. The engine reports no progress while it
 * finds no match, so the range is read in slices: a page of dense matches ends within the first slice, sparse ones need a
 * few large slices.
 */
export const readLogs = async (reader: Reader, selection: Selection): Promise<LogPage> => {
  const { connection, clock } = reader
  const { from, filters, maxMs } = selection
  const contents = await readContents(connection)
  if (contents === null) throw emptyStore()
  const { first, last, lastHash } = contents
  if (from < first) throw prunedBlocks(first)
  const to = Math.min(selection.to, last, from + LONGEST_PAGE)
  const layout = createLayout(storedFields(selection), from)
  const { logs, effort } = createLogQuery(filters)
  const page = createPage(reader.duckdb, { selection, layout, base: from })
  // Their rows are not in order.
  const replaced = await readReplaced(connection)
  const startedAt = clock.elapsed()
  const isLate = (): boolean => clock.elapsed() - startedAt >= maxMs
  const perBlock = Math.max(1, contents.logs) / (last - first + 1)
  let size = Math.max(1, Math.floor(FIRST_SLICE / perBlock / effort))
  /** The first block that is not covered. */
  let next = from
  for (let isOver = false; next <= to && !isOver;) {
    const start = next
    // A slice is within one of the replaced ranges, or between them.
    const range = replaced.find((one) => one.last >= start)
    const isSorted = range !== undefined && range.first <= start
    const bound = range === undefined ? to : Math.min(to, isSorted ? range.last : range.first - 1)
    const wanted = Math.ceil(isSorted ? size / SORT_EFFORT : size)
    const end = Math.min(bound, start + wanted - 1)
    const sliceStartedAt = clock.elapsed()
    const isComplete = await readSlice(reader, page, {
      sql: `SELECT ${layout.sql.join(', ')} ${logs({ first: start, last: end }, isSorted)}`,
      isSmall: start > from && (page.blocks.length / (start - from)) * (end - start + 1) < FEW_ROWS,
      isLate,
    })
    const isFull = !isComplete || page.isFull()
    next = ((isFull ? page.blocks.at(-1) : undefined) ?? end) + 1
    isOver = isFull || isLate()
    // A slice that ends at a bound proves nothing about a longer one.
    if (end - start + 1 < wanted) continue
    const took = clock.elapsed() - sliceStartedAt
    size = Math.ceil(size * Math.min(8, Math.max(1, SLICE_TIME / Math.max(1, took))))
  }
  const { blocks, columns } = page
  const read = { count: blocks.length, blocks, columns, next, range: { first, last, lastHash } }
  return withBlockFields(read, selection, (numbers) => readHeads(connection, numbers))
}

/** False if the page ended within the slice. */
const readSlice = async (
  { connection, signal }: Reader,
  page: Page,
  { sql, isSmall, isLate }: { readonly sql: string; readonly isSmall: boolean; readonly isLate: () => boolean },
): Promise<boolean> => {
  const result = isSmall ? await connection.run(sql) : await connection.stream(sql)
  for (;;) {
    if (signal.aborted) throw abortedRead()
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return true
    if (!page.take(chunk)) return false
    if (isLate()) page.end()
  }
}

/** Block numbers per statement. */
const BATCH = 10_000

/** The headers of those blocks that are stored, ordered by number. */
export const readHeads = (connection: DuckDBConnection, numbers: readonly number[]) =>
  readInBatches(numbers, BATCH, (wanted) => readBatch(connection, wanted))

const readBatch = async (connection: DuckDBConnection, wanted: readonly number[]): Promise<readonly StoredHeader[]> => {
  const [first = 0, last = first] = [wanted[0], wanted.at(-1)]
  // For numbers that are close together, reading all of them costs less than looking up each.
  const close = last - first < 4 * wanted.length
  const rows = await queryRows(
    connection,
    `SELECT number, hash, parent_hash, timestamp, kept FROM blocks
      WHERE number BETWEEN ${first} AND ${last}${close ? '' : ` AND number IN (${wanted.join(', ')})`}
      ORDER BY number`,
  )
  const set = new Set(wanted)
  return rows
    .map(([number, hash, parentHash, timestamp, kept]) => ({
      number: Number(number),
      hash: String(hash),
      parentHash: String(parentHash),
      timestamp: Number(timestamp),
      kept: Number(kept),
    }))
    .filter(({ number }) => set.has(number))
}

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

interface LogQuery {
  /** `FROM logs WHERE …`, ordered: the logs of these blocks that match one of the filters. */
  readonly logs: (span: BlockSpan, isSorted: boolean) => string
  /** Cost per row, as a multiple of the cheapest condition. */
  readonly effort: number
}

const createLogQuery = (filters: readonly Filter[]): LogQuery => {
  // A log has at most four topics.
  const possible = filters.filter(({ topics }) => (topics[4]?.length ?? 0) === 0)
  const usesMasks = isManyTables(possible)
  const { joins, condition } = usesMasks
    ? createMaskCondition(possible)
    : { joins: '', condition: createComparison(possible) }
  // The engine joins a long list as a table, which loses the order of rows.
  const isUnordered = hasTable(possible)
  return {
    logs: ({ first, last }, isSorted) =>
      `FROM logs ${joins} WHERE block BETWEEN ${integerLiteral(first)} AND ${integerLiteral(last)} AND ${condition}${isSorted || isUnordered ? ' ORDER BY block, log_index' : ''}`,
    effort: (usesMasks ? 1 : Math.max(1, possible.length)) * (isUnordered ? SORT_EFFORT : 1),
  }
}

/** Also true for the values of several filters together. */
const hasTable = (filters: readonly Filter[]): boolean =>
  COLUMNS.some((_, column) => filters.reduce((sum, filter) => sum + valuesOf(filter, column).length, 0) >= TABLE_VALUES)

const isManyTables = (filters: readonly Filter[]): boolean => {
  const lists = filters.flatMap(({ addresses, topics }) => [addresses, ...topics])
  const tables = lists.filter(({ length }) => length >= TABLE_VALUES).length
  return (
    filters.length > 1 && filters.length <= MASKED_FILTERS && (tables > MAX_TABLES || lists.flat().length > MAX_VALUES)
  )
}

const createComparison = (filters: readonly Filter[]): string => {
  const alternatives = filters.map(alternativeOf)
  if (alternatives.length === 0) return 'false'
  if (alternatives.includes('')) return 'true'
  const any = `(${alternatives.join(' OR ')})`
  return filters.length > 1 ? [...commonConditions(filters), any].join(' AND ') : any
}

/** A condition on the values that all alternatives accept in a column: one comparison per row instead of a hundred. */
const commonConditions = (filters: readonly Filter[]): readonly string[] =>
  COLUMNS.map((column, index) => {
    const lists = filters.map((filter) => valuesOf(filter, index))
    return lists.some(({ length }) => length === 0) ? '' : oneOf(column, [...new Set(lists.flat())])
  }).filter((condition) => condition !== '')

/** Empty: matches any log. */
const alternativeOf = (filter: Filter): string => {
  const conditions = COLUMNS.map((column, index) => oneOf(column, valuesOf(filter, index))).filter(
    (condition) => condition !== '',
  )
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

/**
 * For filters with many long lists. The engine builds a table for each list in a condition, and a hundred of them
 * exceed its memory limit. Here each column has one table, which maps a value to the bit mask of the filters that
 * accept it. A log matches if the masks of all its columns have a common bit. At most MASKED_FILTERS filters, with at
 * most four topics.
 */
const createMaskCondition = (filters: readonly Filter[]) => {
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
