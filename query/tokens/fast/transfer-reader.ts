import type { Page } from '../../client/types.ts'
import type { AmountTransfer } from '../decode.ts'
import type { EventName } from '../signatures.ts'
import {
  ADDRESS_WORDS,
  EVM_WORDS,
  FROM,
  HexReader,
  ID_NUMBER,
  isZero,
  packDigits,
  Rows,
  TO,
  VALUE,
} from './packed-words.ts'

const WORD_DIGITS = 64
/** The digits before an address in a word. */
const PADDING = 24

interface TransferReaderOptions {
  readonly contract: string
  /** By topic0. */
  readonly events: ReadonlyMap<string, EventName>
  /** The number of the id in eight words; undefined for ERC-721, whose ids are the values of the rows. */
  readonly numberOf: ((words: Int32Array, at: number) => number) | undefined
}

/** Where the values of a TransferBatch begin, and the number of digits of its data. */
type BatchPositions = Readonly<Record<'from' | 'to' | 'data' | 'digits', number>>

/**
 * Reads transfers into rows: from the bytes of a page whose logs are of the contract and the events, in the plain form of their
 * standard, in order and each once; or decoded ones from any other page.
 */
export class TransferReader {
  readonly rows = new Rows()
  readonly #contract: Float64Array
  readonly #topics: readonly Float64Array[]
  readonly #events: readonly EventName[]
  readonly #numberOf: TransferReaderOptions['numberOf']
  readonly #hex = new HexReader()
  /** Values that are not stored. */
  readonly #other = new Int32Array(EVM_WORDS)
  /** The four words of a decoded transfer. */
  readonly #text = Buffer.alloc(4 * WORD_DIGITS)
  #block = 0

  constructor({ contract, events, numberOf }: TransferReaderOptions) {
    this.#contract = packDigits(contract.slice(2))
    this.#topics = [...events.keys()].map((topic) => packDigits(topic.slice(2)))
    this.#events = [...events.values()]
    this.#numberOf = numberOf
  }

  /** False if a log is not plain: then the page must be parsed. */
  read({ scanned, from, next }: Page): boolean {
    if (scanned?.isOrdered !== true) return false
    const { count, blocks, positions, step, bytes } = scanned
    if (count > 0 && ((blocks[0] ?? 0) < from || (blocks[count - 1] ?? 0) >= next)) return false
    this.#begin(bytes)
    for (let log = 0; log < count; log += 1) {
      this.#block = blocks[log] ?? 0
      if (!this.#log(positions, log * step)) return false
    }
    return true
  }

  /** Call before `add`. */
  clear(): void {
    this.#begin(this.#text)
  }

  /** Adds decoded transfers. */
  add(block: number, transfers: readonly AmountTransfer[]): void {
    for (const { from, to, id, amount } of transfers) {
      this.#text.write(from + to + id + amount, 'latin1')
      const row = this.rows.add(block)
      this.#hex.words = this.rows.words
      this.#hex.read(PADDING, row + FROM, ADDRESS_WORDS)
      this.#hex.read(WORD_DIGITS + PADDING, row + TO, ADDRESS_WORDS)
      this.#hex.read(3 * WORD_DIGITS, row + VALUE, EVM_WORDS)
      this.#setId(row, 2 * WORD_DIGITS)
    }
  }

  #begin(bytes: Uint8Array): void {
    this.rows.count = 0
    this.#hex.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#hex.isValid = true
  }

  #log(positions: Int32Array, at: number): boolean {
    const address = positions[at] ?? 0
    if (address !== 0 && !this.#matches(address, this.#contract)) return false
    const event = this.#eventAt(positions[at + 1] ?? 0)
    const topic1 = positions[at + 2] ?? 0
    const topic2 = positions[at + 3] ?? 0
    const topic3 = positions[at + 4] ?? 0
    const data = positions[at + 5] ?? 0
    const digits = (positions[at + 6] ?? 0) - data
    if (event === undefined || topic1 === 0 || topic2 === 0 || data === 0) return false
    if (event === 'Transfer') {
      // ERC-721 has the id in the third topic, and ERC-20 the amount in the data.
      const isToken = this.#numberOf === undefined
      if ((topic3 !== 0) !== isToken || digits !== (isToken ? 0 : WORD_DIGITS)) return false
      this.#row(topic1, topic2, isToken ? topic3 : data)
      return this.#hex.isValid
    }
    if (topic3 === 0 || !this.#isHex(topic1)) return false
    if (event === 'TransferBatch') return this.#batch({ from: topic2, to: topic3, data, digits })
    if (event !== 'TransferSingle' || digits !== 2 * WORD_DIGITS) return false
    this.#setId(this.#row(topic2, topic3, data + WORD_DIGITS), data)
    return this.#hex.isValid
  }

  #eventAt(topic0: number): EventName | undefined {
    for (let event = 0; topic0 !== 0 && event < this.#topics.length; event += 1) {
      if (this.#matches(topic0, this.#topics[event] ?? this.#contract)) return this.#events[event]
    }
    return undefined
  }

  /** Accepts only the layout that compilers produce: the ids, directly followed by the amounts. */
  #batch({ from, to, data, digits }: BatchPositions): boolean {
    const count = (digits / WORD_DIGITS - 4) / 2
    if (!Number.isInteger(count) || count < 0) return false
    const ids = data + 2 * WORD_DIGITS
    const amounts = ids + (1 + count) * WORD_DIGITS
    const isPlain =
      this.#hasValue(data, 64) &&
      this.#hasValue(data + WORD_DIGITS, 64 + 32 * (1 + count)) &&
      this.#hasValue(ids, count) &&
      this.#hasValue(amounts, count)
    if (!isPlain) return false
    // Read here because an empty batch has no row.
    this.#row(from, to, data)
    this.rows.count -= 1
    for (let item = 1; item <= count; item += 1) {
      const row = this.#row(from, to, amounts + item * WORD_DIGITS)
      this.#setId(row, ids + item * WORD_DIGITS)
    }
    return this.#hex.isValid
  }

  #row(from: number, to: number, value: number): number {
    const row = this.rows.add(this.#block)
    this.#hex.words = this.rows.words
    this.#hex.readAddress(from, row + FROM)
    this.#hex.readAddress(to, row + TO)
    this.#hex.read(value, row + VALUE, EVM_WORDS)
    return row
  }

  #setId(row: number, id: number): void {
    this.#isHex(id)
    const number = this.#numberOf?.(this.#other, 0) ?? 0
    this.rows.words[row + FROM + ID_NUMBER] = number
    this.rows.words[row + TO + ID_NUMBER] = number
  }

  #isHex(position: number): boolean {
    this.#hex.words = this.#other
    this.#hex.read(position, 0, EVM_WORDS)
    return this.#hex.isValid
  }

  #hasValue(position: number, value: number): boolean {
    return this.#isHex(position) && this.#other[0] === value && isZero(this.#other, 1, EVM_WORDS - 1)
  }

  /** Whether the page has these digits at this position. */
  #matches(position: number, digits: Float64Array): boolean {
    for (let eight = 0; eight < digits.length; eight += 1) {
      if (this.#hex.view.getFloat64(position + 8 * eight) !== digits[eight]) return false
    }
    return true
  }
}
