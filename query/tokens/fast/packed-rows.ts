import type { BalanceRow, RowText } from '../types.ts'
import { addressAt, EVM_WORDS, LIMBS, Limbs } from './packed-words.ts'

/** The words of a row, the lowest of each number first: the address, the balance, the id. */
export const ROW_BALANCE = 5
export const ROW_ID = ROW_BALANCE + LIMBS
const ROW_WORDS = ROW_ID + EVM_WORDS

/** What the rows are read from. */
export interface PackedEntries {
  readonly size: number
  readonly hasIds: boolean
  isRow(entry: number): boolean
  /** Writes the row of an entry. */
  load(entry: number, row: Int32Array): void
  /** One of its words. */
  wordOf(entry: number, word: number): number
}

const CHUNK_BYTES = 1 << 16
/** More than a row and the text in it. */
const MAX_ROW_BYTES = 1024

/**
 * The entries that are rows, by ascending id, descending balance and ascending address. They are read when they are used:
 * ten million of them would take gigabytes.
 */
export class PackedRows implements Iterable<BalanceRow> {
  readonly length: number
  readonly #entries: PackedEntries
  /** Each has the number of the entry in its lower half, and a word by which it is sorted in the upper half. */
  readonly #longs: BigUint64Array
  readonly #halves: Uint32Array
  readonly #row = new Int32Array(ROW_WORDS)

  constructor(entries: PackedEntries) {
    this.#entries = entries
    let count = 0
    for (let entry = 0; entry < entries.size; entry += 1) if (entries.isRow(entry)) count += 1
    this.length = count
    this.#longs = new BigUint64Array(count)
    this.#halves = new Uint32Array(this.#longs.buffer)
    for (let entry = 0, at = 0; entry < entries.size; entry += 1) {
      if (!entries.isRow(entry)) continue
      this.#halves[at] = entry
      at += 2
    }
    this.#sort(0, count, (entries.hasIds ? ROW_WORDS : ROW_ID) - 1)
  }

  *[Symbol.iterator](): Generator<BalanceRow> {
    for (let index = 0; index < this.length; index += 1) yield this.row(index)
  }

