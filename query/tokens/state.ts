import type { Page } from '../client/types.ts'
import type { TokenLog } from './decode.ts'
import { addressAt, Limbs, putAddress } from './fast/packed-words.ts'
import type { EventName } from './signatures.ts'
import type { PackedRows } from './fast/packed-rows.ts'
import type { Interval, OutOfRange, StatCounter } from './types.ts'

/** Applies the logs of one page to the state and counts what only the state reveals, such as `inconsistent`. */
export type ApplyLogs = (stats: StatCounter) => void

/** The sum of the balances in the rows, and the number of those that have more than 256 bits. */
export interface Totals {
  readonly total: bigint
  readonly overflow: number
}

/** The balances or owners of one ledger, by the rules of one standard. */
export interface TokenState {
  /** Decodes all logs of a page. Changes nothing until the result is called. */
  prepare(logs: readonly TokenLog[], stats: StatCounter): ApplyLogs
  /** The same from the bytes of a page, without parsing it; undefined unless the page is plain. */
  scan(page: Page): ApplyLogs | undefined
  rows(): PackedRows
  totals(): Totals
  intervals(): readonly Interval[]
  /** The first balance that no contract can have had at the end of a block; null for ERC-721, and if there was none. */
  readonly outOfRange: OutOfRange | null
  /** ERC-721: the number of logs with the id in the data that were applied; 0 if the contract logs ids otherwise. */
  readonly unindexedIds: number
  /** ERC-20: whether the amounts may be the ids of an ERC-721 that does not index the id. */
  readonly mayBeIds: boolean
  /** ERC-20, and logs of ERC-721 with the id in the data: whether the event may index the id in the place of an address. */
  readonly mayIndexId: boolean
  /** Minted less burned: amounts of ERC-20 and ERC-1155, tokens of ERC-721. */
  readonly supply: bigint
  write(to: SnapshotWriter): void
  /** Call on an empty state only. */
  read(from: SnapshotReader): void
}

export interface StateOptions {
  readonly contract: string
  /** By topic0. */
  readonly events: ReadonlyMap<string, EventName>
  readonly fullHistory: boolean
}

export type OwnerEntry = readonly [id: bigint, owner: string]

/** Null in place of a number from 0 on. */
const NONE = -1

/** Writes numbers and addresses as 32-bit words. */
export class SnapshotWriter {
  #words = new Int32Array(1024)
  #count = 0
  readonly #limbs = new Limbs()

  big(value: bigint): void {
    this.#limbs.set(value)
    this.limbs(this.#limbs.words, 0, this.#limbs.words.length)
  }

  /** A number from 0 on, or null. */
  optional(value: number | null): void {
    this.big(BigInt(value ?? NONE))
  }

  /** A number of `length` words, the lowest first, without the words that only extend its sign. */
  limbs(words: Int32Array, at: number, length: number): void {
    const fill = (words[at + length - 1] ?? 0) < 0 ? -1 : 0
    let count = length
    while (count > 0 && words[at + count - 1] === fill) count -= 1
    this.#put(fill === 0 ? count : ~count)
    for (let word = 0; word < count; word += 1) this.#put(words[at + word] ?? 0)
  }

  address(address: string): void {
    this.#room(5)
    putAddress(address, this.#words, this.#count)
    this.#count += 5
  }

  addressWords(words: Int32Array, at: number): void {
    for (let word = 0; word < 5; word += 1) this.#put(words[at + word] ?? 0)
  }

  end(): Uint8Array {
    return new Uint8Array(this.#words.buffer, 0, this.#count * 4)
  }

  #put(word: number): void {
    this.#room(1)
    this.#words[this.#count] = word
    this.#count += 1
  }

  #room(more: number): void {
    if (this.#count + more <= this.#words.length) return
    const grown = new Int32Array(2 * this.#words.length)
    grown.set(this.#words)
    this.#words = grown
  }
}

/** Reads what a writer wrote. The checkpoint file shows whether the bytes are undamaged and of the same version and options. */
export class SnapshotReader {
  readonly #words: Int32Array
  #at = 0
  readonly #limbs = new Limbs()

  constructor(bytes: Uint8Array) {
    this.#words = new Int32Array(new Uint8Array(bytes).buffer)
  }

  isAtEnd(): boolean {
    return this.#at >= this.#words.length
  }

  big(): bigint {
    const head = this.#next()
    const [count, fill] = head < 0 ? [~head, -1] : [head, 0]
    for (let word = 0; word < this.#limbs.words.length; word += 1) {
      this.#limbs.words[word] = word < count ? this.#next() : fill
    }
    return this.#limbs.get()
  }

  optional(): number | null {
    const value = Number(this.big())
    return value === NONE ? null : value
  }

  address(): string {
    this.#at += 5
    return addressAt(this.#words, this.#at - 5)
  }

  #next(): number {
    this.#at += 1
    return this.#words[this.#at - 1] ?? 0
  }
}
