import { Limbs } from './limbs.ts'

const WORDS = 8

/** Token ids, numbered from 0 in the order in which they came. */
export class IdTable {
  #ids = new Int32Array(16 * WORDS)
  /** The id's number and 1; 0 is a free place. */
  #places = new Int32Array(64)
  #count = 0
  readonly #seed = Math.trunc(Math.random() * 2 ** 32)
  readonly #limbs = new Limbs()

  get size(): number {
    return this.#count
  }

  /** The number of the id of eight words that stands here. */
  numberAt(words: Int32Array, at: number): number {
    const place = this.#place(words, at)
    const found = this.#places[place] ?? 0
    if (found !== 0) return found - 1
    if (this.#count * WORDS === this.#ids.length) this.#grow()
    for (let word = 0; word < WORDS; word += 1) {
      this.#ids[this.#count * WORDS + word] = words[at + word] ?? 0
    }
    this.#count += 1
    this.#places[this.#place(words, at)] = this.#count
    return this.#count - 1
  }

  numberOf(id: bigint): number {
    this.#limbs.set(id)
    return this.numberAt(this.#limbs.words, 0)
  }

  /** Undefined where it never came. */
  knownNumberOf(id: bigint): number | undefined {
    this.#limbs.set(id)
    const found = this.#places[this.#place(this.#limbs.words, 0)] ?? 0
    return found === 0 ? undefined : found - 1
  }

  idOf(number: number): bigint {
    this.#limbs.copy(this.#ids, number * WORDS)
    // What follows in the array is the next id's.
    this.#limbs.words.fill(0, WORDS)
    return this.#limbs.get()
  }

  #place(words: Int32Array, at: number): number {
    const mask = this.#places.length - 1
    let hash = this.#seed
    for (let word = at; word < at + WORDS; word += 1) {
      hash = Math.imul(hash ^ (words[word] ?? 0), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const found = this.#places[place] ?? 0
      if (found === 0 || this.#isAt(found - 1, words, at)) return place
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
    this.#places = new Int32Array(2 * this.#places.length)
    for (let number = 0; number < this.#count; number += 1) {
      this.#places[this.#place(ids, number * WORDS)] = number + 1
    }
  }
}
