/** The number of entries of a segment. A segment is never moved: a table of ten million entries is not copied when it grows. */
const SEGMENT_BITS = 12
const SEGMENT = 1 << SEGMENT_BITS
const NO_SEGMENT = new Int32Array(0)

/** 2 GiB of index. */
const MAX_SLOTS = 2 ** 28
const MAX_LOAD = 0.7

/**
 * Entries of a fixed number of words, each with a key and a value, numbered from 0 in the order of their first use. An
 * index with open addressing has the hash of each key, so that a search reads no entry with another hash.
 */
export class WordTable {
  /** The number of entries. */
  size = 0
  readonly #keyWords: number
  readonly #stride: number
  readonly #segments: Int32Array[] = []
  /** Two words per slot: the hash, and the number of the entry plus 1; 0 for an empty slot. */
  #index = new Int32Array(2 * 64)
  #mask = 63
  // Random, so that an attacker cannot choose recipient addresses that collide.
  readonly #seed = Math.trunc(Math.random() * 2 ** 32)

  constructor(keyWords: number, valueWords: number) {
    this.#keyWords = keyWords
    this.#stride = keyWords + valueWords
  }

  /** The words that contain an entry; it begins with its key at `offsetOf`. */
  segmentOf(entry: number): Int32Array {
    return this.#segments[entry >>> SEGMENT_BITS] ?? NO_SEGMENT
  }

  offsetOf(entry: number): number {
    return (entry & (SEGMENT - 1)) * this.#stride
  }

  hashOf(words: Int32Array, at: number): number {
    let hash = this.#seed
    for (let word = at; word < at + this.#keyWords; word += 1) {
      hash = Math.imul(hash ^ (words[word] ?? 0), 0x9e37_79b1)
      hash ^= hash >>> 15
    }
    return hash
  }

  /** Reads the slot of a hash, which loads it into the CPU cache. */
  prefetchSlot(hash: number): number {
    return this.#index[2 * (hash & this.#mask)] ?? 0
  }

  /** Reads the entry in that slot. */
  prefetchEntry(hash: number): number {
    const entry = (this.#index[2 * (hash & this.#mask) + 1] ?? 0) - 1
    return this.segmentOf(entry)[this.offsetOf(entry)] ?? 0
  }

  /** The number of the entry with the key at this offset; adds one for a new key. */
  entryOf(words: Int32Array, at: number, hash = this.hashOf(words, at)): number {
    const slot = this.#slotOf(words, at, hash)
    const found = this.#index[slot + 1] ?? 0
    if (found !== 0) return found - 1
    const entry = this.size
    this.size += 1
    this.#index[slot] = hash
    this.#index[slot + 1] = this.size
    if ((entry & (SEGMENT - 1)) === 0) this.#segments.push(new Int32Array(SEGMENT * this.#stride))
    const segment = this.segmentOf(entry)
    const offset = this.offsetOf(entry)
    for (let word = 0; word < this.#keyWords; word += 1) segment[offset + word] = words[at + word] ?? 0
    if (this.size > MAX_LOAD * this.#mask) this.#grow()
    return entry
  }

  /** Undefined for an unknown key. */
  knownEntryOf(words: Int32Array, at: number): number | undefined {
    const found = this.#index[this.#slotOf(words, at, this.hashOf(words, at)) + 1] ?? 0
    return found === 0 ? undefined : found - 1
  }

  /** The offset of the slot with the key, or of the empty slot for it. */
  #slotOf(words: Int32Array, at: number, hash: number): number {
    const index = this.#index
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const found = index[2 * slot + 1] ?? 0
      if (found === 0 || (index[2 * slot] === hash && this.#hasKey(found - 1, words, at))) return 2 * slot
    }
  }

  #hasKey(entry: number, words: Int32Array, at: number): boolean {
    const segment = this.segmentOf(entry)
    const offset = this.offsetOf(entry)
    for (let word = 0; word < this.#keyWords; word += 1) {
      if (segment[offset + word] !== words[at + word]) return false
    }
    return true
  }

  #grow(): void {
    const old = this.#index
    if (old.length === 2 * MAX_SLOTS) throw new Error(`more than ${this.size} entries do not fit in the table`)
    const index = new Int32Array(2 * old.length)
    const mask = old.length - 1
    for (let from = 0; from < old.length; from += 2) {
      if (old[from + 1] === 0) continue
      let slot = (old[from] ?? 0) & mask
      while (index[2 * slot + 1] !== 0) slot = (slot + 1) & mask
      index[2 * slot] = old[from] ?? 0
      index[2 * slot + 1] = old[from + 1] ?? 0
    }
    this.#index = index
    this.#mask = mask
  }
}
