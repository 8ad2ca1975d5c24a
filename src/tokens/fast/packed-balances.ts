import type { Page } from '../../query/client/types.ts'
import type { EventName } from '../signatures.ts'
import type { BalanceEntry, Balances, SnapshotWriter } from '../state.ts'
import {
  Adder,
  addressAt,
  AMOUNT,
  FROM,
  FROM_HASH,
  HexReader,
  ID,
  IdTable,
  isZero,
  KEY,
  LIMBS,
  Limbs,
  putAddress,
  Rows,
  TO,
  TO_HASH,
} from './packed-words.ts'
import { type FastPath, type LogConsumer, type LogReader, PageScanner } from './page-scanner.ts'

const WORD_DIGITS = 64

/** Balances in packed tables, filled from the bytes of pages. */
export class PackedBalances implements Balances, LogConsumer, FastPath<bigint> {
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
  logs = 0

  /** `events` by topic0. */
  constructor(contract: string, events: ReadonlyMap<string, EventName>) {
    this.#events = [...events.values()]
    this.#scanner = new PageScanner(contract, [...events.keys()], this)
    this.#hasIds = this.#events.includes('TransferSingle')
    this.#ids.numberOf(0n)
    this.#check.words = new Int32Array(8)
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

  scan(page: Page): boolean {
    return this.#scanner.scan(page)
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
    const event = this.#events[log.event]
    if (event === 'Transfer') return this.#transfer(log)
    if (event === 'TransferSingle') return this.#single(log)
    return event === 'TransferBatch' && this.#batch(log)
  }

  /** Returns the change of the supply. */
  apply(): bigint {
    const { words, end, step } = this.#rows
    for (let at = 0; this.#hasIds && at < end; at += step) {
      words[at + KEY] = this.#ids.numberAt(words, at + ID)
    }
    return this.#table.apply(this.#rows)
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

/** A slot is one CPU cache line: address (5 words), number of the id, used flag, balance (9 words). */
const SLOT = 16
const SLOT_KEY = 5
const SLOT_USED = 6
const SLOT_BALANCE = 7

/** 4 GiB, the maximum length of a typed array. */
const MAX_SLOTS = 2 ** 26
const MAX_LOAD = 0.7

/** Balances by address and number of the id, in a hash table with open addressing. */
class BalanceTable {
  #slots = new Int32Array(64 * SLOT)
  #mask = 63
  #used = 0
  // Random, so that an attacker cannot choose recipient addresses that collide.
  readonly #seed = Math.trunc(Math.random() * 2 ** 32)
  #words = new Int32Array(0)
  /** Written only so that the compiler does not remove the prefetching reads. */
  prefetched = 0
  readonly #supply = new Int32Array(LIMBS)
  readonly #adder = new Adder()
  readonly #limbs = new Limbs()
  readonly #address = new Int32Array(5)

  /** Applies all rows. Returns the change of the supply. */
  apply(rows: Rows): bigint {
    this.#reserve(2 * rows.count)
    this.#words = rows.words
    this.#adder.amounts = rows.words
    this.#prefetch(rows)
    this.#supply.fill(0)
    for (let at = 0; at < rows.end; at += rows.step) this.#applyRow(at)
    this.#limbs.copy(this.#supply, 0)
    return this.#limbs.get()
  }

  add(address: string, key: number, amount: bigint): void {
    const at = this.#offsetOf(address, key)
    this.#limbs.copy(this.#slots, at)
    this.#limbs.set(this.#limbs.get() + amount)
    this.#slots.set(this.#limbs.words.subarray(0, LIMBS), at)
  }

  get(address: string, key: number): bigint {
    const at = this.#offsetOf(address, key)
    this.#limbs.copy(this.#slots, at)
    return this.#limbs.get()
  }

  /** Reads only the sign of each balance. */
  hasNegative(): boolean {
    const slots = this.#slots
    for (let at = SLOT_BALANCE + LIMBS - 1; at < slots.length; at += SLOT) {
      if ((slots[at] ?? 0) < 0) return true
    }
    return false
  }

  /** The balances other than 0, in no order. */
  *entries(): Generator<readonly [address: string, key: number, balance: bigint]> {
    const slots = this.#slots
    for (let slot = 0; slot < slots.length; slot += SLOT) {
      if (isZero(slots, slot + SLOT_BALANCE, LIMBS)) continue
      this.#limbs.copy(slots, slot + SLOT_BALANCE)
      yield [addressAt(slots, slot), slots[slot + SLOT_KEY] ?? 0, this.#limbs.get()]
    }
  }

  /** Writes the entries; `writeKey` must write the id of a number. */
  write(to: SnapshotWriter, writeKey: (key: number) => void): void {
    const slots = this.#slots
    for (let slot = 0; slot < slots.length; slot += SLOT) {
      if (isZero(slots, slot + SLOT_BALANCE, LIMBS)) continue
      to.addressWords(slots, slot)
      writeKey(slots[slot + SLOT_KEY] ?? 0)
      to.limbs(slots, slot + SLOT_BALANCE, LIMBS)
    }
  }

  /** The offset of the balance; adds a slot for a new address. */
  #offsetOf(address: string, key: number): number {
    this.#reserve(1)
    this.#words = this.#address
    putAddress(address, this.#words, 0)
    return this.#find(0, this.#hash(0, key), key) + SLOT_BALANCE
  }

  #applyRow(at: number): void {
    const words = this.#words
    if (isZero(words, at + AMOUNT, 8) || isSelf(words, at)) return
    const key = words[at + KEY] ?? 0
    if (isZero(words, at + FROM, 5)) this.#adder.add(this.#supply, 0, at + AMOUNT)
    else {
      const slot = this.#find(at + FROM, words[at + FROM_HASH] ?? 0, key)
      this.#adder.subtract(this.#slots, slot + SLOT_BALANCE, at + AMOUNT)
    }
    if (isZero(words, at + TO, 5)) this.#adder.subtract(this.#supply, 0, at + AMOUNT)
    else {
      const slot = this.#find(at + TO, words[at + TO_HASH] ?? 0, key)
      this.#adder.add(this.#slots, slot + SLOT_BALANCE, at + AMOUNT)
    }
  }

  /** Computes the hash of each row and reads its slots, which loads them into the CPU cache in parallel. */
  #prefetch(rows: Rows): void {
    const words = this.#words
    let prefetched = 0
    for (let at = 0; at < rows.end; at += rows.step) {
      const key = words[at + KEY] ?? 0
      const from = this.#hash(at + FROM, key)
      const to = this.#hash(at + TO, key)
      words[at + FROM_HASH] = from
      words[at + TO_HASH] = to
      prefetched ^= (this.#slots[(from & this.#mask) * SLOT] ?? 0) ^ (this.#slots[(to & this.#mask) * SLOT] ?? 0)
    }
    this.prefetched = prefetched
  }

  #hash(at: number, key: number): number {
    const words = this.#words
    let hash = this.#seed ^ key
    for (let word = at; word < at + 5; word += 1) {
      hash = Math.imul(hash ^ (words[word] ?? 0), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    return hash
  }

  /** The slot of the address at this offset; adds one for a new address. */
  #find(at: number, hash: number, key: number): number {
    const words = this.#words
    const slots = this.#slots
    const a = words[at] ?? 0
    const b = words[at + 1] ?? 0
    const c = words[at + 2] ?? 0
    const d = words[at + 3] ?? 0
    const e = words[at + 4] ?? 0
    for (let index = hash & this.#mask; ; index = (index + 1) & this.#mask) {
      const slot = index * SLOT
      if (slots[slot + SLOT_USED] === 0) {
        this.#used += 1
        for (let word = 0; word < 5; word += 1) slots[slot + word] = words[at + word] ?? 0
        slots[slot + SLOT_KEY] = key
        slots[slot + SLOT_USED] = 1
        return slot
      }
      if (
        slots[slot] === a &&
        slots[slot + 1] === b &&
        slots[slot + 2] === c &&
        slots[slot + 3] === d &&
        slots[slot + 4] === e &&
        slots[slot + SLOT_KEY] === key
      ) {
        return slot
      }
    }
  }

  #reserve(more: number): void {
    let count = this.#mask + 1
    while (this.#used + more > count * MAX_LOAD) count *= 2
    if (count === this.#mask + 1) return
    if (count > MAX_SLOTS) throw new Error(`more than ${this.#used} balances do not fit in the table`)
    const old = this.#slots
    this.#slots = new Int32Array(count * SLOT)
    this.#mask = count - 1
    this.#used = 0
    this.#words = old
    for (let slot = 0; slot < old.length; slot += SLOT) {
      if (isZero(old, slot + SLOT_BALANCE, LIMBS)) continue
      const key = old[slot + SLOT_KEY] ?? 0
      const found = this.#find(slot, this.#hash(slot, key), key)
      for (let word = SLOT_BALANCE; word < SLOT; word += 1) {
        this.#slots[found + word] = old[slot + word] ?? 0
      }
    }
  }
}

const isSelf = (words: Int32Array, at: number): boolean => {
  for (let word = at; word < at + 5; word += 1) {
    if (words[word + FROM] !== words[word + TO]) return false
  }
  return true
}
