import type { DuckDBConnection } from '@duckdb/node-api'
import type { Clock } from '../../../core/clock.ts'
import { StoreError } from '../errors.ts'
import type { BlockHeader, LogPage, Selection, StoreRange } from '../store.ts'
import type { DuckDb } from './engine.ts'
import { createLayout, createPage, type Page } from './page.ts'
import { readContents, type StoreContents } from './schema.ts'
import { queryRows } from './sql.ts'
import { createLogQuery } from './where.ts'

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

/** Reads within the open transaction, so that the returned range matches the rows. */
export const readLogs = async (reader: Reader, selection: Selection): Promise<LogPage> => {
  const contents = await readContents(reader.connection)
  const { from, filters, fields } = selection
  if (contents === null) throw new StoreError('empty', { doing: 'read logs', happened: 'the store has no blocks yet' })
  const { first, last, lastHash } = contents
  if (from < first)
    throw new StoreError('pruned', { doing: 'read logs', happened: `the first block in the store is ${first}` }, first)
  const range: StoreRange = { first, last, lastHash }
  const to = Math.min(selection.to, last, from + LONGEST_PAGE)
  const layout = createLayout(fields, from)
  const { logs, effort } = createLogQuery(filters)
  const page = createPage(reader.duckdb, { selection, layout, base: from })
  const next =
    from > to
      ? from
      : await readSlices(reader, page, {
          from,
          to,
          contents,
          effort,
          maxMs: selection.maxMs,
          sqlOf: (start, end) => `SELECT ${layout.sql.join(', ')} ${logs(start, end)}`,
        })
  if (fields.includes('block_hash')) await addHashes(reader.connection, page)
  return { count: page.blocks.length, blocks: page.blocks, columns: page.columns, next, range }
}

interface Slices {
  readonly from: number
  readonly to: number
  readonly contents: StoreContents
  /** Cost per row, as a multiple of the cheapest condition. */
  readonly effort: number
  readonly maxMs: number
  readonly sqlOf: (from: number, to: number) => string
}

/**
 * The engine reports no progress while it finds no match, so the range is read in slices: a page of dense matches ends
 * within the first slice, sparse ones need a few large slices. Returns the first block that is not covered.
 */
const readSlices = async (
  reader: Reader,
  page: Page,
  { from, to, contents, effort, maxMs, sqlOf }: Slices,
): Promise<number> => {
  const { clock } = reader
  const startedAt = clock.elapsed()
  const isLate = (): boolean => clock.elapsed() - startedAt >= maxMs
  const perBlock = Math.max(1, contents.logs) / (contents.last - contents.first + 1)
  let size = Math.max(1, Math.floor(FIRST_SLICE / perBlock / effort))
  let start = from
  while (start <= to) {
    const end = Math.min(to, start + size - 1)
    const sliceStartedAt = clock.elapsed()
    const isComplete = await readSlice(reader, page, {
      sql: sqlOf(start, end),
      isSmall: start > from && (page.blocks.length / (start - from)) * (end - start + 1) < FEW_ROWS,
      isLate,
    })
    const lastRow = page.blocks.at(-1)
    if (!isComplete || page.isFull()) return lastRow === undefined ? end + 1 : lastRow + 1
    start = end + 1
    if (isLate()) return start
    const took = clock.elapsed() - sliceStartedAt
    size = Math.ceil(size * Math.min(8, Math.max(1, SLICE_TIME / Math.max(1, took))))
  }
  return start
}

interface Slice {
  readonly sql: string
  readonly isSmall: boolean
  readonly isLate: () => boolean
}

/** False if the page ended within the slice. */
const readSlice = async (
  { connection, signal }: Reader,
  page: Page,
  { sql, isSmall, isLate }: Slice,
): Promise<boolean> => {
  const result = isSmall ? await connection.run(sql) : await connection.stream(sql)
  for (;;) {
    if (signal.aborted) throw new StoreError('aborted', { doing: 'read logs', happened: 'the read was aborted' })
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return true
    if (!page.take(chunk)) return false
    if (isLate()) page.end()
  }
}

/** Block hashes are stored once per block, not with each log. */
const addHashes = async (connection: DuckDBConnection, page: Page): Promise<void> => {
  const heads = await readHeads(connection, page.blocks)
  const hashes = new Map(heads.map(({ number, hash }) => [number, hash]))
  page.columns.set(
    'block_hash',
    page.blocks.map((block) => hashes.get(block) ?? missingHeader(block)),
  )
}

const missingHeader = (block: number): never => {
  throw new StoreError('broken', {
    doing: 'read logs',
    happened: `block ${block} has logs but no header`,
  })
}

/** Block numbers per statement. */
const BATCH = 10_000

/** The headers of those blocks that are stored, ordered by number. */
export const readHeads = async (
  connection: DuckDBConnection,
  numbers: readonly number[],
): Promise<readonly BlockHeader[]> => {
  const wanted = [...new Set(numbers)]
    .filter((number) => Number.isSafeInteger(number))
    .toSorted((one, other) => one - other)
  const heads: BlockHeader[] = []
  for (let at = 0; at < wanted.length; at += BATCH)
    heads.push(...(await readBatch(connection, wanted.slice(at, at + BATCH))))
  return heads
}

const readBatch = async (connection: DuckDBConnection, wanted: readonly number[]): Promise<readonly BlockHeader[]> => {
  const [first = 0, last = first] = [wanted[0], wanted.at(-1)]
  // For numbers that are close together, reading all of them costs less than looking up each.
  const close = last - first < 4 * wanted.length
  const rows = await queryRows(
    connection,
    `SELECT number, hash, parent_hash, timestamp FROM blocks
      WHERE number BETWEEN ${first} AND ${last}${close ? '' : ` AND number IN (${wanted.join(', ')})`}
      ORDER BY number`,
  )
  const set = new Set(wanted)
  return rows
    .map(([number, hash, parentHash, timestamp]) => ({
      number: Number(number),
      hash: String(hash),
      parentHash: String(parentHash),
      timestamp: Number(timestamp),
    }))
    .filter(({ number }) => set.has(number))
}
