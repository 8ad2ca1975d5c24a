import type { DuckDBDataChunk } from '@duckdb/node-api'
import type { LogField } from '../../log-fields.ts'
import { StoreError } from '../errors.ts'
import { blockFieldsLength, storedFields } from '../columns.ts'
import type { Selection } from '../store.ts'
import type { DuckDb } from './engine.ts'

type Values = (string | number | null)[]

export type Page = ReturnType<typeof createPage>

interface Reading {
  readonly selection: Selection
  readonly layout: ReturnType<typeof createLayout>
  readonly base: number
}

/** The page that is being read. */
export const createPage = (duckdb: DuckDb, { selection, layout, base }: Reading) => {
  const { maxLogs, maxBytes, encoding } = selection
  const [prefix, perByte] = encoding === 'hex' ? ['0x', 2] : ['', 1]
  const blocks: number[] = []
  const columns = new Map<LogField, Values>(storedFields(selection).map((field) => [field, []]))
  const targets = layout.parts.map(({ field, size, topic }) => ({
    length: size && size * perByte,
    topic,
    values: columns.get(field) ?? [],
  }))
  const counts = (['log_index', 'transaction_index'] as const).flatMap((field) => {
    const [columnIndex, values] = [layout.columnIndexes.get(field), columns.get(field)]
    return columnIndex === undefined || values === undefined ? [] : [{ columnIndex, values }]
  })
  const fixedBytes = blockFieldsLength(selection)
  let bytes = 0
  let isOver = false
  let current = -1

  const isFull = (): boolean => blocks.length >= maxLogs || bytes >= maxBytes

  const takeBytes = (value: Uint8Array, topicCount: number): void => {
    const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString(encoding)
    let at = 0
    for (const { length, topic, values } of targets) {
      if (topic !== null && topic >= topicCount) {
        values.push(null)
        continue
      }
      const to = length === null ? text.length : at + length
      values.push(`${prefix}${text.slice(at, to)}`)
      at = to
      bytes += prefix.length
    }
    bytes += text.length
    if (at !== text.length) throw damaged()
  }

  return {
    blocks,
    columns,
    /** A limit of the selection is reached. */
    isFull,
    /** The time limit is reached: the page ends with the current block. */
    end: (): void => {
      isOver = true
    },
    /** Adds the rows of a chunk; false at the first row of a block that is no longer part of the page. */
    take: (chunk: DuckDBDataChunk): boolean => {
      const numbers = wholeNumbers(duckdb, chunk, 0)
      const topicCounts = wholeNumbers(duckdb, chunk, layout.columnIndexes.get('topic_count'))
      const packed = bytesOf(duckdb, chunk, layout.columnIndexes.get('packed'))
      const others = counts.map(({ columnIndex, values }) => ({ of: wholeNumbers(duckdb, chunk, columnIndex), values }))
      for (let row = 0; row < chunk.rowCount; row += 1) {
        const block = base + numbers(row)
        if (block !== current) {
          if (block < current) throw damaged()
          if (current !== -1 && (isOver || isFull())) return false
          current = block
        }
        blocks.push(block)
        bytes += fixedBytes
        for (const { of, values } of others) {
          const number = of(row)
          values.push(number)
          bytes += digits(number)
        }
        if (targets.length > 0) takeBytes(packed(row), topicCounts(row))
      }
      return true
    },
  }
}

const digits = (number: number): number => (number < 10 ? 1 : Math.floor(Math.log10(number)) + 1)

const wholeNumbers = (
  { DuckDBUIntegerVector, DuckDBUTinyIntVector }: DuckDb,
  chunk: DuckDBDataChunk,
  columnIndex: number | undefined,
): ((row: number) => number) => {
  if (columnIndex === undefined) return () => 0
  const vector = chunk.getColumnVector(columnIndex)
  if (!(vector instanceof DuckDBUIntegerVector) && !(vector instanceof DuckDBUTinyIntVector)) throw damaged()
  return (row) => {
    const number = vector.getItem(row)
    if (number === null) throw damaged()
    return number
  }
}

const bytesOf = (
  { DuckDBBlobVector }: DuckDb,
  chunk: DuckDBDataChunk,
  columnIndex: number | undefined,
): ((row: number) => Uint8Array) => {
  if (columnIndex === undefined) return () => NO_BYTES
  const vector = chunk.getColumnVector(columnIndex)
  if (!(vector instanceof DuckDBBlobVector)) throw damaged()
  return (row) => vector.getItemBytes(row) ?? NO_BYTES
}

const NO_BYTES = new Uint8Array()

const damaged = (): StoreError =>
  new StoreError('broken', {
    doing: 'read logs',
    happened: 'the engine returned invalid rows',
    advice: 'restart the service; if the error returns, delete the store and index again from the node',
  })

interface Part {
  readonly field: LogField
  /** In bytes; null for the rest of the row. */
  readonly size: number | null
  /** Topic position: the field is present if the log has more topics than this. Null for other fields. */
  readonly topic: number | null
}

const ADDRESS_BYTES = 20
const HASH_BYTES = 32

/** The field without a fixed length is the last. */
const PARTS: readonly Part[] = [
  { field: 'address', size: ADDRESS_BYTES, topic: null },
  { field: 'transaction_hash', size: HASH_BYTES, topic: null },
  { field: 'topic0', size: HASH_BYTES, topic: 0 },
  { field: 'topic1', size: HASH_BYTES, topic: 1 },
  { field: 'topic2', size: HASH_BYTES, topic: 2 },
  { field: 'topic3', size: HASH_BYTES, topic: 3 },
  { field: 'data', size: null, topic: null },
]

/**
 * The select list of a read: all byte fields of a row are returned as one value, since each value costs an engine call.
 * `block` is returned relative to `base`, since a 32-bit number is converted faster than a 64-bit number.
 */
export const createLayout = (fields: readonly LogField[], base: number) => {
  const parts = PARTS.filter(({ field }) => fields.includes(field))
  const topics = parts.some(({ topic }) => topic !== null)
  const bytes = parts.map(({ field, topic }) =>
    topic === null || parts.length === 1 ? field : `coalesce(${field}, ''::BLOB)`,
  )
  const columns = [
    ...(['log_index', 'transaction_index'] as const)
      .filter((field) => fields.includes(field))
      .map((field) => ({ name: field, sql: `${field}` })),
    ...(topics ? [{ name: 'topic_count' as const, sql: 'topic_count' }] : []),
    ...(bytes.length > 0 ? [{ name: 'packed' as const, sql: bytes.join(' || ') }] : []),
  ]
  return {
    /** Columns of the statement, with the block first. */
    sql: [`(block - ${base})::UINTEGER`, ...columns.map(({ sql }) => sql)],
    /** Index of each column in the statement; absent if it is not requested. */
    columnIndexes: new Map(columns.map(({ name }, index) => [name, index + 1])),
    /** The packed fields, in the order of their bytes. */
    parts,
  }
}
