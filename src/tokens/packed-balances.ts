import { BalanceTable } from './balance-table.ts'
import { type BalanceEntry, type Balances } from './balances.ts'
import { HexReader } from './hex-reader.ts'
import { IdTable } from './id-table.ts'
import { type LogReader } from './log-reader.ts'
import { type PlainLogs } from './page-scanner.ts'
import { AMOUNT, FROM, ID, isZero, KEY, Rows, TO } from './rows.ts'
import { type EventName } from './signatures.ts'
import { type SnapshotWriter } from './snapshot.ts'

const WORD = 64

/** Balances in packed tables, and what fills them from a page's bytes. */
export class PackedBalances implements Balances, PlainLogs {
  readonly #events: readonly EventName[]
  /** Without, all is of the id 0, whose number is 0. */
  readonly #hasIds: boolean
  readonly #table = new BalanceTable()
  readonly #ids = new IdTable()
  readonly #rows = new Rows()
  readonly #hex = new HexReader()
  readonly #aside = new HexReader()
  /** Logs since `begin`. */
  logs = 0

  /** The events in the order of the topics that are scanned for. */
  constructor(events: readonly EventName[]) {
    this.#events = events
    this.#hasIds = events.includes('TransferSingle')
    this.#ids.numberOf(0n)
    this.#aside.words = new Int32Array(8)
  }

  add(address: string, id: bigint, amount: bigint): void {
    this.#table.add(address, this.#ids.numberOf(id), amount)
  }

  get(address: string, id: bigint): bigint {
    const key = this.#ids.knownNumberOf(id)
    return key === undefined ? 0n : this.#table.get(address, key)
  }

  hasNegative(): boolean {
    return this.#table.hasNegative()
  }

  *entries(): Generator<BalanceEntry> {
    for (const [address, key, balance] of this.#table.entries()) {
      yield [address, this.#ids.idOf(key), balance]
    }
  }

  write(to: SnapshotWriter): void {
    this.#table.write(to, (key) => to.big(this.#ids.idOf(key)))
  }

  begin(view: DataView): void {
    this.logs = 0
    this.#rows.count = 0
    this.#hex.view = view
    this.#hex.sound = true
    this.#aside.view = view
    this.#aside.sound = true
  }

  take(log: LogReader): boolean {
    this.logs += 1
    const event = this.#events[log.event]
    if (event === 'Transfer') return this.#transfer(log)
    if (event === 'TransferSingle') return this.#single(log)
    return event === 'TransferBatch' && this.#batch(log)
  }

  /** Books what was taken since `begin`; returns what it changes the supply by. */
  book(): bigint {
    const { words, end, step } = this.#rows
    for (let at = 0; this.#hasIds && at < end; at += step) {
      words[at + KEY] = this.#ids.numberAt(words, at + ID)
    }
    return this.#table.apply(this.#rows)
  }

  #transfer({ topic1, topic2, topic3, data, digits }: LogReader): boolean {
    if (topic1 === 0 || topic2 === 0 || topic3 !== 0 || digits !== WORD) return false
    const at = this.#row(topic1, topic2)
    this.#hex.read(data, at + AMOUNT, 8)
    return this.#hex.sound
  }

  #single({ topic1, topic2, topic3, data, digits }: LogReader): boolean {
    if (topic1 === 0 || topic2 === 0 || topic3 === 0 || digits !== 2 * WORD) return false
    const at = this.#row(topic2, topic3)
    this.#hex.read(data, at + ID, 8)
    this.#hex.read(data + WORD, at + AMOUNT, 8)
    return this.#hex.sound && this.#isHex(topic1)
  }

  /** In the form in which compilers write it: ids, then amounts, one right behind the other. */
  #batch({ topic1, topic2, topic3, data, digits }: LogReader): boolean {
    const count = (digits / WORD - 4) / 2
    if (topic1 === 0 || topic2 === 0 || topic3 === 0 || !Number.isInteger(count)) return false
    const ids = data + 2 * WORD
    const amounts = ids + (1 + count) * WORD
    const isPlain =
      count >= 0 &&
      this.#says(data, 64) &&
      this.#says(data + WORD, 64 + 32 * (1 + count)) &&
      this.#says(ids, count) &&
      this.#says(amounts, count)
    // An empty one has no row, whose reading would look at the addresses.
    const areSound = this.#isHex(topic1) && this.#isAddress(topic2) && this.#isAddress(topic3)
    if (!isPlain || !areSound) return false
    for (let item = 1; item <= count; item += 1) {
      const at = this.#row(topic2, topic3)
      this.#hex.read(ids + item * WORD, at + ID, 8)
      this.#hex.read(amounts + item * WORD, at + AMOUNT, 8)
    }
    return this.#hex.sound
  }

  #row(from: number, to: number): number {
    const at = this.#rows.add()
    this.#hex.words = this.#rows.words
    this.#hex.readAddress(from, at + FROM)
    this.#hex.readAddress(to, at + TO)
    return at
  }

  #isHex(position: number): boolean {
    this.#aside.read(position, 0, 8)
    return this.#aside.sound
  }

  #isAddress(position: number): boolean {
    this.#aside.readAddress(position, 0)
    return this.#aside.sound
  }

  #says(position: number, value: number): boolean {
    return (
      this.#isHex(position) && this.#aside.words[0] === value && isZero(this.#aside.words, 1, 7)
    )
  }
}
