import { createRecentSet } from '../../collectors/shared/recent-set.ts'
import type { FinalizedBlock, LedgerEvent, ProposedBlock, Timeout } from '../../parsers/ledger-tail.ts'

interface Ownership {
  /** Null if the key of the node is unknown. */
  readonly isOwn: boolean | null
}

/** Rounds from one to another, both inclusive. */
interface RoundRange {
  readonly kind: 'skipped' | 'unseen'
  readonly from: bigint
  readonly to: bigint
  /** When the block after them was announced, in milliseconds since the epoch. */
  readonly at: number
}

/**
 * A row of the ledger: an event of the stream, skipped rounds without a timeout event, or rounds that are not in the
 * log.
 */
export type LedgerRow = ((ProposedBlock | FinalizedBlock | Timeout) & Ownership) | RoundRange

export interface LedgerSummary {
  readonly blocks: number
  readonly finalized: number
  readonly firstRound: bigint | null
  readonly lastRound: bigint | null
  readonly firstBlock: bigint | null
  readonly lastBlock: bigint | null
  readonly transactions: bigint
  /** Rounds without a block, with or without a timeout event. */
  readonly skipped: bigint
  readonly unseen: bigint
  /** Null if the key of the node is unknown. */
  readonly own: { readonly blocks: number; readonly timeouts: number } | null
}

/** More events than the program repeats when it starts. */
const MAX_REMEMBERED = 512

/** Folds the stream into rows. Repeated events are dropped. */
export const createRounds = (ownKey: string | null) => {
  const known = createRecentSet(MAX_REMEMBERED)
  /** Timeouts of rounds after the newest block. */
  const timeouts = new Set<bigint>()
  let settled: bigint | null = null
  let lastSeq: bigint | null = null
  let total = {
    blocks: 0,
    finalized: 0,
    transactions: 0n,
    skipped: 0n,
    unseen: 0n,
    ownBlocks: 0,
    ownTimeouts: 0,
  }
  const range = { firstRound: NO, lastRound: NO, firstBlock: NO, lastBlock: NO }

  const before = (block: ProposedBlock): readonly RoundRange[] => {
    const { round, parentRound, seqNum, writtenAt: at } = block
    const previous = settled
    const isNext = lastSeq !== null && seqNum === lastSeq + 1n
    settled = larger(previous, round)
    lastSeq = larger(lastSeq, seqNum)
    // Some versions omit the parent: it is the previous block if the numbers are consecutive.
    const parent = parentRound ?? (isNext ? previous : null)
    if (parent === null) {
      return previous === null ? [] : runs(previous + 1n, round - 1n, { kind: 'unseen', at })
    }
    const unseen = previous !== null && parent > previous
    return [
      ...(unseen ? runs(previous + 1n, parent, { kind: 'unseen', at }) : []),
      ...runs(larger(previous, parent) + 1n, round - 1n, { kind: 'skipped', at }),
    ]
  }

  /** Counts all rounds of the range, and returns those without an event as rows. */
  const runs = (from: bigint, to: bigint, { kind, at }: Pick<RoundRange, 'kind' | 'at'>): readonly RoundRange[] => {
    if (to < from) return []
    total = { ...total, [kind]: total[kind] + to - from + 1n }
    const timedOut = [...timeouts].filter((round) => round >= from && round <= to).toSorted(ascending)
    const rows: RoundRange[] = []
    let next = from
    for (const round of [...timedOut, to + 1n]) {
      timeouts.delete(round)
      if (round > next) rows.push({ kind, from: next, to: round - 1n, at })
      next = round + 1n
    }
    return rows
  }

  return {
    add: (event: LedgerEvent): readonly LedgerRow[] => {
      const height = event.event === 'timeout' ? '' : event.seqNum
      if (!known.add(`${event.event}:${height}:${event.round}`)) return []
      const isOwn = ownKey === null ? null : event.author === ownKey
      if (event.event === 'finalized') {
        total = { ...total, finalized: total.finalized + 1 }
        return [{ ...event, isOwn }]
      }
      range.firstRound = smaller(range.firstRound, event.round)
      range.lastRound = larger(range.lastRound, event.round)
      if (event.event === 'timeout') {
        if (settled === null || event.round > settled) timeouts.add(event.round)
        total = { ...total, ownTimeouts: total.ownTimeouts + (isOwn ? 1 : 0) }
        return [{ ...event, isOwn }]
      }
      range.firstBlock = smaller(range.firstBlock, event.seqNum)
      range.lastBlock = larger(range.lastBlock, event.seqNum)
      total = {
        ...total,
        blocks: total.blocks + 1,
        transactions: total.transactions + event.transactions,
        ownBlocks: total.ownBlocks + (isOwn ? 1 : 0),
      }
      return [...before(event), { ...event, isOwn }]
    },
    summary: (): LedgerSummary => {
      const { ownBlocks: blocks, ownTimeouts, skipped, ...counts } = total
      const own = ownKey === null ? null : { blocks, timeouts: ownTimeouts }
      return { ...range, ...counts, skipped: skipped + BigInt(timeouts.size), own }
    },
  }
}

const NO: bigint | null = null

const larger = (a: bigint | null, b: bigint): bigint => (a !== null && a > b ? a : b)
const smaller = (a: bigint | null, b: bigint): bigint => (a !== null && a < b ? a : b)
const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : 1)
