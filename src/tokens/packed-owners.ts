import { HexReader } from './hex-reader.ts'
import { IdTable } from './id-table.ts'
import { addressAt, putAddress } from './limbs.ts'
import { type LogReader } from './log-reader.ts'
import { type OwnerEntry, type Owners } from './owners.ts'
import { type PlainLogs } from './page-scanner.ts'
import { FROM, ID, isZero, Rows, TO } from './rows.ts'
import { type EventName } from './signatures.ts'

/** An owner's address, and whether he is known. */
const OWNER = 6
const KNOWN = 5

export interface Handed {
  readonly minted: number
  readonly burned: number
  /** Tokens that somebody gave who was not known to have them. */
  readonly inconsistent: number
}

/** Owners in a packed table, and what fills it from a page's bytes. */
export class PackedOwners implements Owners, PlainLogs {
  readonly #events: readonly EventName[]
  readonly #fullHistory: boolean
  readonly #ids = new IdTable()
  #owners = new Int32Array(16 * OWNER)
  readonly #rows = new Rows()
  readonly #hex = new HexReader()
  /** Logs since `begin`. */
  logs = 0

  /** The events in the order of the topics that are scanned for. */
  constructor(events: readonly EventName[], fullHistory: boolean) {
    this.#events = events
    this.#fullHistory = fullHistory
  }

  get size(): number {
    return this.#ids.size
  }

  get(id: bigint): string | undefined {
    const number = this.#ids.knownNumberOf(id)
    if (number === undefined || this.#owners[number * OWNER + KNOWN] !== 1) return undefined
    return addressAt(this.#owners, number * OWNER)
  }

  set(id: bigint, owner: string): void {
    const at = this.#roomFor(this.#ids.numberOf(id))
    putAddress(owner, this.#owners, at)
    this.#owners[at + KNOWN] = 1
  }

  delete(id: bigint): void {
    const number = this.#ids.knownNumberOf(id)
    if (number !== undefined) this.#owners[number * OWNER + KNOWN] = 0
  }

  countOf(owner: string): number {
    const wanted = new Int32Array(5)
    putAddress(owner, wanted, 0)
    let count = 0
    for (let at = 0; at < this.#ids.size * OWNER; at += OWNER) {
      if (this.#owners[at + KNOWN] === 1 && this.#isAt(at, wanted, 0)) count += 1
    }
    return count
  }

  *entries(): Generator<OwnerEntry> {
    for (let number = 0; number < this.#ids.size; number += 1) {
      const at = number * OWNER
      if (this.#owners[at + KNOWN] === 1)
        yield [this.#ids.idOf(number), addressAt(this.#owners, at)]
    }
  }

  begin(view: DataView): void {
    this.logs = 0
    this.#rows.count = 0
    this.#hex.view = view
    this.#hex.sound = true
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
    return this.#hex.sound
  }

  /** Books what was taken since `begin`. */
  book(): Handed {
    const { words, end, step } = this.#rows
    let [minted, burned, inconsistent] = [0, 0, 0]
    for (let at = 0; at < end; at += step) {
      const owner = this.#roomFor(this.#ids.numberAt(words, at + ID))
      if (isZero(words, at + FROM, 5)) minted += 1
      if (isZero(words, at + TO, 5)) burned += 1
      if (!this.#gives(owner, at)) inconsistent += 1
      for (let word = 0; word < 5; word += 1)
        this.#owners[owner + word] = words[at + TO + word] ?? 0
      this.#owners[owner + KNOWN] = 1
    }
    return { minted, burned, inconsistent }
  }

  /** Whether who gives has it, as far as is known: what nobody was given, nobody has. */
  #gives(owner: number, at: number): boolean {
    const { words } = this.#rows
    if (this.#owners[owner + KNOWN] !== 1) return !this.#fullHistory || isZero(words, at + FROM, 5)
    return this.#isAt(owner, words, at + FROM)
  }

  /** Whether the owner is whose address stands there. */
  #isAt(owner: number, words: Int32Array, at: number): boolean {
    for (let word = 0; word < 5; word += 1) {
      if (this.#owners[owner + word] !== words[at + word]) return false
    }
    return true
  }

  /** Where the owner of the token of this number stands. */
  #roomFor(number: number): number {
    if ((number + 1) * OWNER > this.#owners.length) {
      const grown = new Int32Array(2 * this.#owners.length)
      grown.set(this.#owners)
      this.#owners = grown
    }
    return number * OWNER
  }
}
