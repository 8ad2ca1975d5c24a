import type { Page } from '../../client/types.ts'
import type { EventName } from '../signatures.ts'
import { ADDRESS_WORDS, EVM_WORDS, FROM, HexReader, ID_NUMBER, isZero, Rows, TO, VALUE } from './packed-words.ts'
import { type LogConsumer, type LogReader, PageScanner } from './page-scanner.ts'

/** With 0x. */
const ADDRESS_DIGITS = 42
const WORD_DIGITS = 64

interface TransferReaderOptions {
  readonly contract: string
  /** By topic0. */
  readonly events: ReadonlyMap<string, EventName>
  /** The number of the id in eight words; undefined for ERC-721, whose ids are the values of the rows. */
  readonly numberOf: ((words: Int32Array, at: number) => number) | undefined
}

/** Reads transfers in the plain form of their standard from the bytes of a page into rows. */
export class TransferReader implements LogConsumer {
  readonly rows = new Rows()
  logs = 0
  readonly #events: readonly EventName[]
  readonly #numberOf: TransferReaderOptions['numberOf']
  readonly #hex = new HexReader()
  /** Values that are not stored. */
  readonly #other = new Int32Array(EVM_WORDS)
  readonly #scanner: PageScanner
  /** The digits of one decoded transfer. */
  readonly #text = Buffer.alloc(2 * (ADDRESS_DIGITS + WORD_DIGITS))
  #block = 0

  constructor({ contract, events, numberOf }: TransferReaderOptions) {
    this.#events = [...events.values()]
    this.#numberOf = numberOf
    this.#scanner = new PageScanner(contract, [...events.keys()], this)
  }

  /** False if the page is not plain: then it must be parsed. */
  read(page: Page): boolean {
    return this.#scanner.scan(page)
  }

  /** Call before `add`. */
  clear(): void {
    this.begin(new DataView(this.#text.buffer, this.#text.byteOffset, this.#text.length))
  }

  begin(view: DataView): void {
    this.logs = 0
    this.rows.count = 0
    this.#hex.view = view
    this.#hex.isValid = true
  }

  /** Adds a decoded transfer. The text is the sender and the recipient with 0x, the id and the amount. */
  add(block: number, text: string): void {
    this.#text.write(text, 'latin1')
    const row = this.rows.add(block)
    this.#hex.words = this.rows.words
    this.#hex.read(2, row + FROM, ADDRESS_WORDS)
    this.#hex.read(ADDRESS_DIGITS + 2, row + TO, ADDRESS_WORDS)
    this.#hex.read(2 * ADDRESS_DIGITS + WORD_DIGITS, row + VALUE, EVM_WORDS)
    this.#setId(row, 2 * ADDRESS_DIGITS)
  }

  take(log: LogReader): boolean {
    this.logs += 1
    this.#block = log.block
    switch (this.#events[log.event]) {
      case 'Transfer':
        return this.#numberOf === undefined ? this.#token(log) : this.#amount(log)
      case 'TransferSingle':
        return this.#single(log)
      case 'TransferBatch':
        return this.#batch(log)
      default:
        return false
    }
  }

  #token({ topic1, topic2, topic3, data, digits }: LogReader): boolean {
    if (topic1 === 0 || topic2 === 0 || topic3 === 0 || data === 0 || digits !== 0) return false
    this.#row(topic1, topic2, topic3)
    return this.#hex.isValid
  }

  #amount({ topic1, topic2, topic3, data, digits }: LogReader): boolean {
    if (topic1 === 0 || topic2 === 0 || topic3 !== 0 || digits !== WORD_DIGITS) return false
    this.#row(topic1, topic2, data)
    return this.#hex.isValid
  }

  #single({ topic1, topic2, topic3, data, digits }: LogReader): boolean {
    if (topic1 === 0 || topic2 === 0 || topic3 === 0 || digits !== 2 * WORD_DIGITS) return false
    this.#setId(this.#row(topic2, topic3, data + WORD_DIGITS), data)
    return this.#isHex(topic1)
  }

  /** Accepts only the layout that compilers produce: the ids, directly followed by the amounts. */
  #batch({ topic1, topic2, topic3, data, digits }: LogReader): boolean {
    const count = (digits / WORD_DIGITS - 4) / 2
    if (topic1 === 0 || topic2 === 0 || topic3 === 0 || !Number.isInteger(count) || count < 0) return false
    const ids = data + 2 * WORD_DIGITS
    const amounts = ids + (1 + count) * WORD_DIGITS
    const isPlain =
      this.#hasValue(data, 64) &&
      this.#hasValue(data + WORD_DIGITS, 64 + 32 * (1 + count)) &&
      this.#hasValue(ids, count) &&
      this.#hasValue(amounts, count)
    if (!isPlain) return false
    // Read here because an empty batch has no row.
    this.#row(topic2, topic3, topic1)
    this.rows.count -= 1
    for (let item = 1; item <= count; item += 1) {
      const row = this.#row(topic2, topic3, amounts + item * WORD_DIGITS)
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
}
