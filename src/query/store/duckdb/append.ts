import type { DuckDBBlobValue, DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api'
import type { Block } from '../store.ts'
import type { DuckDb } from './engine.ts'
import { writeHeld, type Held } from './held.ts'
import { packedOf } from './packed.ts'

/** Rows of a chunk: as many as the engine's own vectors have. */
const CHUNK = 2048

/** Bytes of the values in a row's bytes. */
const ADDRESS = 20
const HASH = 32
const TOPICS = ADDRESS + HASH

const topicAt = (position: number): string => {
  const start = TOPICS + HASH * position
  return `CASE WHEN topic_count > ${position} THEN packed[${start + 1}:${start + HASH}] END`
}

/** A row's bytes come in one value: the engine is called once a row instead of seven times, and cuts faster than we do. */
const UNPACK = `INSERT INTO logs SELECT block, log_index, transaction_index,
  packed[${ADDRESS + 1}:${TOPICS}], packed[1:${ADDRESS}], topic_count, ${[0, 1, 2, 3].map(topicAt).join(', ')},
  packed[${TOPICS + 1} + ${HASH} * topic_count::INTEGER:]
  FROM incoming`

interface Addition {
  readonly held: Held | null
  readonly blocks: readonly [Block, ...Block[]]
}

/** Adds blocks and their logs within a transaction that is open. Answers what is held then. */
export const appendBlocks = async (
  duckdb: DuckDb,
  connection: DuckDBConnection,
  { held, blocks }: Addition,
): Promise<Held> => {
  const logs = await appendLogs(duckdb, connection, blocks)
  await appendHeads(duckdb, connection, blocks)
  const last: Block = blocks.at(-1) ?? blocks[0]
  const now: Held = {
    first: held?.first ?? blocks[0].number,
    last: last.number,
    lastHash: last.hash,
    logs: (held?.logs ?? 0) + logs,
  }
  await writeHeld(connection, now)
  return now
}

const appendLogs = async (
  duckdb: DuckDb,
  connection: DuckDBConnection,
  blocks: readonly Block[],
): Promise<number> => {
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

const appendHeads = async (
  duckdb: DuckDb,
  connection: DuckDBConnection,
  blocks: readonly Block[],
): Promise<void> => {
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
      packed.push(new DuckDBBlobValue(packedOf(block, log)))
      if (numbers.length < CHUNK) continue
      yield [numbers, logIndexes, transactionIndexes, topicCounts, packed]
      ;[numbers, logIndexes, transactionIndexes, topicCounts, packed] = newLogColumns()
    }
  }
  if (numbers.length > 0) yield [numbers, logIndexes, transactionIndexes, topicCounts, packed]
}

const newLogColumns = (): [bigint[], number[], number[], number[], DuckDBBlobValue[]] => [
  [],
  [],
  [],
  [],
  [],
]

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
