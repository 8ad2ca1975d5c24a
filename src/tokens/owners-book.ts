import { type Page } from '../query/client/types.ts'
import { type Book, type Booking } from './book.ts'
import { type Handover, handoversOf } from './decode-owners.ts'
import { Intervals } from './intervals.ts'
import { type TokenLog } from './ledger-log.ts'
import { MapOwners, type OwnerEntry, type Owners, ownersWithin } from './owners.ts'
import { PackedOwners } from './packed-owners.ts'
import { PageScanner } from './page-scanner.ts'
import { type EventName } from './signatures.ts'
import { type SnapshotReader, type SnapshotWriter } from './snapshot.ts'
import { sorted } from './sorted.ts'
import { type Tally } from './tally.ts'
import { type BalanceRow, type Interval } from './types.ts'
import { ZERO_ADDRESS } from './words.ts'

interface BookOptions {
  readonly contract: string
  /** By their topics. */
  readonly events: ReadonlyMap<string, EventName>
  readonly fullHistory: boolean
  readonly fast: boolean
}

interface Scanned {
  readonly scanner: PageScanner
  readonly owners: PackedOwners
}

/** Owners of ERC-721: who got a token last has it. What was handed over alone goes before a range. */
export class OwnersBook implements Book {
  readonly #owners: Owners
  readonly #ranges = new Intervals()
  readonly #fast: Scanned | undefined
  readonly #fullHistory: boolean
  readonly #punks: boolean
  #supply = 0n

  constructor({ contract, events, fullHistory, fast }: BookOptions) {
    this.#fullHistory = fullHistory
    this.#punks = [...events.values()].includes('PunkBought')
    if (fast && !this.#punks) {
      const owners = new PackedOwners([...events.values()], fullHistory)
      this.#fast = { scanner: new PageScanner(contract, [...events.keys()], owners), owners }
      this.#owners = owners
    } else this.#owners = new MapOwners()
  }

  get supply(): bigint {
    return this.#supply
  }

  prepare(logs: readonly TokenLog[], tally: Tally): Booking {
    const handovers = logs.flatMap((log, at) =>
      handoversOf(log, { tally, before: logs[at - 1], punks: this.#punks }),
    )
    return (booked) => {
      for (const handover of handovers) this.#book(handover, booked)
    }
  }

  scan(page: Page, tally: Tally): Booking | undefined {
    const fast = this.#fast
    if (fast === undefined || this.#ranges.size > 0 || !fast.scanner.scan(page)) return undefined
    tally.note('logs', fast.owners.logs)
    tally.note('applied', fast.owners.logs)
    return (booked) => {
      const { minted, burned, inconsistent } = fast.owners.book()
      this.#supply += BigInt(minted - burned)
      booked.note('inconsistent', inconsistent)
    }
  }

  rows(): readonly BalanceRow[] {
    const alone = sorted(this.#alone(), {
      key: ([id]) => Number(id),
      compare: ([a], [b]) => (a < b ? -1 : 1),
    })
    return alone.map(([id, address]) => ({ address, id, balance: 1n }))
  }

  intervals(): readonly Interval[] {
    const alone = Array.from(this.#owners.entries(), ([id]) => id)
    return this.#ranges.without(alone).filter(({ owner }) => owner !== ZERO_ADDRESS)
  }

  heldBy(address: string, id: bigint | null): bigint {
    if (id !== null) {
      return (this.#owners.get(id) ?? this.#ranges.ownerOf(id)) === address ? 1n : 0n
    }
    const ranges = this.#ranges.size === 0 ? [] : this.intervals()
    const mine = ranges.filter(({ owner }) => owner === address)
    return mine.reduce(
      (sum, { from, to }) => sum + to - from + 1n,
      BigInt(this.#owners.countOf(address)),
    )
  }

  hasNegative(): boolean {
    return false
  }

  write(to: SnapshotWriter): void {
    to.big(this.#supply)
    to.big(BigInt(this.#ranges.size))
    for (const { from, to: last, owner } of this.#ranges.list()) {
      to.big(from)
      to.big(last)
      to.address(owner)
    }
    for (const [id, owner] of this.#owners.entries()) {
      to.big(id)
      to.address(owner)
    }
  }

  read(from: SnapshotReader): void {
    this.#supply = from.big()
    for (let left = from.big(); left > 0n; left -= 1n) {
      this.#ranges.assign({ from: from.big(), to: from.big(), owner: from.address() })
    }
    while (!from.isAtEnd()) this.#owners.set(from.big(), from.address())
  }

  /** Those that were handed over alone and not burned. */
  #alone(): readonly OwnerEntry[] {
    return [...this.#owners.entries()].filter(([, owner]) => owner !== ZERO_ADDRESS)
  }

  #book({ from, to, first, last }: Handover, tally: Tally): void {
    const count = last - first + 1n
    const before = ownersWithin(this.#owners, first, last)
    if (!this.#has(from, { from: first, to: last }, before)) tally.note('inconsistent')
    if (from === ZERO_ADDRESS) this.#supply += count
    if (to === ZERO_ADDRESS) this.#supply -= count
    // Whoever bought it: it is no longer known whose it is.
    const owner = to ?? ZERO_ADDRESS
    if (first === last) this.#owners.set(first, owner)
    else {
      for (const [id] of before) this.#owners.delete(id)
      this.#ranges.assign({ from: first, to: last, owner })
    }
  }

  /** Whether he has all of the range, as far as is known: what nobody was given, nobody has. */
  #has(owner: string, range: Omit<Interval, 'owner'>, alone: readonly OwnerEntry[]): boolean {
    if (alone.some(([, holder]) => holder !== owner)) return false
    let known = BigInt(alone.length)
    for (const piece of this.#ranges.within(range.from, range.to)) {
      const alsoAlone = alone.filter(([id]) => id >= piece.from && id <= piece.to).length
      const others = piece.to - piece.from + 1n - BigInt(alsoAlone)
      if (others > 0n && piece.owner !== owner) return false
      known += others
    }
    const isAllKnown = known === range.to - range.from + 1n
    return isAllKnown || !this.#fullHistory || owner === ZERO_ADDRESS
  }
}
