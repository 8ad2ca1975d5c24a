import type { LogField } from '../../log-fields.ts'
import { blockFieldsLength, storedFields } from '../columns.ts'
import type { Block, BytesEncoding, Column, Selection, StoredLog } from '../store.ts'

/*
 * RowBinary, which the client passes on and neither writes nor reads. Measured with 100,000 logs, ClickHouse 26.7 and
 * client 1.23 on a busy machine, medians of three: JSONEachRow with hex takes 3.0 times the CPU to write and 2.5 times
 * the bytes; the server inserts a file of it in 1.8 times the time. Reading JSONCompactEachRow takes 1.1 times the CPU.
 */

/** The column order of both inserts is the byte order below. */
export const LOG_COLUMNS =
  'block, log_index, transaction_index, address, topic0, topic1, topic2, topic3, topics, transaction_hash, data, epoch'
export const LEDGER_COLUMNS = 'number, hash, parent, timestamp, kept, bytes, epoch'

const LOG_WITHOUT_DATA = 8 + 4 + 4 + 20 + 4 * 32 + 1 + 32 + 8
const LEDGER_ROW = 8 + 32 + 32 + 8 + 4 + 8 + 8
/** Largest size of the LEB128 length of a text, in bytes. */
const LENGTH = 5

/** Number of bytes of a hex string. */
const bytesOf = (hex: string): number => (hex.length - 2) / 2

/** Encodes logs as RowBinary. */
export const logRows = (blocks: readonly Block[], epoch: number): Buffer => {
  const size = blocks
    .flatMap(({ logs }) => logs)
    .reduce((sum, { data }) => sum + LOG_WITHOUT_DATA + LENGTH + bytesOf(data), 0)
  const rows = new RowEncoder(size)
  for (const { number, logs } of blocks) for (const log of logs) logRow(rows, log, { number, epoch })
  return rows.written()
}

const logRow = (
  rows: RowEncoder,
  log: StoredLog,
  { number, epoch }: { readonly number: number; readonly epoch: number },
): void => {
  rows.uint64(number)
  rows.uint32(log.logIndex)
  rows.uint32(log.transactionIndex)
  rows.fixed(log.address, 20)
  for (let position = 0; position < 4; position += 1) rows.fixed(log.topics[position] ?? '0x', 32)
  rows.uint8(log.topics.length)
  rows.fixed(log.transactionHash, 32)
  rows.text(log.data)
  rows.uint64(epoch)
}

export const ledgerRows = (blocks: readonly Block[], epoch: number): Buffer => {
  const rows = new RowEncoder(blocks.length * LEDGER_ROW)
  for (const { number, hash, parentHash, timestamp, logs } of blocks) {
    rows.uint64(number)
    rows.fixed(hash, 32)
    rows.fixed(parentHash, 32)
    rows.uint64(timestamp)
    rows.uint32(logs.length)
    rows.uint64(dataBytes(logs))
    rows.uint64(epoch)
  }
  return rows.written()
}

export const dataBytes = (logs: readonly StoredLog[]): number => logs.reduce((sum, { data }) => sum + bytesOf(data), 0)

class RowEncoder {
  readonly #bytes: Buffer
  #at = 0

  constructor(size: number) {
    this.#bytes = Buffer.alloc(size)
  }

