import type { Page } from '../client/types.ts'
import { type OwnerTransfer, ownerTransfersOf, type TokenLog, ZERO_ADDRESS } from './decode.ts'
import { OwnerTable } from './fast/owner-table.ts'
import { PackedRows } from './fast/packed-rows.ts'
import { LayoutCheck } from './id-check.ts'
import { FROM, isZero, TO, ADDRESS_WORDS } from './fast/packed-words.ts'
import { TransferReader } from './fast/transfer-reader.ts'
import type {
  ApplyLogs,
  OwnerEntry,
  SnapshotReader,
  SnapshotWriter,
  StateOptions,
  TokenState,
  Totals,
} from './state.ts'
import { type Interval, sizeOf, type StatCounter } from './types.ts'

/** The owners of ERC-721: the recipient of the last transfer. An id that was transferred on its own takes precedence over a range. */
export class OwnerState implements TokenState {
  readonly #owners: OwnerTable
  readonly #ranges = new Intervals()
  readonly #reader: TransferReader | undefined
  readonly #fullHistory: boolean
  readonly #punks: boolean
  #supply = 0n
  /**
   * The number of logs with the id in the data that were applied. Null after a log with an indexed id, or after one that
   * contradicts: then such logs are of ERC-20, and none of them is applied.
   */
  #unindexedIds: number | null = 0
  readonly #layoutCheck = new LayoutCheck()
  readonly outOfRange = null
  readonly mayBeIds = false

  constructor({ contract, events, fullHistory }: StateOptions) {
    this.#fullHistory = fullHistory
    this.#punks = [...events.values()].includes('PunkBought')
    this.#reader = this.#punks ? undefined : new TransferReader({ contract, events, numberOf: undefined })
    this.#owners = new OwnerTable(fullHistory)
  }

  get supply(): bigint {
    return this.#supply
  }

  get unindexedIds(): number {
    return this.#unindexedIds ?? 0
  }

  get mayIndexId(): boolean {
    return this.#layoutCheck.isPossible
  }

