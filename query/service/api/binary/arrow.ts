import {
  Binary,
  Bool,
  type Data,
  type DataType,
  Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Uint64,
} from 'apache-arrow'
import { type BlockHeader, type Column, encodedBytes } from '../../../store/store.ts'
import { type HostedPage, LOG_FIELD_OF } from '../answer.ts'
import type { BlockField } from '../parse-query.ts'

/** The tables of a page as Arrow IPC files: the published columns, types and nullability of the hosted service. */
export interface ArrowTables {
  readonly blocks: Buffer
  readonly transactions: Buffer
  readonly logs: Buffer
}

/** The columns of the page must be in latin1. */
export const encodeTables = ({ query, logs, blocks, transactions }: HostedPage): ArrowTables => {
  const columns = logs?.columns ?? new Map<string, Column>()
  return {
    blocks: encodeTable(
      blocks.length,
      query.blockFields.map((field) => ({ name: field, column: blocks.map(BLOCK_VALUES[field]) })),
    ),
    transactions: encodeTable(
      transactions.length,
      query.transactionFields.map((field) => {
        const column = columns.get(LOG_FIELD_OF[field])
        if (column?.length !== logs?.count) throw tooFewValues(field)
        return { name: field, column: transactions.map((row) => column?.[row] ?? null) }
      }),
    ),
    logs: encodeTable(
      query.fields.length === 0 ? 0 : (logs?.count ?? 0),
      query.fields.map((field) => ({ name: field, column: columns.get(field) ?? [] })),
    ),
  }
}

const BLOCK_VALUES: Readonly<Record<BlockField, (block: BlockHeader) => number | string>> = {
  number: ({ number }) => number,
  hash: ({ hash }) => encodedBytes(hash, 'latin1'),
  parent_hash: ({ parentHash }) => encodedBytes(parentHash, 'latin1'),
  timestamp: ({ timestamp }) => quantityBytes(timestamp),
}

/** A quantity has its bytes from the highest on, without leading zeros but for 0 itself. */
const quantityBytes = (value: number): string => {
  const digits = value.toString(16)
  return encodedBytes(`0x${digits.padStart(digits.length + (digits.length % 2), '0')}`, 'latin1')
}

interface NamedColumn {
  readonly name: string
  readonly column: Column
}

const NUMBERS: ReadonlySet<string> = new Set(['log_index', 'transaction_index', 'block_number', 'number'])
const NULLABLE: ReadonlySet<string> = new Set(['removed', 'topic0', 'topic1', 'topic2', 'topic3'])

/** A table without rows has its schema and no record batch: with a batch, a client may write its files by that one alone. */
const encodeTable = (length: number, columns: readonly NamedColumn[]): Buffer => {
  const fields = columns.map(({ name }) => new Field(name, typeOf(name), NULLABLE.has(name)))
  const schema = new Schema(fields)
  if (length === 0 || columns.length === 0) return Buffer.from(tableToIPC(new Table(schema), 'file'))
  const children = columns.map(({ name, column }) => {
    if (column.length !== length) throw tooFewValues(name)
    return dataOf(name, column)
  })
  const rows = makeData({ type: new Struct(fields), length, children })
  return Buffer.from(tableToIPC(new Table(schema, [new RecordBatch(schema, rows)]), 'file'))
}

const tooFewValues = (name: string): Error => new Error(`the page has too few values of ${name}`)

const typeOf = (name: string): DataType => {
  if (NUMBERS.has(name)) return new Uint64()
  return name === 'removed' ? new Bool() : new Binary()
}

const dataOf = (name: string, column: Column): Data => {
  const { length } = column
  if (NUMBERS.has(name)) {
    const data = BigUint64Array.from(column, (value) => {
      if (typeof value !== 'number') throw tooFewValues(name)
      return BigInt(value)
    })
    return makeData({ type: new Uint64(), length, data })
  }
  // Final logs are not removed.
  if (name === 'removed') return makeData({ type: new Bool(), length, data: new Uint8Array(Math.ceil(length / 8)) })
  return bytesOf(column)
}

const bytesOf = (column: Column): Data => {
  const { length } = column
  const valueOffsets = new Int32Array(length + 1)
  const nullBitmap = new Uint8Array(Math.ceil(length / 8))
  let size = 0
  let nullCount = 0
  for (const [row, value] of column.entries()) {
    if (typeof value === 'string') {
      size += value.length
      nullBitmap[row >> 3] = (nullBitmap[row >> 3] ?? 0) | (1 << (row & 7))
    } else nullCount += 1
    valueOffsets[row + 1] = size
  }
  const data = Buffer.from(column.join(''), 'latin1')
  return makeData({
    type: new Binary(),
    length,
    nullCount,
    valueOffsets,
    data,
    nullBitmap: nullCount === 0 ? null : nullBitmap,
  })
}
