import { BLOCK_VALUES, type HostedPage, LOG_FIELD_OF } from '../answer.ts'
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
import type { BlockField } from '../parse-query.ts'

/**
 * The blocks, transactions and logs of a page as Arrow IPC files: the published columns, types and nullability of the
 * hosted service. The columns of the page must be in latin1.
 */
const encodeTables = ({ query, logs, blocks, transactions }: HostedPage): readonly Buffer[] => {
  const columns = logs?.columns ?? new Map<string, Column>()
  return [
    encodeTable(
      blocks.length,
      query.blockFields.map((field) => [field, blocks.map((block) => blockValue(block, field))]),
    ),
    encodeTable(
      transactions.length,
      query.transactionFields.map((field) => {
        const column = columns.get(LOG_FIELD_OF[field])
        if (column?.length !== logs?.count) throw tooFewValues(field)
        return [field, transactions.map((row) => column?.[row] ?? null)]
      }),
    ),
    encodeTable(
      query.fields.length === 0 ? 0 : (logs?.count ?? 0),
      query.fields.map((field) => [field, columns.get(field) ?? []]),
    ),
  ]
}

/** A quantity has its bytes from the highest on, without leading zeros but for 0 itself. */
const blockValue = (block: BlockHeader, field: BlockField): number | string => {
  const value = BLOCK_VALUES[field](block)
  if (typeof value === 'number') return value
  return encodedBytes(value.length % 2 === 0 ? value : `0x0${value.slice(2)}`, 'latin1')
}

type NamedColumn = readonly [name: string, column: Column]

const NUMBERS: ReadonlySet<string> = new Set(['log_index', 'transaction_index', 'block_number', 'number'])
const NULLABLE: ReadonlySet<string> = new Set(['removed', 'topic0', 'topic1', 'topic2', 'topic3'])

/** A table without rows has its schema and no record batch: with a batch, a client may write its files by that one alone. */
const encodeTable = (length: number, columns: readonly NamedColumn[]): Buffer => {
  const fields = columns.map(([name]) => new Field(name, typeOf(name), NULLABLE.has(name)))
  const schema = new Schema(fields)
  if (length === 0 || columns.length === 0) return Buffer.from(tableToIPC(new Table(schema), 'file'))
  const children = columns.map(([name, column]) => {
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

/*
 * Cap'n Proto, written by hand: one message of two structs, which every client reads at fixed places. The libraries of
 * npm bring a runtime of their own for schemas that change, and none of them writes packed messages without a copy of
 * each table.
 *
 *   QueryResponse { archiveHeight :Int64; nextBlock :UInt64; totalExecutionTime :UInt64; data; rollbackGuard }
 *   QueryResponseData { blocks, transactions, logs, traces :Data }
 *   RollbackGuard { blockNumber :UInt64; timestamp :Int64; firstBlockNumber :UInt64; hash, firstParentHash :Data }
 */

const WORD = 8
/** Words of data and pointers of each struct. */
const RESPONSE = { data: 3, pointers: 2 }
const DATA = { data: 0, pointers: 4 }
const GUARD = { data: 3, pointers: 2 }
/** Of an empty store. */
const NO_HEIGHT = -1

/** The page as a packed message. The columns of the page must be in latin1. */
export const encodeBinary = (page: HostedPage): Buffer => {
  const { next, height, milliseconds, guard } = page
  const writer = new MessageWriter()
  const response = writer.struct(0, RESPONSE)
  writer.integers(response, [height ?? NO_HEIGHT, next, Math.round(milliseconds)])
  const data = writer.struct(response + RESPONSE.data, DATA)
  // A null pointer for `traces`, which no other table may have.
  for (const [index, table] of encodeTables(page).entries()) writer.bytes(data + index, table)
  if (guard !== null) {
    const at = writer.struct(response + RESPONSE.data + 1, GUARD)
    writer.integers(at, [guard.last.number, guard.last.timestamp, guard.first.number])
    for (const [index, hash] of [guard.last.hash, guard.first.parentHash].entries())
      writer.bytes(at + GUARD.data + index, Buffer.from(hash.slice(2), 'hex'))
  }
  return writer.packed()
}

/** `CachedQueryResponse { union { queryResponse; notCached } }`: clients then send the query itself. */
export const notCached = (): Buffer => {
  const writer = new MessageWriter()
  writer.integers(writer.struct(0, { data: 1, pointers: 1 }), [1])
  return writer.packed()
}

interface Part {
  /** Its first word. */
  readonly at: number
  readonly bytes: Uint8Array
}

/** Words are numbered from the beginning of the segment; the first one is the pointer to the root. */
class MessageWriter {
  readonly #parts: Part[] = []
  #size = 1

  /** Adds a struct and the pointer to it. Returns its first word. */
  struct(pointer: number, { data, pointers }: { readonly data: number; readonly pointers: number }): number {
    const at = this.#place(Buffer.alloc((data + pointers) * WORD))
    this.#point(pointer, ((at - pointer - 1) << 2) >>> 0, data | (pointers << 16))
    return at
  }

  /** Adds a list of bytes and the pointer to it. */
  bytes(pointer: number, bytes: Uint8Array): void {
    const at = this.#place(bytes)
    this.#point(pointer, ((at - pointer - 1) << 2) | LIST, (bytes.length << 3) | BYTES)
  }

  integers(at: number, values: readonly number[]): void {
    const words = Buffer.alloc(values.length * WORD)
    for (const [index, value] of values.entries()) words.writeBigInt64LE(BigInt(value), index * WORD)
    this.#parts.push({ at, bytes: words })
  }

  /**
   * The message with each word as it is: runs of words whose bytes all follow, in place of each word with a tag. Zeros
   * are not left out, which takes a tenth of the time and a quarter more bytes.
   */
  packed(): Buffer {
    const segment = Buffer.alloc(this.#size * WORD)
    for (const { at, bytes } of this.#parts) segment.set(bytes, at * WORD)
    const table = Buffer.alloc(WORD)
    table.writeUInt32LE(this.#size, 4)
    // A run must not reach from the table into the segment.
    return Buffer.concat([...runs(table), ...runs(segment)])
  }

  #place(bytes: Uint8Array): number {
    const at = this.#size
    this.#parts.push({ at, bytes })
    this.#size += Math.ceil(bytes.length / WORD)
    return at
  }

  #point(at: number, low: number, high: number): void {
    const words = Buffer.alloc(WORD)
    words.writeUInt32LE(low >>> 0, 0)
    words.writeUInt32LE(high >>> 0, 4)
    this.#parts.push({ at, bytes: words })
  }
}

const LIST = 1
/** The size of an element of a list: one byte. */
const BYTES = 2
/** A word with its tag, and the number of words that follow without one. */
const RUN_WORDS = 256
const ALL = 0xff

function* runs(words: Buffer): Generator<Buffer> {
  for (let at = 0; at < words.length; at += RUN_WORDS * WORD) {
    const run = words.subarray(at, at + RUN_WORDS * WORD)
    yield Buffer.from([ALL])
    yield run.subarray(0, WORD)
    yield Buffer.from([run.length / WORD - 1])
    yield run.subarray(WORD)
  }
}
