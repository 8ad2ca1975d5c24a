import { type Page } from '../client/types.ts'
import { type AmountTransfer, amountTransfersOf, type TokenLog, ZERO_ADDRESS } from './decode.ts'
import { PackedBalances } from './fast/packed-balances.ts'
import { IdCheck } from './id-check.ts'
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
import { type BalanceRow, type Interval, OVERFLOW, type OutOfRange, type StatCounter } from './types.ts'
import { type Pairing, withoutRepeats } from './wrapping.ts'

interface StateOptions {
  readonly contract: string
  /** By topic0. */
  readonly events: ReadonlyMap<string, EventName>
  readonly fullHistory: boolean
  readonly fast: boolean
}

/** The balances of ERC-20, and of ERC-1155 by id: the sums of all transfers. */
export class AmountState implements TokenState {
  readonly #balances: Balances
  readonly #fast: PackedBalances | undefined
  readonly #hasIds: boolean
  readonly #isWrapped: boolean
  /** Exists for an ERC-20 without a profile whose full history is read. */
  readonly #idCheck: IdCheck | undefined
  #supply = 0n
  #pairing: Pairing = null
  #outOfRange: OutOfRange | null = null
  readonly unindexedIds = 0

  constructor({ contract, events, fullHistory, fast }: StateOptions) {
    const names = [...events.values()]
    this.#hasIds = names.includes('TransferSingle')
    this.#isWrapped = names.includes('Deposit')
    this.#idCheck = fullHistory && !this.#hasIds && !this.#isWrapped ? new IdCheck() : undefined
    this.#fast = fast ? new PackedBalances(contract, events) : undefined
    this.#balances = this.#fast ?? new MapBalances()
  }

  get supply(): bigint {
    return this.#supply
  }

  get outOfRange(): OutOfRange | null {
    return this.#outOfRange
  }

  get mayBeIds(): boolean {
    return this.#idCheck?.isPossible ?? false
  }

  prepare(logs: readonly TokenLog[], stats: StatCounter): ApplyLogs {
    const decoded = logs.map((log) => ({
      block: log.block,
      event: log.event,
      transfers: amountTransfersOf(log, stats),
    }))
    const { logs: applied, pairing } = this.#isWrapped
      ? withoutRepeats(decoded, this.#pairing)
      : { logs: decoded, pairing: null }
    stats.add('paired', decoded.length - applied.length)
    return () => {
      this.#pairing = pairing
      const doubtful: BalanceKey[] = []
      for (const [at, { block, transfers }] of applied.entries()) {
        for (const transfer of transfers) this.#apply(transfer, doubtful)
        if (applied[at + 1]?.block === block || doubtful.length === 0) continue
        this.#endBlock(block, doubtful)
        doubtful.length = 0
      }
    }
  }

  scan(page: Page, stats: StatCounter): ApplyLogs | undefined {
    const fast = this.#fast
    if (fast?.scan(page) !== true) return undefined
    stats.add('logs', fast.logs)
    stats.add('applied', fast.logs)
    return () => {
      const { supply, outOfRange } = fast.apply()
      this.#supply += supply
      if (outOfRange !== null) this.#outOfRange ??= this.#hasIds ? outOfRange : { ...outOfRange, id: null }
      this.#idCheck?.applyRows(fast.rows)
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

  write(to: SnapshotWriter): void {
    to.big(this.#supply)
    to.big(BigInt(PAIRINGS.indexOf(this.#pairing)))
    to.big(this.#outOfRange === null ? 0n : 1n)
    if (this.#outOfRange !== null) {
      const { block, address, id, balance } = this.#outOfRange
      to.big(BigInt(block))
      to.address(address)
      to.big(id ?? 0n)
      to.big(balance)
    }
    this.#idCheck?.write(to)
    this.#balances.write(to)
  }

  read(from: SnapshotReader): void {
    this.#supply = from.big()
    this.#pairing = PAIRINGS[Number(from.big())] ?? null
    if (from.big() === 1n) {
      const [block, address, id, balance] = [Number(from.big()), from.address(), from.big(), from.big()]
      this.#outOfRange = { address, id: this.#hasIds ? id : null, balance, block }
    }
    this.#idCheck?.read(from)
    while (!from.isAtEnd()) this.#balances.add(from.address(), from.big(), from.big())
  }

  /** Adds balances that went out of range to `doubtful`. */
  #apply(transfer: AmountTransfer, doubtful: BalanceKey[]): void {
    const { from, to, id, amount } = transfer
    this.#idCheck?.apply(transfer)
    if (from === to) return
    if (from === ZERO_ADDRESS) this.#supply += amount
    else if (isOutOfRange(this.#balances.add(from, id, -amount))) doubtful.push([from, id])
    if (to === ZERO_ADDRESS) this.#supply -= amount
    else if (isOutOfRange(this.#balances.add(to, id, amount))) doubtful.push([to, id])
  }

  /** Within a block the order of logs may differ from that of the changes: a hook of ERC-777 may transfer before its caller logs. */
  #endBlock(block: number, doubtful: readonly BalanceKey[]): void {
    for (const [address, id] of doubtful) {
      const balance = this.#balances.get(address, id)
      if (isOutOfRange(balance)) this.#outOfRange ??= { address, id: this.#hasIds ? id : null, balance, block }
    }
  }
}

type BalanceKey = readonly [address: string, id: bigint]

const PAIRINGS: readonly Pairing[] = [null, false, true]

const isOutOfRange = (balance: bigint): boolean => balance < 0n || balance >= OVERFLOW

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

  add(address: string, id: bigint, amount: bigint): bigint {
    const holders = this.#ids.get(id) ?? new Map<string, bigint>()
    this.#ids.set(id, holders)
    const balance = (holders.get(address) ?? 0n) + amount
    if (balance === 0n) holders.delete(address)
    else holders.set(address, balance)
    return balance
  }

  get(address: string, id: bigint): bigint {
    return this.#ids.get(id)?.get(address) ?? 0n
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
