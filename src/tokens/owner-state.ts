import { type Page } from '../query/client/types.ts'
import { type OwnerTransfer, ownerTransfersOf, ZERO_ADDRESS } from './decode.ts'
import { PackedOwners } from './fast/packed-owners.ts'
import { PageScanner } from './fast/page-scanner.ts'
import { Intervals } from './intervals.ts'
import { type EventName } from './signatures.ts'
import { type SnapshotReader, type SnapshotWriter } from './snapshot.ts'
import { type ApplyLogs, type OwnerEntry, type Owners, sortByNumber, type TokenState } from './state.ts'
import { type StatCounter } from './stats.ts'
import { type TokenLog } from './token-logs.ts'
import { type BalanceRow, type Interval } from './types.ts'

interface StateOptions {
  readonly contract: string
  /** By topic0. */
  readonly events: ReadonlyMap<string, EventName>
  readonly fullHistory: boolean
  readonly fast: boolean
}

interface FastPath {
  readonly scanner: PageScanner
  readonly owners: PackedOwners
}

/** The owners of ERC-721: the recipient of the last transfer. An id that was transferred on its own takes precedence over a range. */
export class OwnerState implements TokenState {
  readonly #owners: Owners
  readonly #ranges = new Intervals()
  readonly #fast: FastPath | undefined
  readonly #fullHistory: boolean
  readonly #punks: boolean
  #supply = 0n

  constructor({ contract, events, fullHistory, fast }: StateOptions) {
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

  prepare(logs: readonly TokenLog[], stats: StatCounter): ApplyLogs {
    const transfers = logs.flatMap((log, at) =>
      ownerTransfersOf(log, { stats, before: logs[at - 1], punks: this.#punks }),
    )
    return (stateStats) => {
      for (const transfer of transfers) this.#apply(transfer, stateStats)
    }
  }

  scan(page: Page, stats: StatCounter): ApplyLogs | undefined {
    const fast = this.#fast
    if (fast === undefined || this.#ranges.size > 0 || !fast.scanner.scan(page)) return undefined
    stats.add('logs', fast.owners.logs)
    stats.add('applied', fast.owners.logs)
    return (stateStats) => {
      const { minted, burned, inconsistent } = fast.owners.apply()
      this.#supply += BigInt(minted - burned)
      stateStats.add('inconsistent', inconsistent)
    }
  }

  rows(): readonly BalanceRow[] {
    const single = sortByNumber(this.#singleTokens(), {
      key: ([id]) => Number(id),
      compare: ([a], [b]) => (a < b ? -1 : 1),
    })
    return single.map(([id, address]) => ({ address, id, balance: 1n }))
  }

  intervals(): readonly Interval[] {
    const single = Array.from(this.#owners.entries(), ([id]) => id)
    return this.#ranges.without(single).filter(({ owner }) => owner !== ZERO_ADDRESS)
  }

  balanceOf(address: string, id: bigint | null): bigint {
    if (id !== null) {
      return (this.#owners.get(id) ?? this.#ranges.ownerOf(id)) === address ? 1n : 0n
    }
    const ranges = this.#ranges.size === 0 ? [] : this.intervals()
    const owned = ranges.filter(({ owner }) => owner === address)
    return owned.reduce((sum, { from, to }) => sum + to - from + 1n, BigInt(this.#owners.countOf(address)))
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

  /** The tokens that were transferred on their own and not burned. */
  #singleTokens(): readonly OwnerEntry[] {
    return [...this.#owners.entries()].filter(([, owner]) => owner !== ZERO_ADDRESS)
  }

  #apply({ from, to, first, last }: OwnerTransfer, stats: StatCounter): void {
    const count = last - first + 1n
    const before = ownersWithin(this.#owners, first, last)
    if (!this.#owns(from, { from: first, to: last }, before)) stats.add('inconsistent')
    if (from === ZERO_ADDRESS) this.#supply += count
    if (to === ZERO_ADDRESS) this.#supply -= count
    // Without a buyer the token has no known owner.
    const owner = to ?? ZERO_ADDRESS
    if (first === last) this.#owners.set(first, owner)
    else {
      for (const [id] of before) this.#owners.delete(id)
      this.#ranges.assign({ from: first, to: last, owner })
    }
  }

  /** Whether `owner` owns all of the range. With the full history, an id that was never minted has no owner. */
  #owns(owner: string, range: Omit<Interval, 'owner'>, single: readonly OwnerEntry[]): boolean {
    if (single.some(([, holder]) => holder !== owner)) return false
    let known = BigInt(single.length)
    for (const piece of this.#ranges.within(range.from, range.to)) {
      const overlapping = single.filter(([id]) => id >= piece.from && id <= piece.to).length
      const others = piece.to - piece.from + 1n - BigInt(overlapping)
      if (others > 0n && piece.owner !== owner) return false
      known += others
    }
    const isAllKnown = known === range.to - range.from + 1n
    return isAllKnown || !this.#fullHistory || owner === ZERO_ADDRESS
  }
}

/** The reference implementation, in a Map. */
class MapOwners implements Owners {
  readonly #owners = new Map<bigint, string>()

  get size(): number {
    return this.#owners.size
  }

  get(id: bigint): string | undefined {
    return this.#owners.get(id)
  }

  set(id: bigint, owner: string): void {
    this.#owners.set(id, owner)
  }

  delete(id: bigint): void {
    this.#owners.delete(id)
  }

  countOf(owner: string): number {
    let count = 0
    for (const one of this.#owners.values()) if (one === owner) count += 1
    return count
  }

  entries(): Iterable<OwnerEntry> {
    return this.#owners.entries()
  }
}

/** The known owners from `first` to `last`, both inclusive. The range may be far larger than the number of known ids. */
const ownersWithin = (owners: Owners, first: bigint, last: bigint): readonly OwnerEntry[] => {
  if (last - first > owners.size) {
    return [...owners.entries()].filter(([id]) => id >= first && id <= last)
  }
  const found: OwnerEntry[] = []
  for (let id = first; id <= last; id += 1n) {
    const owner = owners.get(id)
    if (owner !== undefined) found.push([id, owner])
  }
  return found
}
