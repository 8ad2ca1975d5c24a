import type { Page } from '../../client/types.ts'
import { addressAt, FROM, HexReader, ID, IdTable, isZero, putAddress, Rows, TO } from './packed-words.ts'
import { type FastPath, type LogConsumer, type LogReader, PageScanner } from './page-scanner.ts'
import type { OwnerEntry, Owners } from '../state.ts'
import { type EventName } from '../signatures.ts'

/** Per id: the address of its owner (5 words), and 1 if the owner is known. */
const OWNER_WORDS = 6
const KNOWN = 5

export interface AppliedTransfers {
  readonly minted: number
  readonly burned: number
  /** Transfers whose sender was not the known owner. */
  readonly inconsistent: number
}

/** Owners of ids in a packed table. */
export class OwnerTable implements Owners {
  readonly #fullHistory: boolean
  #ids = new IdTable()
  #owners = new Int32Array(16 * OWNER_WORDS)

  constructor(fullHistory: boolean) {
    this.#fullHistory = fullHistory
  }

  get size(): number {
    return this.#ids.size
  }

  get(id: bigint): string | undefined {
    const number = this.#ids.knownNumberOf(id)
    if (number === undefined || this.#owners[number * OWNER_WORDS + KNOWN] !== 1) return undefined
    return addressAt(this.#owners, number * OWNER_WORDS)
  }

  set(id: bigint, owner: string): void {
    const at = this.#offsetOf(this.#ids.numberOf(id))
    putAddress(owner, this.#owners, at)
    this.#owners[at + KNOWN] = 1
  }

  delete(id: bigint): void {
    const number = this.#ids.knownNumberOf(id)
    if (number !== undefined) this.#owners[number * OWNER_WORDS + KNOWN] = 0
  }

  countOf(owner: string): number {
    const address = new Int32Array(5)
    putAddress(owner, address, 0)
    let count = 0
    for (let at = 0; at < this.#ids.size * OWNER_WORDS; at += OWNER_WORDS) {
      if (this.#owners[at + KNOWN] === 1 && this.#hasAddress(at, address, 0)) count += 1
    }
    return count
  }

  *entries(): Generator<OwnerEntry> {
    for (let number = 0; number < this.#ids.size; number += 1) {
      const at = number * OWNER_WORDS
      if (this.#owners[at + KNOWN] === 1) yield [this.#ids.idOf(number), addressAt(this.#owners, at)]
    }
  }

  clear(): void {
    this.#ids = new IdTable()
    this.#owners = new Int32Array(16 * OWNER_WORDS)
  }

  /**
   * Applies the transfer of a row; its id is the number at `id`. Returns whether the sender was the known owner. With
   * the full history, an id without an owner can only be minted.
   */
  move(words: Int32Array, row: number, id: number): boolean {
    const owner = this.#offsetOf(this.#ids.numberAt(words, id))
    const isOwner =
      this.#owners[owner + KNOWN] === 1
        ? this.#hasAddress(owner, words, row + FROM)
        : !this.#fullHistory || isZero(words, row + FROM, 5)
    for (let word = 0; word < 5; word += 1) this.#owners[owner + word] = words[row + TO + word] ?? 0
    this.#owners[owner + KNOWN] = 1
    return isOwner
  }

  /** Whether the owner has the address at this offset. */
  #hasAddress(owner: number, words: Int32Array, at: number): boolean {
    for (let word = 0; word < 5; word += 1) {
      if (this.#owners[owner + word] !== words[at + word]) return false
    }
    return true
  }

  /** The offset of the owner of the id with this number; grows the table. */
  #offsetOf(number: number): number {
    if ((number + 1) * OWNER_WORDS > this.#owners.length) {
      const grown = new Int32Array(2 * this.#owners.length)
      grown.set(this.#owners)
      this.#owners = grown
    }
    return number * OWNER_WORDS
  }
}

/** Owners that are filled from the bytes of pages. */
export class PackedOwners extends OwnerTable implements LogConsumer, FastPath<AppliedTransfers> {
  readonly #events: readonly EventName[]
  readonly #rows = new Rows()
  readonly #hex = new HexReader()
  readonly #scanner: PageScanner
  logs = 0

  /** `events` by topic0. */
  constructor(contract: string, events: ReadonlyMap<string, EventName>, fullHistory: boolean) {
    super(fullHistory)
    this.#events = [...events.values()]
    this.#scanner = new PageScanner(contract, [...events.keys()], this)
  }

  scan(page: Page): boolean {
    return this.#scanner.scan(page)
  }

  begin(view: DataView): void {
    this.logs = 0
    this.#rows.count = 0
    this.#hex.view = view
    this.#hex.isValid = true
  }

  take({ event, topic1, topic2, topic3, digits, data }: LogReader): boolean {
    this.logs += 1
    if (this.#events[event] !== 'Transfer' || data === 0 || digits !== 0) return false
    if (topic1 === 0 || topic2 === 0 || topic3 === 0) return false
    const at = this.#rows.add()
    this.#hex.words = this.#rows.words
    this.#hex.readAddress(topic1, at + FROM)
    this.#hex.readAddress(topic2, at + TO)
    this.#hex.read(topic3, at + ID, 8)
    return this.#hex.isValid
  }

  apply(): AppliedTransfers {
    const { words, end, step } = this.#rows
    let [minted, burned, inconsistent] = [0, 0, 0]
    for (let at = 0; at < end; at += step) {
      if (isZero(words, at + FROM, 5)) minted += 1
      if (isZero(words, at + TO, 5)) burned += 1
      if (!this.move(words, at, at + ID)) inconsistent += 1
    }
    return { minted, burned, inconsistent }
  }
}
