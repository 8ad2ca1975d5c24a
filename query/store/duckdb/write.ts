import type { DuckDBBlobValue, DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api'
import { expectStored } from '../checks.ts'
import { StoreError } from '../errors.ts'
import type { Block, StoredLog } from '../store.ts'
import { type DuckDb, integerLiteral, queryRows } from './engine.ts'
import { addReplaced, type StoreContents, writeContents } from './database.ts'
import { readHeads } from './read.ts'

/** Rows per chunk: the vector size of DuckDB. */
const CHUNK = 2048

/** Sizes of the packed values, in bytes. */
const ADDRESS = 20
const HASH = 32
const TOPICS = ADDRESS + HASH

const topicAt = (position: number): string => {
  const start = TOPICS + HASH * position
  return `CASE WHEN topic_count > ${position} THEN packed[${start + 1}:${start + HASH}] END`
}

/**
 * All byte values of a row are passed as one value: this needs one engine call per row instead of seven, and the engine
 * splits it faster than JavaScript.
 */
const UNPACK = `INSERT INTO logs SELECT block, log_index, transaction_index,
  packed[${ADDRESS + 1}:${TOPICS}], packed[1:${ADDRESS}], topic_count, ${[0, 1, 2, 3].map(topicAt).join(', ')},
  packed[${TOPICS + 1} + ${HASH} * topic_count::INTEGER:]
  FROM incoming`

/** Adds blocks and their logs within the open transaction. Returns the new contents. */
export const appendBlocks = async (
  duckdb: DuckDb,
  connection: DuckDBConnection,
  { contents, blocks }: { readonly contents: StoreContents | null; readonly blocks: readonly [Block, ...Block[]] },
): Promise<StoreContents> => {
  const logs = await appendLogs(duckdb, connection, blocks)
  await appendHeads(duckdb, connection, blocks)
  const last: Block = blocks.at(-1) ?? blocks[0]
  const now: StoreContents = {
    first: contents?.first ?? blocks[0].number,
    last: last.number,
    lastHash: last.hash,
    logs: (contents?.logs ?? 0) + logs,
  }
  await writeContents(connection, now)
  return now
}

/** Replaces stored blocks and their logs within the open transaction. Returns the new contents. */
export const replaceBlocks = async (
  duckdb: DuckDb,
  connection: DuckDBConnection,
  { contents, blocks }: { readonly contents: StoreContents; readonly blocks: readonly [Block, ...Block[]] },
): Promise<StoreContents> => {
  const heads = await readHeads(
    connection,
    blocks.map(({ number }) => number),
  )
  expectStored(heads, blocks)
  const [first, last] = [blocks[0].number, blocks[0].number + blocks.length - 1]
  const span = `BETWEEN ${integerLiteral(first)} AND ${integerLiteral(last)}`
  await connection.run(`DELETE FROM logs WHERE block ${span}`)
  await connection.run(`DELETE FROM blocks WHERE number ${span}`)
  const logs = await appendLogs(duckdb, connection, blocks)
  await appendHeads(duckdb, connection, blocks)
  await addReplaced(connection, { first, last }, contents.first)
  const now = { ...contents, logs: contents.logs - heads.reduce((sum, { kept }) => sum + kept, 0) + logs }
  await writeContents(connection, now)
  return now
}

const appendLogs = async (duckdb: DuckDb, connection: DuckDBConnection, blocks: readonly Block[]): Promise<number> => {
  const count = blocks.reduce((sum, { logs }) => sum + logs.length, 0)
  if (count === 0) return 0
  const { BIGINT, UINTEGER, UTINYINT, BLOB } = duckdb
  await connection.run(`CREATE OR REPLACE TEMP TABLE incoming
    (block BIGINT, log_index UINTEGER, transaction_index UINTEGER, topic_count UTINYINT, packed BLOB)`)
  await appendChunks(duckdb, connection, {
    table: 'incoming',
    catalog: 'temp',
    types: [BIGINT, UINTEGER, UINTEGER, UTINYINT, BLOB],
    chunks: logChunks(duckdb, blocks),
  })
  await connection.run(UNPACK)
  await connection.run('DROP TABLE temp.incoming')
  return count
}

const appendHeads = async (duckdb: DuckDb, connection: DuckDBConnection, blocks: readonly Block[]): Promise<void> => {
  const { BIGINT, UINTEGER, BLOB } = duckdb
  await appendChunks(duckdb, connection, {
    table: 'blocks',
    catalog: null,
    types: [BIGINT, BLOB, BLOB, BIGINT, UINTEGER, UINTEGER],
    chunks: headChunks(duckdb, blocks),
  })
}

type Columns = readonly (readonly DuckDBValue[])[]

function* logChunks({ DuckDBBlobValue }: DuckDb, blocks: readonly Block[]): Generator<Columns> {
  let [numbers, logIndexes, transactionIndexes, topicCounts, packed] = newLogColumns()
  for (const block of blocks) {
    const number = BigInt(block.number)
    for (const log of block.logs) {
      numbers.push(number)
      logIndexes.push(log.logIndex)
      transactionIndexes.push(log.transactionIndex)
      topicCounts.push(log.topics.length)
      packed.push(new DuckDBBlobValue(packLog(block, log)))
      if (numbers.length < CHUNK) continue
      yield [numbers, logIndexes, transactionIndexes, topicCounts, packed]
      ;[numbers, logIndexes, transactionIndexes, topicCounts, packed] = newLogColumns()
    }
  }
  if (numbers.length > 0) yield [numbers, logIndexes, transactionIndexes, topicCounts, packed]
}

const newLogColumns = (): [bigint[], number[], number[], number[], DuckDBBlobValue[]] => [[], [], [], [], []]

function* headChunks({ DuckDBBlobValue }: DuckDb, blocks: readonly Block[]): Generator<Columns> {
  const bytes = (hex: string) => new DuckDBBlobValue(Buffer.from(hex.slice(2), 'hex'))
  for (let at = 0; at < blocks.length; at += CHUNK) {
    const part = blocks.slice(at, at + CHUNK)
    yield [
      part.map(({ number }) => BigInt(number)),
      part.map(({ hash }) => bytes(hash)),
      part.map(({ parentHash }) => bytes(parentHash)),
      part.map(({ timestamp }) => BigInt(timestamp)),
      part.map(({ logCount }) => logCount),
      part.map(({ logs }) => logs.length),
    ]
  }
}

interface Rows {
  readonly table: string
  readonly catalog: string | null
  readonly types: readonly DuckDBType[]
  readonly chunks: Iterable<Columns>
}

const appendChunks = async (
  duckdb: DuckDb,
  connection: DuckDBConnection,
  { table, catalog, types, chunks }: Rows,
): Promise<void> => {
  const appender = await connection.createAppender(table, null, catalog)
  try {
    for (const columns of chunks) {
      const chunk = duckdb.DuckDBDataChunk.create(types, columns[0]?.length ?? 0)
      chunk.setColumns(columns)
      appender.appendDataChunk(chunk)
    }
    appender.flushSync()
  } finally {
    appender.closeSync()
  }
}

/** Hex characters of an address and of a hash or topic, with 0x. */
const ADDRESS_CHARACTERS = 42
const HASH_CHARACTERS = 66

/**
 * Address, transaction hash, topics and data of a log, concatenated. Throws StoreError('conflict') for a malformed log.
 */
const packLog = (block: Block, log: StoredLog): Uint8Array => {
  const { address, transactionHash, topics, data } = log
  if (
    address.length !== ADDRESS_CHARACTERS ||
    transactionHash.length !== HASH_CHARACTERS ||
    topics.length > 4 ||
    topics.some((topic) => topic.length !== HASH_CHARACTERS)
  )
    throw malformed(block, log)
  let hex = address.slice(2) + transactionHash.slice(2)
  for (const topic of topics) hex += topic.slice(2)
  hex += data.slice(2)
  const bytes = Buffer.from(hex, 'hex')
  // Buffer.from stops at the first character that is not hex, without an error.
  if (2 * bytes.length !== hex.length) throw malformed(block, log)
  return bytes
}

const malformed = ({ number }: Block, { logIndex }: StoredLog): StoreError =>
  new StoreError('conflict', {
    doing: `add block ${number} to the store`,
    happened: `its log ${logIndex} is malformed`,
  })

/** Limits per transaction: its changes are kept in memory until the commit. */
const MAX_PRUNED_LOGS = 500_000
const MAX_PRUNED_BLOCKS = 100_000

/**
 * Deletes the oldest blocks before `firstKept`, up to the limits, within the open transaction. Returns the new
 * contents.
 */
export const pruneBatch = async (
  connection: DuckDBConnection,
  contents: StoreContents,
  firstKept: number,
): Promise<StoreContents> => {
  const end = Math.min(firstKept, contents.last, contents.first + MAX_PRUNED_BLOCKS)
  const oldest = await queryRows(
    connection,
    `SELECT number, kept FROM blocks WHERE number < ${integerLiteral(end)} ORDER BY number`,
  )
  let logs = 0
  let first = contents.first
  for (const [number, kept] of oldest) {
    if (logs >= MAX_PRUNED_LOGS) break
    logs += Number(kept)
    first = Number(number) + 1
  }
  await connection.run(`DELETE FROM logs WHERE block < ${integerLiteral(first)}`)
  await connection.run(`DELETE FROM blocks WHERE number < ${integerLiteral(first)}`)
  const now = { ...contents, first, logs: contents.logs - logs }
  await writeContents(connection, now)
  return now
}
