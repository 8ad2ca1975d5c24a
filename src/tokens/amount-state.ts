import { type Page } from '../query/client/types.ts'
import { amountTransfersOf, type TokenLog, ZERO_ADDRESS } from './decode.ts'
import { PackedBalances } from './fast/packed-balances.ts'
import { type EventName } from './signatures.ts'
import {
  type ApplyLogs,
  type BalanceEntry,
  type Balances,
  type SnapshotReader,
  type SnapshotWriter,
  sortByNumber,
  type TokenState,
} from './state.ts'
import type { BalanceRow, Interval, StatCounter } from './types.ts'

interface StateOptions {
  readonly contract: string
  /** By topic0. */
  readonly events: ReadonlyMap<string, EventName>
  readonly fast: boolean
}

/** The balances of ERC-20, and of ERC-1155 by id: the sums of all transfers. */
export class AmountState implements TokenState {
  readonly #balances: Balances
  readonly #fast: PackedBalances | undefined
  readonly #hasIds: boolean
  #supply = 0n

  constructor({ contract, events, fast }: StateOptions) {
    this.#hasIds = [...events.values()].includes('TransferSingle')
    this.#fast = fast ? new PackedBalances(contract, events) : undefined
    this.#balances = this.#fast ?? new MapBalances()
  }

  get supply(): bigint {
    return this.#supply
  }

  prepare(logs: readonly TokenLog[], stats: StatCounter): ApplyLogs {
    const transfers = logs.flatMap((log) => amountTransfersOf(log, stats))
    return () => {
      for (const { from, to, id, amount } of transfers) {
        if (from === ZERO_ADDRESS) this.#supply += amount
        else this.#balances.add(from, id, -amount)
        if (to === ZERO_ADDRESS) this.#supply -= amount
        else this.#balances.add(to, id, amount)
      }
    }
  }

  scan(page: Page, stats: StatCounter): ApplyLogs | undefined {
    const fast = this.#fast
    if (fast?.scan(page) !== true) return undefined
    stats.add('logs', fast.logs)
    stats.add('applied', fast.logs)
    return () => {
      this.#supply += fast.apply()
    }
  }

  rows(): readonly BalanceRow[] {
    const rows: BalanceRow[] = []
    for (const [address, id, balance] of this.#balances.entries()) {
      rows.push({ address, id: this.#hasIds ? id : null, balance })
    }
    return sortByNumber(rows, { key: this.#hasIds ? idOf : balanceOf, compare: inOrder })
  }

  intervals(): readonly Interval[] {
    return []
  }

  balanceOf(address: string, id: bigint | null): bigint {
    return this.#balances.get(address, id ?? 0n)
  }

  hasNegative(): boolean {
    return this.#balances.hasNegative()
  }

  write(to: SnapshotWriter): void {
    to.big(this.#supply)
    this.#balances.write(to)
  }

  read(from: SnapshotReader): void {
    this.#supply = from.big()
    while (!from.isAtEnd()) this.#balances.add(from.address(), from.big(), from.big())
  }
}

const idOf = ({ id }: BalanceRow): number => Number(id)

const balanceOf = ({ balance }: BalanceRow): number => -Number(balance)

const inOrder = (a: BalanceRow, b: BalanceRow): number => {
  if (a.id !== b.id) return (a.id ?? 0n) < (b.id ?? 0n) ? -1 : 1
  if (a.balance !== b.balance) return a.balance > b.balance ? -1 : 1
  return a.address < b.address ? -1 : 1
}

/** The reference implementation, in a Map. */
class MapBalances implements Balances {
  readonly #ids = new Map<bigint, Map<string, bigint>>()

  add(address: string, id: bigint, amount: bigint): void {
    const holders = this.#ids.get(id) ?? new Map<string, bigint>()
    this.#ids.set(id, holders)
    const balance = (holders.get(address) ?? 0n) + amount
    if (balance === 0n) holders.delete(address)
    else holders.set(address, balance)
  }

  get(address: string, id: bigint): bigint {
    return this.#ids.get(id)?.get(address) ?? 0n
  }

  hasNegative(): boolean {
    for (const [, , balance] of this.entries()) if (balance < 0n) return true
    return false
  }

  *entries(): Generator<BalanceEntry> {
    for (const [id, holders] of this.#ids) {
      for (const [address, balance] of holders) yield [address, id, balance]
    }
  }

  write(to: SnapshotWriter): void {
    for (const [address, id, balance] of this.entries()) {
      to.address(address)
      to.big(id)
      to.big(balance)
    }
  }
}
