import { type Page } from '../client/types.ts'
import { AmountState } from './amount-state.ts'
import { invalidPage, type LedgerOptions, sizeOf, StandardError, StatCounter, STATS } from './types.ts'
import { OwnerState } from './owner-state.ts'
import { type EventName, eventsOf } from './signatures.ts'
import { SnapshotReader, SnapshotWriter, type TokenState } from './state.ts'
import { tokenLogs } from './decode.ts'

export const createLedger = (options: LedgerOptions): Ledger => new Ledger(options)

export type LedgerResult = ReturnType<Ledger['result']>

/** Computes the holders of the tokens of one contract from its events. */
export class Ledger {
  readonly #options: LedgerOptions
  readonly #events: ReadonlyMap<string, EventName>
  readonly #state: TokenState
  readonly #stats = new StatCounter()
  /** The first block that has not been applied; undefined before the first page. */
  #next: number | undefined

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#events = new Map(eventsOf(options.standard, options.profile))
    const stateOptions = { ...options, events: this.#events }
    this.#state = options.standard === 'erc721' ? new OwnerState(stateOptions) : new AmountState(stateOptions)
  }

  /**
   * Call with pages in block order, without a gap; blocks that were applied before are not applied again. Throws
   * QueryError('protocol') for an invalid page, of which nothing is applied.
   */
  applyPage(page: Page): void {
    const next = this.#next ?? page.from
    if (page.from > next) throw invalidPage(`the blocks from ${next} to ${page.from - 1} are missing`)
    const stats = new StatCounter()
    stats.add('pages')
    const scanned = page.from === next ? this.#state.scan(page) : undefined
    if (scanned !== undefined) {
      stats.add('fastPages')
      for (const stat of ['logs', 'applied'] as const) stats.add(stat, page.scanned?.count ?? 0)
    }
    const filter = { contract: this.#options.contract, events: this.#events, through: next }
    const apply = scanned ?? this.#state.prepare(tokenLogs(page, filter, stats), stats)
    apply(stats)
    this.#stats.addAll(stats)
    this.#next = Math.max(next, page.next)
  }

  /** Throws StandardError if all logs are of another standard. */
  result() {
    const { standard, fullHistory } = this.#options
    const stats = new StatCounter()
    stats.addAll(this.#stats)
    const { own, others } = this.#counts()
    const { supply, unindexedIds, outOfRange, mayIndexId } = this.#state
    for (const stat of ['applied', 'unindexed'] as const) stats.add(stat, unindexedIds)
    stats.add('wrongStandard', -unindexedIds)
    const rows = this.#state.rows()
    const intervals = this.#state.intervals()
    const isExplained = this.#isConsistent()
    const isKnown = fullHistory && isExplained
    // Incomplete ERC-721 is exempt: a transfer of an unknown token adds a row but no supply, and a mint may be of an existing token.
    const { total, overflow } = this.#state.totals()
    if (standard !== 'erc721' || isKnown) checkTotal(total + sizeOf(intervals), supply)
    stats.add('overflow', overflow + (this.#hasPossibleSupply() ? 0 : 1))
    return {
      /** ERC-20 by descending balance, then address; ERC-721 by id; ERC-1155 by id, descending balance, address. Includes negative balances. */
      rows,
      /** Ranges of ERC-2309 without the ids that were transferred on their own later. */
      intervals,
      /** The history is not complete: each balance is the change since the first block. */
      partial: !fullHistory,
      /** The history is complete, and its events do not explain the balances. */
      nonConserving: fullHistory && !isExplained,
      /** The first such balance; null for ERC-721, for a partial history, and if there was none. */
      outOfRange: fullHistory ? outOfRange : null,
      /** The events that were read are of ERC-20 and of ERC-721; these are the balances of the requested standard. */
      hybrid: own > 0 && others > 0,
      /** The logs may be of ERC-20 or of ERC-721: an id that is not indexed looks like an amount. */
      ambiguous: this.#isAmbiguous(others),
      /** Each recipient is a small number and each amount has the size of an address: the event may index the id in the place of an address. */
      mayIndexId,
      /** Minted less burned: amounts of ERC-20, tokens of ERC-721; null if unknown. */
      supply: isKnown && standard !== 'erc1155' ? supply : null,
      stats: stats.toRecord(),
    }
  }

  #isAmbiguous(others: number): boolean {
    const { unindexedIds, mayBeIds, mayIndexId } = this.#state
    return this.#stats.of('unindexed') + unindexedIds > 0 || (mayBeIds && others === 0) || mayIndexId
  }

  /** The complete state, for `restore`. */
  snapshot(): Uint8Array {
    const writer = new SnapshotWriter()
    writer.optional(this.#next ?? null)
    for (const stat of STATS) writer.big(BigInt(this.#stats.of(stat)))
    this.#state.write(writer)
    return writer.end()
  }

  /** Call on a new ledger, with the snapshot of one with the same options. */
  restore(bytes: Uint8Array): void {
    const reader = new SnapshotReader(bytes)
    this.#next = reader.optional() ?? undefined
    for (const stat of STATS) this.#stats.add(stat, Number(reader.big()))
    this.#state.read(reader)
  }

  /** The number of logs of this standard and of others. Throws StandardError if all are of another one. */
  #counts(): { readonly own: number; readonly others: number } {
    const { standard } = this.#options
    const { unindexedIds } = this.#state
    const own = this.#stats.of('applied') + unindexedIds
    const others = this.#stats.of('wrongStandard') - unindexedIds
    if (own > 0 || others === 0) return { own, others }
    const found = standard === 'erc20' ? 'erc721' : 'erc20'
    throw new StandardError(this.#state.mayIndexId ? null : found, others)
  }

  #isConsistent(): boolean {
    const { outOfRange } = this.#state
    return (
      outOfRange === null &&
      this.#hasPossibleSupply() &&
      this.#stats.of('inconsistent') === 0 &&
      this.#stats.of('unknownBuyer') === 0
    )
  }

  /** The standards have a total supply of 256 bits; ERC-1155 has none over its ids. */
  #hasPossibleSupply(): boolean {
    return this.#options.standard === 'erc1155' || this.#state.supply < 2n ** 256n
  }
}

/** Detects a bug in the tables of the state. */
const checkTotal = (total: bigint, supply: bigint): void => {
  if (total === supply) return
  throw new Error(`the balances add up to ${total}, but ${supply} were minted and not burned`)
}