  row(index: number): BalanceRow {
    this.#load(index)
    const limbs = new Limbs()
    return {
      address: addressAt(this.#row, 0),
      id: this.#entries.hasIds ? limbs.read(this.#row, ROW_ID, EVM_WORDS) : null,
      balance: limbs.read(this.#row, ROW_BALANCE, LIMBS),
    }
  }

  /** All rows as text, in chunks; numbers are decimal. */
  *text({ open, id, balance, close }: RowText): Generator<string> {
    const writer = new TextWriter()
    const [first, second, third, last] = [open, id, balance, close].map((text) => Buffer.from(text, 'latin1'))
    for (let index = 0; index < this.length; index += 1) {
      this.#load(index)
      writer.put(first)
      writer.address(this.#row)
      if (this.#entries.hasIds) {
        writer.put(second)
        writer.number(this.#row, ROW_ID, EVM_WORDS)
      }
      writer.put(third)
      writer.number(this.#row, ROW_BALANCE, LIMBS)
      writer.put(last)
      if (writer.end > CHUNK_BYTES - MAX_ROW_BYTES) yield writer.take()
    }
    yield writer.take()
  }

  #load(index: number): void {
    this.#entries.load(this.#halves[2 * index] ?? 0, this.#row)
  }

  /**
   * Sorts by one word, and rows with the same word by the next lower one. The built-in sort of numbers takes a tenth of the
   * time of one that calls a function for each comparison.
   */
  #sort(from: number, end: number, word: number): void {
    if (end - from < 2 || word < 0) return
    const halves = this.#halves
    const inverted = word < ROW_BALANCE || word >= ROW_ID ? 0 : word === ROW_ID - 1 ? 0x7fff_ffff : -1
    let differing = 0
    for (let at = from; at < end; at += 1) {
      halves[2 * at + 1] = this.#entries.wordOf(halves[2 * at] ?? 0, word) ^ inverted
      differing |= (halves[2 * at + 1] ?? 0) ^ (halves[2 * from + 1] ?? 0)
    }
    if (differing !== 0) this.#longs.subarray(from, end).sort()
    for (let start = from; start < end;) {
      let stop = start + 1
      while (stop < end && halves[2 * stop + 1] === halves[2 * start + 1]) stop += 1
      this.#sort(start, stop, word - 1)
      start = stop
    }
  }
}

/** The bytes of the two hex digits of each byte. */
const HEX = Uint16Array.from({ length: 256 }, (_, byte) =>
  Buffer.from(byte.toString(16).padStart(2, '0')).readUInt16BE(),
)
/** Decimal digits of a number of nine words, and more than its sign. */
const MAX_DIGITS = 96
const ZERO = 0x30
const MINUS = 0x2d
/** The largest power of ten with which each step of a division is exact. */
const BILLION = 1e9

class TextWriter {
  end = 0
  readonly #bytes = Buffer.alloc(CHUNK_BYTES)
  readonly #view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset)
  readonly #digits = new Uint8Array(MAX_DIGITS)
  /** The number that is written, in words of 16 bits. */
  readonly #parts = new Uint16Array(2 * LIMBS)

  put(text: Uint8Array | undefined): void {
    if (text === undefined) return
    for (let at = 0; at < text.length; at += 1) this.#bytes[this.end + at] = text[at] ?? 0
    this.end += text.length
  }

  take(): string {
    const text = this.#bytes.toString('latin1', 0, this.end)
    this.end = 0
    return text
  }

  address(row: Int32Array): void {
    this.#view.setUint16(this.end, 0x3078)
    this.end += 2
    for (let word = ROW_BALANCE - 1; word >= 0; word -= 1) {
      const bits = row[word] ?? 0
      this.#view.setUint32(this.end, ((HEX[bits >>> 24] ?? 0) << 16) | (HEX[(bits >>> 16) & 255] ?? 0))
      this.#view.setUint32(this.end + 4, ((HEX[(bits >>> 8) & 255] ?? 0) << 16) | (HEX[bits & 255] ?? 0))
      this.end += 8
    }
  }

  /** Writes a number in decimal; nine words have a sign. */
  number(row: Int32Array, at: number, count: number): void {
    const isNegative = count === LIMBS && (row[at + LIMBS - 1] ?? 0) < 0
    const parts = this.#parts
    const flip = isNegative ? -1 : 0
    let carry = -flip
    for (let word = 0; word < count; word += 1) {
      const value = (((row[at + word] ?? 0) ^ flip) >>> 0) + carry
      carry = value > 0xffff_ffff ? 1 : 0
      parts[2 * word] = value
      parts[2 * word + 1] = value >>> 16
    }
    let start = this.#divide(2 * count)
    if (isNegative) {
      start -= 1
      this.#digits[start] = MINUS
    }
    for (let digit = start; digit < MAX_DIGITS; digit += 1) {
      this.#bytes[this.end] = this.#digits[digit] ?? 0
      this.end += 1
    }
  }

  /** Writes the digits of the parts to the end of `#digits`, nine for each division; returns where they begin. */
  #divide(count: number): number {
    const parts = this.#parts
    const digits = this.#digits
    let start = MAX_DIGITS
    for (let length = count; length > 0 || start === MAX_DIGITS;) {
      let rest = 0
      for (let at = length - 1; at >= 0; at -= 1) {
        const part = rest * 0x1_0000 + (parts[at] ?? 0)
        const quotient = Math.floor(part / BILLION)
        parts[at] = quotient
        // An integer of 32 bits: the remainder of two doubles takes ten times as long.
        rest = (part - quotient * BILLION) | 0
      }
      while (length > 0 && parts[length - 1] === 0) length -= 1
      for (let digit = 0; digit < 9 && (length > 0 || rest > 0 || start === MAX_DIGITS); digit += 1) {
        start -= 1
        digits[start] = ZERO + (rest % 10)
        rest = (rest / 10) | 0
      }
    }
    return start
  }
}
