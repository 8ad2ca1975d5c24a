import type { Page } from '../../client/types.ts'
import type { EventName } from '../signatures.ts'
import type { BalanceEntry, Balances, SnapshotWriter } from '../state.ts'
import type { OutOfRange } from '../types.ts'
import { BalanceTable } from './balance-table.ts'
import { AMOUNT, BLOCK, FROM, HexReader, ID, IdTable, isZero, KEY, Rows, TO } from './packed-words.ts'
import { type FastPath, type LogConsumer, type LogReader, PageScanner } from './page-scanner.ts'

const WORD_DIGITS = 64

/** The blocks of a page that a word can count. */
const MAX_BLOCKS = 2 ** 31

export interface AppliedAmounts {
  /** The change of the supply. */
  readonly supply: bigint
  /** The first balance out of range of this table. */
  readonly outOfRange: OutOfRange | null
}

/** Balances in packed tables, filled from the bytes of pages. */
export class PackedBalances implements Balances, LogConsumer, FastPath<AppliedAmounts> {
  readonly #events: readonly EventName[]
  /** Without ids, all balances are of the id 0, whose number is 0. */
  readonly #hasIds: boolean
  readonly #table = new BalanceTable()
  readonly #ids = new IdTable()
  readonly #rows = new Rows()
  readonly #hex = new HexReader()
  /** Checks values that are not stored. */
  readonly #check = new HexReader()
  readonly #scanner: PageScanner
  /** The first block of the page. */
  #from = 0
  /** The block of the current log, counted from the first of the page. */
  #block = 0
  logs = 0

  /** `events` by topic0. */
  constructor(contract: string, events: ReadonlyMap<string, EventName>) {
    this.#events = [...events.values()]
    this.#scanner = new PageScanner(contract, [...events.keys()], this)
    this.#hasIds = this.#events.includes('TransferSingle')
    this.#ids.numberOf(0n)
    this.#check.words = new Int32Array(8)
  }

  add(address: string, id: bigint, amount: bigint): bigint {
    return this.#table.add(address, this.#ids.numberOf(id), amount)
  }

  get(address: string, id: bigint): bigint {
    const key = this.#ids.knownNumberOf(id)
    return key === undefined ? 0n : this.#table.get(address, key)
  }

  *entries(): Generator<BalanceEntry> {
    for (const [address, key, balance] of this.#table.entries()) {
      yield [address, this.#ids.idOf(key), balance]
    }
  }

  write(to: SnapshotWriter): void {
    this.#table.write(to, (key) => to.big(this.#ids.idOf(key)))
  }

  /** The rows of the scanned page. */
  get rows(): Rows {
    return this.#rows
  }

  scan(page: Page): boolean {
    this.#from = page.from
    return page.next - page.from <= MAX_BLOCKS && this.#scanner.scan(page)
  }

  begin(view: DataView): void {
    this.logs = 0
    this.#rows.count = 0
    this.#hex.view = view
    this.#hex.isValid = true
    this.#check.view = view
    this.#check.isValid = true
  }

  take(log: LogReader): boolean {
    this.logs += 1
    this.#block = log.block - this.#from
    const event = this.#events[log.event]
    if (event === 'Transfer') return this.#transfer(log)
    if (event === 'TransferSingle') return this.#single(log)
    return event === 'TransferBatch' && this.#batch(log)
  }

  apply(): AppliedAmounts {
    const { words, end, step } = this.#rows
    for (let at = 0; this.#hasIds && at < end; at += step) {
      words[at + KEY] = this.#ids.numberAt(words, at + ID)
    }
    const supply = this.#table.apply(this.#rows)
    const found = this.#table.outOfRange
    if (found === undefined) return { supply, outOfRange: null }
    const { address, key, balance, block } = found
    return { supply, outOfRange: { address, id: this.#ids.idOf(key), balance, block: this.#from + block } }
  }

  #transfer({ topic1, topic2, topic3, data, digits }: LogReader): boolean {
    if (topic1 === 0 || topic2 === 0 || topic3 !== 0 || digits !== WORD_DIGITS) return false
    const at = this.#row(topic1, topic2)
    this.#hex.read(data, at + AMOUNT, 8)
    return this.#hex.isValid
  }

  #single({ topic1, topic2, topic3, data, digits }: LogReader): boolean {
    if (topic1 === 0 || topic2 === 0 || topic3 === 0 || digits !== 2 * WORD_DIGITS) return false
    const at = this.#row(topic2, topic3)
    this.#hex.read(data, at + ID, 8)
    this.#hex.read(data + WORD_DIGITS, at + AMOUNT, 8)
    return this.#hex.isValid && this.#isHex(topic1)
  }

  /** Accepts only the layout that compilers produce: the ids, directly followed by the amounts. */
  #batch({ topic1, topic2, topic3, data, digits }: LogReader): boolean {
    const count = (digits / WORD_DIGITS - 4) / 2
    if (topic1 === 0 || topic2 === 0 || topic3 === 0 || !Number.isInteger(count)) return false
    const ids = data + 2 * WORD_DIGITS
    const amounts = ids + (1 + count) * WORD_DIGITS
    const isPlain =
      count >= 0 &&
      this.#hasValue(data, 64) &&
      this.#hasValue(data + WORD_DIGITS, 64 + 32 * (1 + count)) &&
      this.#hasValue(ids, count) &&
      this.#hasValue(amounts, count)
    // Checked here because an empty batch has no row.
    const areSound = this.#isHex(topic1) && this.#isAddress(topic2) && this.#isAddress(topic3)
    if (!isPlain || !areSound) return false
    for (let item = 1; item <= count; item += 1) {
      const at = this.#row(topic2, topic3)
      this.#hex.read(ids + item * WORD_DIGITS, at + ID, 8)
      this.#hex.read(amounts + item * WORD_DIGITS, at + AMOUNT, 8)
    }
    return this.#hex.isValid
  }

  #row(from: number, to: number): number {
    const at = this.#rows.add()
    this.#rows.words[at + BLOCK] = this.#block
    this.#hex.words = this.#rows.words
    this.#hex.readAddress(from, at + FROM)
    this.#hex.readAddress(to, at + TO)
    return at
  }

  #isHex(position: number): boolean {
    this.#check.read(position, 0, 8)
    return this.#check.isValid
  }

  #isAddress(position: number): boolean {
    this.#check.readAddress(position, 0)
    return this.#check.isValid
  }

  #hasValue(position: number, value: number): boolean {
    return this.#isHex(position) && this.#check.words[0] === value && isZero(this.#check.words, 1, 7)
  }
}