  prepare(logs: readonly TokenLog[], stats: StatCounter): ApplyLogs {
    const transfers = logs.flatMap((log, at) =>
      ownerTransfersOf(log, { stats, before: logs[at - 1], punks: this.#punks }),
    )
    return (stateStats) => {
      for (const transfer of transfers) {
        if (transfer.isUnindexed) this.#applyUnindexed(transfer)
        else {
          this.#rejectUnindexed()
          if (!this.#apply(transfer)) stateStats.add('inconsistent')
        }
      }
    }
  }

  scan(page: Page): ApplyLogs | undefined {
    const reader = this.#reader
    if (this.#ranges.size > 0 || reader?.read(page) !== true) return undefined
    return (stateStats) => {
      const { words, count, step } = reader.rows
      if (count > 0) this.#rejectUnindexed()
      let [minted, inconsistent] = [0, 0]
      for (let row = 0; row < count * step; row += step) {
        if (isZero(words, row + FROM, ADDRESS_WORDS)) minted += 1
        if (isZero(words, row + TO, ADDRESS_WORDS)) minted -= 1
        if (!this.#owners.move(words, row)) inconsistent += 1
      }
      this.#supply += BigInt(minted)
      stateStats.add('inconsistent', inconsistent)
    }
  }

  rows(): PackedRows {
    return new PackedRows(this.#owners)
  }

  totals(): Totals {
    let total = 0n
    for (let entry = 0; entry < this.#owners.size; entry += 1) if (this.#owners.isRow(entry)) total += 1n
    return { total, overflow: 0 }
  }

  intervals(): readonly Interval[] {
    const single = Array.from(this.#owners.entries(), ([id]) => id)
    const within = single.filter((id) => this.#ranges.ownerOf(id) !== undefined)
    return withoutIds(this.#ranges.list(), within).filter(({ owner }) => owner !== ZERO_ADDRESS)
  }

  write(to: SnapshotWriter): void {
    to.big(this.#supply)
    to.optional(this.#unindexedIds)
    this.#layoutCheck.write(to)
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
    this.#unindexedIds = from.optional()
    this.#layoutCheck.read(from)
    for (let left = from.big(); left > 0n; left -= 1n) {
      this.#ranges.assign({ from: from.big(), to: from.big(), owner: from.address() })
    }
    while (!from.isAtEnd()) this.#owners.set(from.big(), from.address())
  }

  #applyUnindexed(transfer: OwnerTransfer): void {
    this.#layoutCheck.add(BigInt(transfer.to ?? 0), transfer.first)
    if (this.#unindexedIds === null) return
    if (this.#apply(transfer)) this.#unindexedIds += 1
    else this.#rejectUnindexed()
  }

  #rejectUnindexed(): void {
    if (this.#unindexedIds === null) return
    this.#unindexedIds = null
    this.#owners.clear()
    this.#supply = 0n
  }

  /** Returns whether the sender was the known owner. */
  #apply({ from, to, first, last }: OwnerTransfer): boolean {
    const count = last - first + 1n
    const before = ownersWithin(this.#owners, first, last)
    const isOwner = this.#owns(from, { from: first, to: last }, before)
    if (from === ZERO_ADDRESS) this.#supply += count
    if (to === ZERO_ADDRESS) this.#supply -= count
    // Without a buyer the token has no known owner.
    const owner = to ?? ZERO_ADDRESS
    if (first === last) this.#owners.set(first, owner)
    else {
      for (const [id] of before) this.#owners.delete(id)
      this.#ranges.assign({ from: first, to: last, owner })
    }
    return isOwner
  }

  /** Whether `owner` owns all of the range. With the full history, an id that was never minted has no owner. */
  #owns(owner: string, range: Omit<Interval, 'owner'>, single: readonly OwnerEntry[]): boolean {
    const ids = single.map(([id]) => id)
    const others = withoutIds(this.#ranges.within(range.from, range.to), ids)
    if (
      [...single.map(([, holder]) => holder), ...others.map((other) => other.owner)].some((holder) => holder !== owner)
    )
      return false
    const isAllKnown = BigInt(ids.length) + sizeOf(others) === range.to - range.from + 1n
    return isAllKnown || !this.#fullHistory || owner === ZERO_ADDRESS
  }
}

/** The known owners from `first` to `last`, both inclusive. The range may be far larger than the number of known ids. */
const ownersWithin = (owners: OwnerTable, first: bigint, last: bigint): readonly OwnerEntry[] => {
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

/** The ranges, which are in order, without these ids. */
const withoutIds = (ranges: readonly Interval[], ids: readonly bigint[]): readonly Interval[] => {
  const rest: Interval[] = []
  const removed = ids.toSorted((a, b) => (a < b ? -1 : 1))
  let at = 0
  for (const one of ranges) {
    let { from } = one
    for (; at < removed.length; at += 1) {
      const id = removed[at]
      if (id === undefined || id > one.to) break
      if (id < from) continue
      if (id > from) rest.push({ ...one, from, to: id - 1n })
      from = id + 1n
    }
    if (from <= one.to) rest.push({ ...one, from })
  }
  return rest
}

/** Ranges of token ids without overlaps, in order. The cost does not depend on the number of ids in a range. */
class Intervals {
  readonly #list: Interval[] = []

  get size(): number {
    return this.#list.length
  }

  list(): readonly Interval[] {
    return this.#list
  }

  ownerOf(id: bigint): string | undefined {
    const found = this.#list[this.#firstEndingAt(id)]
    return found !== undefined && found.from <= id ? found.owner : undefined
  }

  /** The parts of the ranges that are within these ids. */
  within(from: bigint, to: bigint): readonly Interval[] {
    const found: Interval[] = []
    for (let at = this.#firstEndingAt(from); at < this.#list.length; at += 1) {
      const one = this.#list[at]
      if (one === undefined || one.from > to) break
      found.push({ from: one.from < from ? from : one.from, to: one.to > to ? to : one.to, owner: one.owner })
    }
    return found
  }

  /** Replaces the owners of these ids. */
  assign(added: Interval): void {
    const { from, to } = added
    const start = this.#firstEndingAt(from)
    let end = start
    const pieces: Interval[] = [added]
    for (; end < this.#list.length; end += 1) {
      const one = this.#list[end]
      if (one === undefined || one.from > to) break
      if (one.from < from) pieces.unshift({ ...one, to: from - 1n })
      if (one.to > to) pieces.push({ ...one, from: to + 1n })
    }
    this.#list.splice(start, end - start, ...pieces)
  }

  #firstEndingAt(id: bigint): number {
    let low = 0
    let high = this.#list.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const one = this.#list[middle]
      if (one !== undefined && one.to < id) low = middle + 1
      else high = middle
    }
    return low
  }
}
