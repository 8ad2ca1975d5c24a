import type { Page } from '../client/types.ts'
import { addressOf, type AmountTransfer, amountTransfersOf, type TokenLog, ZERO_WORD } from './decode.ts'
import { BalanceTable } from './fast/balance-table.ts'
import { PackedRows } from './fast/packed-rows.ts'
import { TransferReader } from './fast/transfer-reader.ts'
import { IdCheck, LayoutCheck } from './id-check.ts'
import type { EventName } from './signatures.ts'
import type { ApplyLogs, SnapshotReader, SnapshotWriter, StateOptions, TokenState, Totals } from './state.ts'
import type { Interval, OutOfRange, StatCounter } from './types.ts'

interface DecodedLog {
  readonly block: number
  readonly event: EventName
  readonly transfers: readonly AmountTransfer[]
}

/** Whether the last deposit was also logged as a Transfer; null before the first deposit. */
type Pairing = boolean | null

/**
 * Leaves out each Deposit and Withdrawal that repeats a Transfer: some wrapped tokens log both, in one block, with the same
 * holder and amount. A Withdrawal repeats a Transfer only if the last deposit did: a holder of another token can send
 * an amount to the zero address and withdraw the same amount.
 */
const withoutRepeats = (all: readonly DecodedLog[], before: Pairing) => {
  const transfers = new Map<string, number>()
  for (const log of all) {
    if (log.event === 'Transfer') transfers.set(keyOf(log), (transfers.get(keyOf(log)) ?? 0) + 1)
  }
  let pairing = before
  const logs = all.filter((log) => {
    const [transfer] = log.transfers
    if (log.event === 'Transfer' || transfer === undefined) return true
    const key = keyOf(log)
    const left = transfers.get(key) ?? 0
    // Anyone can log a Transfer of 0.
    if (log.event === 'Deposit' && transfer.amount !== ZERO_WORD) pairing = left > 0
    if (left === 0 || pairing === false) return true
    transfers.set(key, left - 1)
    return false
  })
  return { logs, pairing }
}

const keyOf = ({ block, transfers }: DecodedLog): string =>
  [block, ...transfers.map(({ from, to, amount }) => `${addressOf(from)} ${addressOf(to)} ${amount}`)].join(' ')

/** The balances of ERC-20, and of ERC-1155 by id: the sums of all transfers. */
export class AmountState implements TokenState {
  readonly #balances: BalanceTable
  readonly #reader: TransferReader
  readonly #isWrapped: boolean
  /** Exists for an ERC-20 without a profile whose full history is read. */
  readonly #idCheck: IdCheck | undefined
  /** Exists for an ERC-20 without a profile. */
  readonly #layoutCheck: LayoutCheck | undefined
  #supply = 0n
  #pairing: Pairing = null
  readonly unindexedIds = 0

  constructor({ contract, events, fullHistory }: StateOptions) {
    const names = [...events.values()]
    const hasIds = names.includes('TransferSingle')
    const balances = new BalanceTable(hasIds)
    this.#balances = balances
    this.#isWrapped = names.includes('Deposit')
    this.#layoutCheck = hasIds || this.#isWrapped ? undefined : new LayoutCheck()
    this.#idCheck = fullHistory && this.#layoutCheck ? new IdCheck() : undefined
    this.#reader = new TransferReader({ contract, events, numberOf: (words, at) => balances.numberOf(words, at) })
  }

  get supply(): bigint {
    return this.#supply
  }

  get outOfRange(): OutOfRange | null {
    return this.#balances.outOfRange
  }

  get mayBeIds(): boolean {
    return this.#idCheck?.isPossible ?? false
  }

  get mayIndexId(): boolean {
    return this.#layoutCheck?.isPossible ?? false
  }

  prepare(logs: readonly TokenLog[], stats: StatCounter): ApplyLogs {
    this.#reader.clear()
    let pairing = this.#pairing
    if (this.#isWrapped) {
      const decoded = logs.map((log) => ({ ...log, transfers: amountTransfersOf(log, stats) }))
      const unpaired = withoutRepeats(decoded, pairing)
      stats.add('paired', decoded.length - unpaired.logs.length)
      for (const { block, transfers } of unpaired.logs) this.#reader.add(block, transfers)
      pairing = unpaired.pairing
    } else for (const log of logs) this.#reader.add(log.block, amountTransfersOf(log, stats))
    return () => {
      this.#pairing = pairing
      this.#apply()
    }
  }

  scan(page: Page): ApplyLogs | undefined {
    return this.#reader.read(page) ? () => this.#apply() : undefined
  }

  rows(): PackedRows {
    return new PackedRows(this.#balances)
  }

  totals(): Totals {
    return this.#balances.totals()
  }

  intervals(): readonly Interval[] {
    return []
  }

  write(to: SnapshotWriter): void {
    to.big(this.#supply)
    to.big(BigInt(PAIRINGS.indexOf(this.#pairing)))
    to.big(this.outOfRange === null ? 0n : 1n)
    if (this.outOfRange !== null) {
      const { block, address, id, balance } = this.outOfRange
      to.big(BigInt(block))
      to.address(address)
      to.big(id ?? 0n)
      to.big(balance)
    }
    this.#idCheck?.write(to)
    this.#layoutCheck?.write(to)
    this.#balances.write(to)
  }

  read(from: SnapshotReader): void {
    this.#supply = from.big()
    this.#pairing = PAIRINGS[Number(from.big())] ?? null
    if (from.big() === 1n) {
      const [block, address, id, balance] = [Number(from.big()), from.address(), from.big(), from.big()]
      this.#balances.outOfRange = { address, id: this.#balances.hasIds ? id : null, balance, block }
    }
    this.#idCheck?.read(from)
    this.#layoutCheck?.read(from)
    while (!from.isAtEnd()) this.#balances.set(from.address(), from.big(), from.big())
  }

  /** Applies the rows that were read or decoded. */
  #apply(): void {
    this.#supply += this.#balances.apply(this.#reader.rows)
    this.#idCheck?.apply(this.#reader.rows)
    this.#layoutCheck?.apply(this.#reader.rows)
  }
}

const PAIRINGS: readonly Pairing[] = [null, false, true]
