import { Adder, addressAt, LIMBS, Limbs, putAddress } from './limbs.ts'
import { type SnapshotWriter } from './snapshot.ts'
import { AMOUNT, FROM, FROM_HASH, isZero, KEY, type Rows, TO, TO_HASH } from './rows.ts'

/** A line of the processor's cache: address (5 words), key of the id, mark of use, balance (9). */
const SLOT = 16
const SLOT_KEY = 5
const SLOT_USED = 6
const SLOT_BALANCE = 7

/** 4 GiB: as long as an array can be. */
const MOST_SLOTS = 2 ** 26
const FULLEST = 0.7

/** Balances by address and key, open-addressed. */
export class BalanceTable {
  #slots = new Int32Array(64 * SLOT)
  #mask = 63
  #used = 0
  // Anybody may send to addresses that would all fall into one place, if he knew where that is.
  readonly #seed = Math.trunc(Math.random() * 2 ** 32)
  #words = new Int32Array(0)
  /** Of no use to anybody; without it the look ahead would be left out as idle. */
  seen = 0
  readonly #supply = new Int32Array(LIMBS)
  readonly #adder = new Adder()
  readonly #limbs = new Limbs()
  readonly #address = new Int32Array(5)

  /** Books all rows, and returns what they change the supply by. */
  apply(rows: Rows): bigint {
    this.#reserve(2 * rows.count)
    this.#words = rows.words
    this.#adder.amounts = rows.words
    this.#locate(rows)
    this.#supply.fill(0)
    for (let at = 0; at < rows.end; at += rows.step) this.#book(at)
    this.#limbs.copy(this.#supply, 0)
    return this.#limbs.get()
  }

  add(address: string, key: number, amount: bigint): void {
    const at = this.#balanceOf(address, key)
    this.#limbs.copy(this.#slots, at)
    this.#limbs.set(this.#limbs.get() + amount)
    this.#slots.set(this.#limbs.words.subarray(0, LIMBS), at)
  }

  get(address: string, key: number): bigint {
    const at = this.#balanceOf(address, key)
    this.#limbs.copy(this.#slots, at)
    return this.#limbs.get()
  }

  /** By the signs alone: as cheap as can be for many. */
  hasNegative(): boolean {
    const slots = this.#slots
    for (let at = SLOT_BALANCE + LIMBS - 1; at < slots.length; at += SLOT) {
      if ((slots[at] ?? 0) < 0) return true
    }
    return false
  }

  /** Those that are not 0, in no order. */
  *entries(): Generator<readonly [address: string, key: number, balance: bigint]> {
    const slots = this.#slots
    for (let slot = 0; slot < slots.length; slot += SLOT) {
      if (isZero(slots, slot + SLOT_BALANCE, LIMBS)) continue
      this.#limbs.copy(slots, slot + SLOT_BALANCE)
      yield [addressAt(slots, slot), slots[slot + SLOT_KEY] ?? 0, this.#limbs.get()]
    }
  }

  /** As `entries`; `writeKey` writes what a key stands for. */
  write(to: SnapshotWriter, writeKey: (key: number) => void): void {
    const slots = this.#slots
    for (let slot = 0; slot < slots.length; slot += SLOT) {
      if (isZero(slots, slot + SLOT_BALANCE, LIMBS)) continue
      to.addressWords(slots, slot)
      writeKey(slots[slot + SLOT_KEY] ?? 0)
      to.limbs(slots, slot + SLOT_BALANCE, LIMBS)
    }
  }

  /** Where the balance stands. */
  #balanceOf(address: string, key: number): number {
    this.#reserve(1)
    this.#words = this.#address
    putAddress(address, this.#words, 0)
    return this.#find(0, this.#hash(0, key), key) + SLOT_BALANCE
  }

  #book(at: number): void {
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

  /** Where each will be looked for. To look there once, all at the same time, is what brings it into the cache. */
  #locate(rows: Rows): void {
    const words = this.#words
    let seen = 0
    for (let at = 0; at < rows.end; at += rows.step) {
      const key = words[at + KEY] ?? 0
      const from = this.#hash(at + FROM, key)
      const to = this.#hash(at + TO, key)
      words[at + FROM_HASH] = from
      words[at + TO_HASH] = to
      seen ^=
        (this.#slots[(from & this.#mask) * SLOT] ?? 0) ^
        (this.#slots[(to & this.#mask) * SLOT] ?? 0)
    }
    this.seen = seen
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

  /** The slot of the address at this word; a new one where it has none yet. */
  #find(at: number, hash: number, key: number): number {
    const words = this.#words
    const slots = this.#slots
    const a = words[at] ?? 0
    const b = words[at + 1] ?? 0
    const c = words[at + 2] ?? 0
    const d = words[at + 3] ?? 0
    const e = words[at + 4] ?? 0
    for (let place = hash & this.#mask; ; place = (place + 1) & this.#mask) {
      const slot = place * SLOT
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
    while (this.#used + more > count * FULLEST) count *= 2
    if (count === this.#mask + 1) return
    if (count > MOST_SLOTS) throw new Error(`more than ${this.#used} balances: no room for them`)
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
