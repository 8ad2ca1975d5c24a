import type { Block, BlockHeader, StoredLog } from '../store.ts'

/** The column order of both inserts is the byte order below. */
export const LOG_COLUMNS =
  'block, log_index, transaction_index, address, topic0, topic1, topic2, topic3, topics, transaction_hash, data, epoch'
export const LEDGER_COLUMNS = 'number, hash, parent, timestamp, kept, bytes, epoch'

const LOG_WITHOUT_DATA = 8 + 4 + 4 + 20 + 4 * 32 + 1 + 32 + 8
const LEDGER_ROW = 8 + 32 + 32 + 8 + 4 + 8 + 8
/** Largest size of a LEB128 length, in bytes. */
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

/** Parses a row of the ledger: number, hash, parent, timestamp. */
export const headOf = ([number = '', hash = '', parent = '', timestamp = '']: readonly string[]): BlockHeader => ({
  number: Number(number),
  hash: `0x${hash.toLowerCase()}`,
  parentHash: `0x${parent.toLowerCase()}`,
  timestamp: Number(timestamp),
})

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
