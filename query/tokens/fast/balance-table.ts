import type { SnapshotWriter } from '../state.ts'
import {
  Adder,
  addressAt,
  AMOUNT,
  BLOCK,
  FROM,
  FROM_HASH,
  isZero,
  KEY,
  LIMBS,
  Limbs,
  putAddress,
  type Rows,
  TO,
  TO_HASH,
} from './packed-words.ts'

/** A slot is one CPU cache line: address (5 words), number of the id, used flag, balance (9 words). */
const SLOT = 16
const SLOT_KEY = 5
const SLOT_USED = 6
const SLOT_BALANCE = 7
/** The highest word of the balance: 0 from 0 to 2^256 - 1, which is all that a contract can store. */
const SLOT_TOP = SLOT_BALANCE + LIMBS - 1

/** 4 GiB, the maximum length of a typed array. */
const MAX_SLOTS = 2 ** 26
const MAX_LOAD = 0.7

interface PackedOutOfRange {
  readonly address: string
  readonly key: number
  readonly balance: bigint
  /** As in the rows. */
  readonly block: number
}

/** Balances by address and number of the id, in a hash table with open addressing. */
export class BalanceTable {
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

  /** Slots whose balance went out of range in the current block. */
  readonly #doubtful: number[] = []
  #block = 0
  #outOfRange: PackedOutOfRange | undefined

  /** The first balance that was below 0 or more than 256 bits at the end of a block in `apply`. */
  get outOfRange(): PackedOutOfRange | undefined {
    return this.#outOfRange
  }

  /** Applies all rows, which must be of whole blocks. Returns the change of the supply. */
  apply(rows: Rows): bigint {
    this.#reserve(2 * rows.count)
    this.#words = rows.words
    this.#adder.amounts = rows.words
    this.#prefetch(rows)
    this.#supply.fill(0)
    for (let at = 0; at < rows.end; at += rows.step) {
      if (this.#doubtful.length > 0 && rows.words[at + BLOCK] !== this.#block) this.#endBlock()
      this.#applyRow(at)
    }
    this.#endBlock()
    this.#limbs.copy(this.#supply, 0)
    return this.#limbs.get()
  }

  /** Returns the new balance. */
  add(address: string, key: number, amount: bigint): bigint {
    const at = this.#offsetOf(address, key)
    this.#limbs.copy(this.#slots, at)
    const balance = this.#limbs.get() + amount
    this.#limbs.set(balance)
    this.#slots.set(this.#limbs.words.subarray(0, LIMBS), at)
    return balance
  }

  get(address: string, key: number): bigint {
    const at = this.#offsetOf(address, key)
    this.#limbs.copy(this.#slots, at)
    return this.#limbs.get()
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
      if (this.#slots[slot + SLOT_TOP] !== 0) this.#doubt(slot, at)
    }
    if (isZero(words, at + TO, 5)) this.#adder.subtract(this.#supply, 0, at + AMOUNT)
    else {
      const slot = this.#find(at + TO, words[at + TO_HASH] ?? 0, key)
      this.#adder.add(this.#slots, slot + SLOT_BALANCE, at + AMOUNT)
      if (this.#slots[slot + SLOT_TOP] !== 0) this.#doubt(slot, at)
    }
  }

  #doubt(slot: number, at: number): void {
    if (this.#outOfRange !== undefined) return
    this.#block = this.#words[at + BLOCK] ?? 0
    this.#doubtful.push(slot)
  }

  #endBlock(): void {
    const slots = this.#slots
    const slot = this.#doubtful.find((one) => slots[one + SLOT_TOP] !== 0)
    this.#doubtful.length = 0
    if (slot === undefined) return
    this.#limbs.copy(slots, slot + SLOT_BALANCE)
    this.#outOfRange = {
      address: addressAt(slots, slot),
      key: slots[slot + SLOT_KEY] ?? 0,
      balance: this.#limbs.get(),
      block: this.#block,
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
