import { Limbs } from './packed-words.ts'

const WORDS = 8

/** Numbers token ids from 0 in the order of their first use. Open addressing. */
export class IdTable {
  #ids = new Int32Array(16 * WORDS)
  /** The number of the id plus 1; 0 for an empty slot. */
  #slots = new Int32Array(64)
  #count = 0
  readonly #seed = Math.trunc(Math.random() * 2 ** 32)
  readonly #limbs = new Limbs()

  get size(): number {
    return this.#count
  }

  /** The number of the id of eight words at this offset; adds a new id. */
  numberAt(words: Int32Array, at: number): number {
    const slot = this.#slotOf(words, at)
    const found = this.#slots[slot] ?? 0
    if (found !== 0) return found - 1
    if (this.#count * WORDS === this.#ids.length) this.#grow()
    for (let word = 0; word < WORDS; word += 1) {
      this.#ids[this.#count * WORDS + word] = words[at + word] ?? 0
    }
    this.#count += 1
    this.#slots[this.#slotOf(words, at)] = this.#count
    return this.#count - 1
  }

  numberOf(id: bigint): number {
    this.#limbs.set(id)
    return this.numberAt(this.#limbs.words, 0)
  }

  /** Undefined for an unknown id. */
  knownNumberOf(id: bigint): number | undefined {
    this.#limbs.set(id)
    const found = this.#slots[this.#slotOf(this.#limbs.words, 0)] ?? 0
    return found === 0 ? undefined : found - 1
  }

  idOf(number: number): bigint {
    this.#limbs.copy(this.#ids, number * WORDS)
    // Clear the words that belong to the next id.
    this.#limbs.words.fill(0, WORDS)
    return this.#limbs.get()
  }

  #slotOf(words: Int32Array, at: number): number {
    const mask = this.#slots.length - 1
    let hash = this.#seed
    for (let word = at; word < at + WORDS; word += 1) {
      hash = Math.imul(hash ^ (words[word] ?? 0), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot] ?? 0
      if (found === 0 || this.#isAt(found - 1, words, at)) return slot
    }
  }

  #isAt(number: number, words: Int32Array, at: number): boolean {
    for (let word = 0; word < WORDS; word += 1) {
      if (this.#ids[number * WORDS + word] !== words[at + word]) return false
    }
    return true
  }

  #grow(): void {
    const ids = new Int32Array(2 * this.#ids.length)
    ids.set(this.#ids)
    this.#ids = ids
    this.#slots = new Int32Array(2 * this.#slots.length)
    for (let number = 0; number < this.#count; number += 1) {
      this.#slots[this.#slotOf(ids, number * WORDS)] = number + 1
    }
  }
}
