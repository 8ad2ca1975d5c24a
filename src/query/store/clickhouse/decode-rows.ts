import { LOG_FIELDS, type LogField } from '../../log-fields.ts'
import type { Column } from '../store.ts'

type Value = Column[number]

/** Decodes rows in RowBinary into columns. */
export interface RowDecoder {
  /** The select list for these fields, in the order of the bytes. */
  readonly selected: string
  readonly blocks: readonly number[]
  readonly values: ReadonlyMap<LogField, readonly Value[]>
  /** Approximate size of all values as hex. */
  bytes(): number
  /**
   * Decodes all complete rows and returns the remaining bytes. Null if `ends` returned true for the block of the next
   * row, which is not added.
   */
  take(bytes: Buffer, ends: (block: number) => boolean): Buffer | null
}

interface Row {
  readonly bytes: Buffer
  /** Offset of the field. */
  readonly at: number
  readonly block: number
  /** Number of topics of the log. */
  readonly topics: number
}

interface FixedColumn {
  /** Approximate text size of a value that is not a string. */
  readonly size: number
  /** Bytes in the row; 0 if the row does not have the field. */
  readonly width: number
  readonly value: (row: Row) => Value
}

const hex =
  (width: number) =>
  ({ bytes, at }: Row): string =>
    `0x${bytes.toString('hex', at, at + width)}`
const topic = (position: number): FixedColumn => ({
  size: 0,
  width: 32,
  value: (row) => (row.topics > position ? hex(32)(row) : null),
})
const small: FixedColumn = { size: 4, width: 4, value: ({ bytes, at }) => bytes.readUInt32LE(at) }

/** Columns of fixed width: all but `data`. Block hashes come from the blocks table. */
const FIXED_COLUMNS: Readonly<Record<Exclude<LogField, 'data'>, FixedColumn>> = {
  removed: { size: 5, width: 0, value: () => false },
  log_index: small,
  transaction_index: small,
  transaction_hash: { size: 0, width: 32, value: hex(32) },
  block_hash: { size: 66, width: 0, value: () => null },
  block_number: { size: 8, width: 0, value: ({ block }) => block },
  address: { size: 0, width: 20, value: hex(20) },
  topic0: topic(0),
  topic1: topic(1),
  topic2: topic(2),
  topic3: topic(3),
}

/** Largest size of a LEB128 length here, in bytes. */
const LENGTH = 5

export const createRowDecoder = (fields: readonly LogField[]): RowDecoder => {
  const values = new Map<LogField, Value[]>(
    LOG_FIELDS.filter((field) => fields.includes(field)).map((field) => [field, []]),
  )
  const data = values.get('data')
  const fixed = [...values].flatMap(([field, list]) =>
    field === 'data' ? [] : [{ field, list, shape: FIXED_COLUMNS[field] }],
  )
  const blocks: number[] = []
  const width = 9 + fixed.reduce((sum, { shape }) => sum + shape.width, 0)
  const size = fixed.reduce((sum, { shape }) => sum + shape.size, 0)
  let texts = 0

  return {
    selected: [
      'block',
      'topics',
      ...fixed.flatMap(({ field, shape }) => (shape.width === 0 ? [] : [field])),
      ...(data === undefined ? [] : ['data']),
    ].join(', '),
    blocks,
    values,
    bytes: () => blocks.length * size + texts,
    take: (bytes, ends) => {
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
        for (const { list, shape } of fixed) {
          const value = shape.value({ bytes, at, block, topics })
          list.push(value)
          if (typeof value === 'string') texts += value.length
          at += shape.width
        }
        if (data !== undefined) {
          at = length.from + length.size
          data.push(`0x${bytes.toString('hex', length.from, at)}`)
          texts += 2 + 2 * length.size
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
