import { type Page } from '../query/client/types.ts'
import { type Balances, MapBalances } from './balances.ts'
import { type Book, type Booking } from './book.ts'
import { movementsOf } from './decode-sums.ts'
import { type TokenLog } from './ledger-log.ts'
import { PackedBalances } from './packed-balances.ts'
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
  readonly fast: boolean
}

interface Scanned {
  readonly scanner: PageScanner
  readonly balances: PackedBalances
}

/** Balances of ERC-20, and of ERC-1155 by id: sums of what came and went. */
export class SumsBook implements Book {
  readonly #balances: Balances
  readonly #fast: Scanned | undefined
  readonly #hasIds: boolean
  #supply = 0n

  constructor({ contract, events, fast }: BookOptions) {
    this.#hasIds = [...events.values()].includes('TransferSingle')
    if (fast) {
      const balances = new PackedBalances([...events.values()])
      this.#fast = { scanner: new PageScanner(contract, [...events.keys()], balances), balances }
      this.#balances = balances
    } else this.#balances = new MapBalances()
  }

  get supply(): bigint {
    return this.#supply
  }

  prepare(logs: readonly TokenLog[], tally: Tally): Booking {
    const movements = logs.flatMap((log) => movementsOf(log, tally))
    return () => {
      for (const { from, to, id, amount } of movements) {
        if (from === ZERO_ADDRESS) this.#supply += amount
        else this.#balances.add(from, id, -amount)
        if (to === ZERO_ADDRESS) this.#supply -= amount
        else this.#balances.add(to, id, amount)
      }
    }
  }

  scan(page: Page, tally: Tally): Booking | undefined {
    const fast = this.#fast
    if (fast === undefined || !fast.scanner.scan(page)) return undefined
    tally.note('logs', fast.balances.logs)
    tally.note('applied', fast.balances.logs)
    return () => {
      this.#supply += fast.balances.book()
    }
  }

  rows(): readonly BalanceRow[] {
    const rows: BalanceRow[] = []
    for (const [address, id, balance] of this.#balances.entries()) {
      rows.push({ address, id: this.#hasIds ? id : null, balance })
    }
    return sorted(rows, { key: this.#hasIds ? idOf : balanceOf, compare: inOrder })
  }

  intervals(): readonly Interval[] {
    return []
  }

  heldBy(address: string, id: bigint | null): bigint {
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
