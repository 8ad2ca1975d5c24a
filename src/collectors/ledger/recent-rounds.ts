import type { RecentRound } from '../../domain/round.ts'
import type { LedgerEvent } from '../../parsers/ledger-tail.ts'

/** A minute of rounds, if none times out. */
export const KEPT_ROUNDS = 150

/** The newest rounds of the ledger stream, for the status page. */
export const createRecentRounds = () => {
  const rounds = new Map<bigint, RecentRound>()
  let newest = 0n
  /** Lines in a row of rounds too old to be kept: more than ledger-tail repeats are those of another chain, or of a reset one. */
  let ignored = 0
  const isKept = (round: bigint): boolean => round > newest - BigInt(KEPT_ROUNDS)
  const oldestFrom = (round: bigint): bigint => (isKept(round) ? round : newest - BigInt(KEPT_ROUNDS) + 1n)

  const skip = (from: bigint, to: bigint, at: number): void => {
    for (let round = oldestFrom(from); round < to; round += 1n)
      if (!rounds.has(round)) rounds.set(round, { round, state: 'skipped', leader: null, at, isOwn: null })
  }
  /** Ends with the rounds up to this one. */
  const moveTo = (round: bigint): void => {
    const oldest = round - BigInt(KEPT_ROUNDS)
    if (oldest >= newest) rounds.clear()
    else for (let old = newest - BigInt(KEPT_ROUNDS); old <= oldest; old += 1n) rounds.delete(old)
    newest = round
  }
  return {
    add: (event: LedgerEvent, isOwn: boolean | null): void => {
      const { event: kind, round, author: leader, writtenAt } = event
      if (round > newest) moveTo(round)
      ignored = isKept(round) ? 0 : ignored + 1
      if (ignored > KEPT_ROUNDS) {
        rounds.clear()
        newest = round
      }
      if (!isKept(round)) return
      const before = rounds.get(round)
      const hasBlock = before?.state === 'finalized' || before?.state === 'proposed'
      // A block may be proposed again, and a round may time out although its block is taken.
      if (kind === 'finalized' ? before?.state !== 'finalized' : !hasBlock)
        rounds.set(round, {
          round,
          state: kind === 'timeout' ? 'timed out' : kind,
          leader,
          at: before === undefined || before.leader === null ? writtenAt : before.at,
          isOwn,
        })
      if (kind === 'proposed' && event.parentRound !== null) skip(event.parentRound + 1n, round, writtenAt)
    },
    /** Oldest first. Rounds of lines that were not read are missing. */
    all: (): readonly RecentRound[] => [...rounds.values()].toSorted((a, b) => Number(a.round - b.round)),
  }
}
