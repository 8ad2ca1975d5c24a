import type { OwnerEntry } from '../state.ts'
import { type PackedEntries, ROW_BALANCE, ROW_ID } from './packed-rows.ts'
import { ADDRESS_WORDS, addressAt, EVM_WORDS, FROM, isZero, Limbs, putAddress, TO, VALUE } from './packed-words.ts'
import { WordTable } from './word-table.ts'

/** After the id: the address of its owner, and 1 if the owner is known. */
const OWNER = EVM_WORDS
const KNOWN = OWNER + ADDRESS_WORDS

/** The owner of each token id that was transferred on its own; the zero address after a burn. */
export class OwnerTable implements PackedEntries {
  readonly hasIds = true
  readonly #fullHistory: boolean
  #entries = new WordTable(EVM_WORDS, ADDRESS_WORDS + 1)
  readonly #limbs = new Limbs()

  constructor(fullHistory: boolean) {
    this.#fullHistory = fullHistory
  }

  /** At least the number of known ids. */
  get size(): number {
    return this.#entries.size
  }

  isRow(entry: number): boolean {
    return (
      this.#isKnown(entry) &&
      !isZero(this.#entries.segmentOf(entry), this.#entries.offsetOf(entry) + OWNER, ADDRESS_WORDS)
    )
  }

  load(entry: number, row: Int32Array): void {
    const words = this.#entries.segmentOf(entry)
    const at = this.#entries.offsetOf(entry)
    row.set(words.subarray(at + OWNER, at + KNOWN))
    row[ROW_BALANCE] = 1
    row.set(words.subarray(at, at + EVM_WORDS), ROW_ID)
  }

  wordOf(entry: number, word: number): number {
    const at = this.#entries.offsetOf(entry)
    if (word >= ROW_BALANCE && word < ROW_ID) return word === ROW_BALANCE ? 1 : 0
    return this.#entries.segmentOf(entry)[at + word + (word < ROW_BALANCE ? OWNER : -ROW_ID)] ?? 0
  }

  get(id: bigint): string | undefined {
    this.#limbs.set(id)
    const entry = this.#entries.knownEntryOf(this.#limbs.words, 0)
    return entry === undefined || !this.#isKnown(entry) ? undefined : this.#ownerOf(entry)
  }

  set(id: bigint, owner: string): void {
    this.#limbs.set(id)
    const entry = this.#entries.entryOf(this.#limbs.words, 0)
    const words = this.#entries.segmentOf(entry)
    const at = this.#entries.offsetOf(entry)
    putAddress(owner, words, at + OWNER)
    words[at + KNOWN] = 1
  }

  delete(id: bigint): void {
    this.#limbs.set(id)
    const entry = this.#entries.knownEntryOf(this.#limbs.words, 0)
    if (entry !== undefined) this.#entries.segmentOf(entry)[this.#entries.offsetOf(entry) + KNOWN] = 0
  }

  clear(): void {
    this.#entries = new WordTable(EVM_WORDS, ADDRESS_WORDS + 1)
  }

  *entries(): Generator<OwnerEntry> {
    for (let entry = 0; entry < this.size; entry += 1) {
      if (!this.#isKnown(entry)) continue
      const id = this.#limbs.read(this.#entries.segmentOf(entry), this.#entries.offsetOf(entry), EVM_WORDS)
      yield [id, this.#ownerOf(entry)]
    }
  }

  /**
   * Applies a row; its value is the id. Returns whether the sender was the known owner. With the full history, an id
   * without an owner can only be minted.
   */
  move(words: Int32Array, row: number): boolean {
    const entry = this.#entries.entryOf(words, row + VALUE)
    const isOwner = this.#isKnown(entry)
      ? this.#isOwner(entry, words, row + FROM)
      : !this.#fullHistory || isZero(words, row + FROM, ADDRESS_WORDS)
    const segment = this.#entries.segmentOf(entry)
    const owner = this.#entries.offsetOf(entry) + OWNER
    for (let word = 0; word < ADDRESS_WORDS; word += 1) segment[owner + word] = words[row + TO + word] ?? 0
    segment[owner + ADDRESS_WORDS] = 1
    return isOwner
  }

  #isKnown(entry: number): boolean {
    return this.#entries.segmentOf(entry)[this.#entries.offsetOf(entry) + KNOWN] === 1
  }

  #ownerOf(entry: number): string {
    return addressAt(this.#entries.segmentOf(entry), this.#entries.offsetOf(entry) + OWNER)
  }

  #isOwner(entry: number, words: Int32Array, at: number): boolean {
    const segment = this.#entries.segmentOf(entry)
    const owner = this.#entries.offsetOf(entry) + OWNER
    for (let word = 0; word < ADDRESS_WORDS; word += 1) {
      if (segment[owner + word] !== words[at + word]) return false
    }
    return true
  }
}
