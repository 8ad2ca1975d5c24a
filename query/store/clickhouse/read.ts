import type { Clock } from '../../../src/core/clock.ts'
import { abortedRead, prunedBlocks, StoreError } from '../errors.ts'
import { readInBatches, withBlockFields } from '../columns.ts'
import type { Filter, LogPage, Selection, StoredHeader } from '../store.ts'
import { type Amount, committedRows, largest, type StoreContents } from './contents.ts'
import { LEDGER, logsTable } from './open.ts'
import { createRowDecoder, type RowDecoder } from './row-binary.ts'
import type { Servers } from './servers.ts'

interface Reading {
  readonly servers: Servers
  readonly clock: Clock
  /** Contents of the store at the start of the read. */
  readonly contents: StoreContents
  readonly signal: AbortSignal
}

/** Size of the first range, whether its logs match or not. */
const FIRST_RANGE: Amount = { logs: 50_000, bytes: 32 * 1024 * 1024 }
/** Largest growth factor from one range to the next. */
const MOST_GROWTH = 16

export const readLogs = async (reading: Reading, selection: Selection): Promise<LogPage> => {
  const { contents } = reading
  if (selection.from < contents.first) throw prunedBlocks(contents.first)
  const { first, last, lastHash } = contents
  const columns = createRowDecoder(selection)
  const next = await readRanges(reading, selection, columns)
  if (next > selection.from) await verifyContents(reading, selection)
  const page = {
    count: columns.blocks.length,
    blocks: columns.blocks,
    columns: columns.values,
    next,
    range: { first, last, lastHash },
  }
  return withBlockFields(page, selection, (numbers) => headsOf(reading, numbers))
}

/** Reads range by range; each is sized for what is still wanted. Returns the first block that is not covered. */
const readRanges = async (reading: Reading, selection: Selection, columns: RowDecoder): Promise<number> => {
  const { servers, clock, contents, signal } = reading
  const { blocks } = columns
  const to = Math.min(selection.to, contents.last)
  const startedAt = clock.elapsed()
  const { logs, bytes } = FIRST_RANGE
  let amount = { logs: Math.min(logs, selection.maxLogs), bytes: Math.min(bytes, selection.maxBytes) }
  let from = selection.from
  const fullness = (): number => Math.max(blocks.length / selection.maxLogs, columns.bytes() / selection.maxBytes)
  const isOver = (): boolean => fullness() >= 1 || clock.elapsed() - startedAt >= selection.maxMs
  const ends = (block: number): boolean => blocks.length > 0 && block !== blocks.at(-1) && isOver()
  while (from <= to) {
    if (signal.aborted) throw abortedRead()
    const before = fullness()
    const end = contents.density.reach({ from, to }, amount)
    const statement =
      `SELECT ${columns.selected} FROM ${logsTable(servers)}` +
      ` WHERE ${committedRows('block', contents.segments, { from, to: end })} AND ${filterCondition(selection.filters)}` +
      ` ORDER BY block, log_index FORMAT RowBinary`
    /** The beginning of a row whose end has not been received; null if the page was full before the end of the range. */
    const rest: { bytes: Buffer | null } = { bytes: Buffer.alloc(0) }
    const take = (chunk: Buffer): boolean => {
      if (rest.bytes !== null)
        rest.bytes = columns.take(rest.bytes.length === 0 ? chunk : Buffer.concat([rest.bytes, chunk]), ends)
      return rest.bytes !== null
    }
    await servers.stream(statement, take, signal)
    if (rest.bytes !== null && rest.bytes.length > 0)
      throw new StoreError('unavailable', {
        doing: 'read logs from ClickHouse',
        happened: 'the response ends within a row',
      })
    const lastBlock = blocks.at(-1)
    // The page ends with the block that reached a limit, even if no log follows.
    if ((rest.bytes === null || fullness() >= 1) && lastBlock !== undefined) return lastBlock + 1
    from = end + 1
    if (isOver()) break
    const growth = Math.min(MOST_GROWTH, Math.max(1, (1 - fullness()) / (fullness() - before)))
    amount = { logs: amount.logs * growth, bytes: amount.bytes * growth }
  }
  return from
}

