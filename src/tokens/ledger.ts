import { ConfigError } from '../core/errors.ts'
import { type Page } from '../query/client/types.ts'
import { type Book } from './book.ts'
import { invalidPage, StandardError } from './errors.ts'
import { parseAddress } from './format.ts'
import { tokenLogs } from './ledger-log.ts'
import { OwnersBook } from './owners-book.ts'
import { type EventName, eventsOf, standardOf } from './signatures.ts'
import { SnapshotReader, SnapshotWriter } from './snapshot.ts'
import { SumsBook } from './sums-book.ts'
import { Tally } from './tally.ts'
import {
  type BalanceRow,
  type Interval,
  type Ledger,
  type LedgerOptions,
  type LedgerResult,
  STATS,
} from './types.ts'

export type * from './types.ts'

/** What one contract's events say of who holds its tokens. Throws ConfigError where it can not be asked for. */
export const createLedger = (options: LedgerOptions): Ledger => new TokenLedger(options)

class TokenLedger implements Ledger {
  readonly #options: LedgerOptions
  readonly #contract: string
  readonly #events: ReadonlyMap<string, EventName>
  #book: Book
  #tally = new Tally()
  /** The first block that was not read; undefined before the first page. */
  #through: number | undefined

  constructor(options: LedgerOptions) {
    const { standard, contract, profile = null } = options
    if (profile !== null && standardOf(profile) !== standard) {
      throw new ConfigError(
        `The profile ${profile} is one of ${standardOf(profile)}, not of ${standard}`,
      )
    }
    const address = parseAddress(contract)
    if (address === undefined) throw new ConfigError(`Not an address of 20 bytes: ${contract}`)
    this.#options = options
    this.#contract = address
    this.#events = new Map(eventsOf(standard, profile))
    this.#book = this.#emptyBook()
  }

  applyPage(page: Page): void {
    const through = this.#through ?? page.from
    if (page.from > through)
      throw invalidPage(`the blocks from ${through} to ${page.from - 1} are missing`)
    const tally = new Tally()
    tally.note('pages')
    const scanned = page.from === through ? this.#book.scan(page, tally) : undefined
    if (scanned !== undefined) tally.note('fastPages')
    const wanted = { contract: this.#contract, events: this.#events, through }
    const book = scanned ?? this.#book.prepare(tokenLogs(page, wanted, tally), tally)
    book(tally)
    this.#tally.addAll(tally)
    this.#through = Math.max(through, page.next)
  }

  result(): LedgerResult {
    const { standard, fullHistory } = this.#options
    const tally = new Tally()
    tally.addAll(this.#tally)
    const { own, others } = this.#counts()
    const rows = this.#book.rows()
    const intervals = this.#book.intervals()
    const isExplained = this.#isConsistent() && rows.every(({ balance }) => balance >= 0n)
    const isKnown = fullHistory && isExplained
    const { supply } = this.#book
    // Who gives away a token that he has not adds none, and mints may be of tokens that were there.
    if (standard !== 'erc721' || isKnown) checkSum(heldIn(rows, intervals), supply)
    tally.note(
      'overflow',
      rows.filter(({ balance }) => balance >= BEYOND || balance <= -BEYOND).length,
    )
    return {
      rows,
      intervals,
      partial: !fullHistory,
      nonConserving: fullHistory && !isExplained,
      hybrid: own > 0 && others > 0,
      supply: isKnown && standard !== 'erc1155' ? supply : null,
      stats: tally.toRecord(),
    }
  }

  isExplained(): boolean {
    this.#counts()
    return this.#options.fullHistory && this.#isConsistent() && !this.#book.hasNegative()
  }

  balanceOf(address: string, id: bigint | null): bigint {
    return this.#book.heldBy(address, id)
  }

  snapshot(): Uint8Array {
    const writer = new SnapshotWriter(this.#title())
    writer.big(BigInt(this.#through ?? -1))
    for (const stat of STATS) writer.big(BigInt(this.#tally.of(stat)))
    this.#book.write(writer)
    return writer.end()
  }

  restore(bytes: Uint8Array): void {
    const reader = new SnapshotReader(bytes, this.#title())
    const through = Number(reader.big())
    const tally = new Tally()
    for (const stat of STATS) tally.note(stat, Number(reader.big()))
    const book = this.#emptyBook()
    book.read(reader)
    this.#book = book
    this.#tally = tally
    this.#through = through === -1 ? undefined : through
  }

  /** How many logs are of the standard, and how many of another. Throws StandardError where all are. */
  #counts(): { readonly own: number; readonly others: number } {
    const { standard } = this.#options
    const [own, others] = [this.#tally.of('applied'), this.#tally.of('wrongStandard')]
    if (own > 0 || others === 0) return { own, others }
    throw new StandardError(standard, standard === 'erc20' ? 'erc721' : 'erc20', others)
  }

  #isConsistent(): boolean {
    return this.#tally.of('inconsistent') === 0 && this.#tally.of('unknownBuyer') === 0
  }

  #emptyBook(): Book {
    const { standard, fullHistory, path } = this.#options
    const options = {
      contract: this.#contract,
      events: this.#events,
      fullHistory,
      fast: path !== 'generic',
    }
    return standard === 'erc721' ? new OwnersBook(options) : new SumsBook(options)
  }

  /** Whose balances a snapshot has. */
  #title(): string {
    const { standard, fullHistory, profile } = this.#options
    const history = fullHistory ? 'whole history' : 'part of the history'
    return `${standard} ${this.#contract}, ${history}, profile ${profile ?? 'none'}, with ${STATS.join()}`
  }
}

const BEYOND = 2n ** 256n

const heldIn = (rows: readonly BalanceRow[], intervals: readonly Interval[]): bigint => {
  let held = 0n
  for (const { balance } of rows) held += balance
  for (const { from, to } of intervals) held += to - from + 1n
  return held
}

/** Always so, unless there is a fault in the tables. */
const checkSum = (held: bigint, supply: bigint): void => {
  if (held === supply) return
  throw new Error(`the balances add up to ${held}, where ${supply} were minted and not burned`)
}