  written(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  uint8(value: number): void {
    this.#at = this.#bytes.writeUInt8(value, this.#at)
  }

  uint32(value: number): void {
    this.#at = this.#bytes.writeUInt32LE(value, this.#at)
  }

  uint64(value: number): void {
    this.uint32(value % 2 ** 32)
    this.uint32(Math.floor(value / 2 ** 32))
  }

  /** Zeros for an absent value. */
  fixed(hex: string, size: number): void {
    if (hex !== '0x') this.#hex(hex, size)
    this.#at += size
  }

  text(hex: string): void {
    const size = bytesOf(hex)
    let rest = size
    for (; rest > 127; rest = Math.floor(rest / 128)) this.uint8((rest % 128) + 128)
    this.uint8(rest)
    this.#hex(hex, size)
    this.#at += size
  }

  /** Buffer.write stops at the first character that is not hex, without an error. */
  #hex(hex: string, size: number): void {
    const digits = hex.slice(2)
    if (digits.length !== 2 * size || this.#bytes.write(digits, this.#at, 'hex') !== size)
      throw new RangeError(`not ${size} bytes of hex: ${hex.slice(0, 80)}`)
  }
}

type Value = Column[number]

export type RowDecoder = ReturnType<typeof createRowDecoder>

interface Row {
  readonly bytes: Buffer
  readonly encoding: BytesEncoding
  /** Offset of the field. */
  readonly at: number
  /** Number of topics of the log. */
  readonly topics: number
}

interface FixedColumn {
  /** Approximate text size of a value that is not a string. */
  readonly size: number
  /** Bytes in the row. */
  readonly width: number
  readonly value: (row: Row) => Value
}

const textOf = ({ bytes, encoding, at }: Pick<Row, 'bytes' | 'encoding' | 'at'>, width: number): string =>
  `${encoding === 'hex' ? '0x' : ''}${bytes.toString(encoding, at, at + width)}`
const fixed = (width: number): FixedColumn => ({ size: 0, width, value: (row) => textOf(row, width) })
const topic = (position: number): FixedColumn => ({
  size: 0,
  width: 32,
  value: (row) => (row.topics > position ? textOf(row, 32) : null),
})
const small: FixedColumn = { size: 4, width: 4, value: ({ bytes, at }) => bytes.readUInt32LE(at) }

/** Columns of fixed width: all but `data`. */
const FIXED_COLUMNS = {
  log_index: small,
  transaction_index: small,
  transaction_hash: fixed(32),
  address: fixed(20),
  topic0: topic(0),
  topic1: topic(1),
  topic2: topic(2),
  topic3: topic(3),
}

/** Decodes rows in RowBinary into columns. */
export const createRowDecoder = (selection: Pick<Selection, 'fields' | 'encoding'>) => {
  const { encoding } = selection
  const columns = storedFields(selection).map((field) => ({ field, list: new Array<Value>() }))
  const values = new Map<LogField, Value[]>(columns.map(({ field, list }) => [field, list]))
  const data = values.get('data')
  const others = columns.flatMap(({ field, list }) =>
    field === 'data' ? [] : [{ field, list, shape: FIXED_COLUMNS[field] }],
  )
  const blocks: number[] = []
  const width = 9 + others.reduce((sum, { shape }) => sum + shape.width, 0)
  const size = blockFieldsLength(selection) + others.reduce((sum, { shape }) => sum + shape.size, 0)
  let texts = 0

  return {
    /** The select list for these fields, in the order of the bytes. */
    selected: ['block', 'topics', ...others.map(({ field }) => field), ...(data === undefined ? [] : ['data'])].join(
      ', ',
    ),
    blocks,
    values,
    /** Approximate length of all values as text. */
    bytes: () => blocks.length * size + texts,
    /**
     * Decodes all complete rows and returns the remaining bytes. Null if `ends` returned true for the block of the next
     * row, which is not added.
     */
    take: (bytes: Buffer, ends: (block: number) => boolean): Buffer | null => {
      let start = 0
      for (;;) {
        if (bytes.length < start + width) return bytes.subarray(start)
        const length = data === undefined ? NOTHING : lengthAt(bytes, start + width)
        if (length === null || bytes.length < length.from + length.size) return bytes.subarray(start)
        const block = bytes.readUInt32LE(start) + bytes.readUInt32LE(start + 4) * 2 ** 32
        if (ends(block)) return null
        const topics = bytes.readUInt8(start + 8)
        blocks.push(block)
        let at = start + 9
        for (const { list, shape } of others) {
          const value = shape.value({ bytes, encoding, at, topics })
          list.push(value)
          if (typeof value === 'string') texts += value.length
          at += shape.width
        }
        if (data !== undefined) {
          at = length.from + length.size
          const text = textOf({ bytes, encoding, at: length.from }, length.size)
          data.push(text)
          texts += text.length
        }
        start = at
      }
    },
  }
}

const NOTHING = { from: 0, size: 0 }

/** Null if its end has not been received yet. */
const lengthAt = (bytes: Buffer, start: number) => {
  let size = 0
  for (let index = 0; index < LENGTH; index += 1) {
    const byte = bytes[start + index]
    if (byte === undefined) return null
    size += (byte % 128) * 128 ** index
    if (byte < 128) return { from: start + index + 1, size }
  }
  throw new RangeError('the length of a text is too long')
}