/**
 * Blocks that are pruned during the read, or a replaced server, can make the result incomplete. The floor is raised
 * before anything is dropped.
 */
const verifyContents = async ({ servers, contents }: Reading, { from }: Selection): Promise<void> => {
  const epoch = contents.segments.at(-1)?.epoch ?? 0
  const [[floor, count] = []] = await servers.query(
    `SELECT ${largest('floor')}, count() FROM ${LEDGER} WHERE number = ${contents.last} AND epoch = ${epoch}`,
  )
  if (from < Number(floor)) throw prunedBlocks(Number(floor))
  if (count === '1') return
  throw new StoreError('unavailable', {
    doing: 'read logs from ClickHouse',
    happened: 'blocks have disappeared from its ledger',
  })
}

/** Block numbers per statement. */
const NUMBERS_AT_ONCE = 50_000

/** Ordered by number. */
export const headsOf = (
  { servers, contents }: Pick<Reading, 'servers' | 'contents'>,
  numbers: readonly number[],
): Promise<readonly StoredHeader[]> =>
  readInBatches(numbers, NUMBERS_AT_ONCE, async (some) => {
    const span = { from: some[0] ?? 0, to: some.at(-1) ?? 0 }
    const rows = await servers.query(
      `SELECT number, hex(hash), hex(parent), timestamp, kept FROM ${LEDGER} WHERE ${committedRows('number', contents.segments, span)} AND number IN (${some.join(', ')}) ORDER BY number`,
    )
    return rows.map(headOf)
  })

/** A condition for logs that match one of the filters. */
const filterCondition = (filters: readonly Filter[]): string => {
  const alternatives = filters.map(conditionsOf)
  return alternatives.includes('1') ? '1' : `(${alternatives.join(' OR ')})`
}

const conditionsOf = ({ addresses, topics }: Filter): string => {
  const conditions = [
    ...(addresses.length === 0 ? [] : [oneOf('address', addresses, 20)]),
    ...topics.flatMap((values, position) => (values.length === 0 ? [] : [topicCondition(values, position)])),
  ]
  return conditions.length === 0 ? '1' : `(${conditions.join(' AND ')})`
}

/** An absent topic is stored as zeros. */
const topicCondition = (values: readonly string[], position: number): string => {
  // A log has at most four topics.
  if (position > 3) return '0'
  const zeros = values.some((value) => /^0x0+$/.test(value))
  return `${oneOf(`topic${position}`, values, 32)}${zeros ? ` AND topics > ${position}` : ''}`
}

const oneOf = (column: string, values: readonly string[], bytes: number): string =>
  `${column} IN (${[...new Set(values)].map((value) => hexLiteral(value, bytes)).join(', ')})`

const BYTES = /^0x(?:[0-9a-f]{2})*$/

/** Bytes as an SQL string literal. The pattern prevents SQL injection. */
export const hexLiteral = (hex: string, bytes: number): string => {
  if (!BYTES.test(hex) || hex.length !== 2 + 2 * bytes)
    throw new RangeError(`not ${bytes} bytes of hex: ${hex.slice(0, 80)}`)
  return `'${hex.slice(2).replaceAll(/../g, '\\x$&')}'`
}

/** Parses a row of the ledger: number, hash, parent, timestamp, kept. */
const headOf = ([number = '', hash = '', parent = '', timestamp = '', kept = '']: readonly string[]): StoredHeader => ({
  number: Number(number),
  hash: `0x${hash.toLowerCase()}`,
  parentHash: `0x${parent.toLowerCase()}`,
  timestamp: Number(timestamp),
  kept: Number(kept),
})
