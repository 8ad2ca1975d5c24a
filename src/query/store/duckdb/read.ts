import type { DuckDBConnection } from '@duckdb/node-api'
import type { Clock } from '../../../core/clock.ts'
import { StoreError } from '../errors.ts'
import type { LogPage, Selection, StoreRange } from '../store.ts'
import type { DuckDb } from './engine.ts'
import { readHeads } from './heads.ts'
import { readHeld, type Held } from './held.ts'
import { layoutOf } from './layout.ts'
import { createPage, type Page } from './page.ts'
import { wantedBy } from './where.ts'

/** A first slice is of about so many logs; later ones are larger, and take about so long, in milliseconds. */
const FIRST_SLICE = 2_000_000
const SLICE_TIME = 250
/** So few rows are fetched all at once, which has all threads at work; more of them as they come, since the page may end among them. */
const FEW_ROWS = 5000
/** Blocks of a page at most: their distance from the first is told in 32 bits. */
const LONGEST_PAGE = 2 ** 32 - 1

interface Reader {
  readonly duckdb: DuckDb
  readonly connection: DuckDBConnection
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Reads within a transaction that is open: what is told of the store is what was read. */
export const readLogs = async (reader: Reader, selection: Selection): Promise<LogPage> => {
  const held = await readHeld(reader.connection)
  const { from, filters, fields } = selection
  if (held === null)
    throw new StoreError('empty', { doing: 'read logs', happened: 'the store holds no block yet' })
  const { first, last, lastHash } = held
  if (from < first)
    throw new StoreError(
      'pruned',
      { doing: 'read logs', happened: `the first block that is held is ${first}` },
      first,
    )
  const range: StoreRange = { first, last, lastHash }
  const to = Math.min(selection.to, last, from + LONGEST_PAGE)
  const layout = layoutOf(fields, from)
  const { logs, effort } = wantedBy(filters)
  const page = createPage(reader.duckdb, { selection, layout, base: from })
  const next =
    from > to
      ? from
      : await readSlices(reader, page, {
          from,
          to,
          held,
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
  readonly held: Held
  /** Of a look at a row. */
  readonly effort: number
  readonly maxMs: number
  readonly sqlOf: (from: number, to: number) => string
}

/**
 * The engine does not tell how far it has come while it finds nothing, so it is asked in slices: what is dense ends a page
 * within the first, what is sparse takes a few large ones. Answers the first block that is not covered.
 */
const readSlices = async (
  reader: Reader,
  page: Page,
  { from, to, held, effort, maxMs, sqlOf }: Slices,
): Promise<number> => {
  const { clock } = reader
  const begun = clock.elapsed()
  const isLate = (): boolean => clock.elapsed() - begun >= maxMs
  const perBlock = Math.max(1, held.logs) / (held.last - held.first + 1)
  let size = Math.max(1, Math.floor(FIRST_SLICE / perBlock / effort))
  let start = from
  while (start <= to) {
    const end = Math.min(to, start + size - 1)
    const sliceBegun = clock.elapsed()
    const whole = await readSlice(reader, page, {
      sql: sqlOf(start, end),
      few: start > from && (page.blocks.length / (start - from)) * (end - start + 1) < FEW_ROWS,
      isLate,
    })
    const lastRow = page.blocks.at(-1)
    if (!whole || page.isFull()) return lastRow === undefined ? end + 1 : lastRow + 1
    start = end + 1
    if (isLate()) return start
    const took = clock.elapsed() - sliceBegun
    size = Math.ceil(size * Math.min(8, Math.max(1, SLICE_TIME / Math.max(1, took))))
  }
  return start
}

interface Slice {
  readonly sql: string
  readonly few: boolean
  readonly isLate: () => boolean
}

/** False where the page ended within it. */
const readSlice = async (
  { connection, signal }: Reader,
  page: Page,
  { sql, few, isLate }: Slice,
): Promise<boolean> => {
  const result = few ? await connection.run(sql) : await connection.stream(sql)
  for (;;) {
    if (signal.aborted)
      throw new StoreError('aborted', { doing: 'read logs', happened: 'the caller went' })
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return true
    if (!page.take(chunk)) return false
    if (isLate()) page.end()
  }
}

/** Hashes lie with the blocks, not with each log. */
const addHashes = async (connection: DuckDBConnection, page: Page): Promise<void> => {
  const heads = await readHeads(connection, page.blocks)
  const hashes = new Map(heads.map(({ number, hash }) => [number, hash]))
  page.columns.set(
    'block_hash',
    page.blocks.map((block) => hashes.get(block) ?? missing(block)),
  )
}

const missing = (block: number): never => {
  throw new StoreError('broken', {
    doing: 'read logs',
    happened: `block ${block} has logs and no head`,
  })
}
