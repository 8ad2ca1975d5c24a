import { createRecentSet } from '../../collectors/shared/recent-set.ts'
import { createLeaderSchedule, type LeaderSchedule } from '../../domain/leader-schedule.ts'
import type { ValidatorSet } from '../../parsers/validators.ts'
import type { LedgerRow } from '../ledger/ledger.ts'
import { larger } from '../../core/units.ts'

/** A round that this node led and that has no block of it. Times are in milliseconds since the epoch. */
export interface MissedRound {
  /** When the stream showed it. */
  readonly at: number
  readonly epoch: bigint
  readonly round: bigint
  /**
   * `timeout`: the stream reports it. `skipped`: no block and no timeout in the stream; the leader is that of the
   * schedule. `abandoned`: it had a block, and another one of that height was finalized.
   */
  readonly how: 'timeout' | 'skipped' | 'abandoned'
  /** The public key of the leader of the round before; null if it is not known. */
  readonly previousLeader: string | null
  /** Rounds without a block among the 50 before, as far as the stream shows them. */
  readonly othersMissed: number
}

interface Proposal extends Omit<MissedRound, 'how'> {
  readonly seqNum: bigint
}

const MAX_MISSED = 1000
const MAX_GAPS = 1000
/** Rounds that are remembered for what is reported about those after them. */
const NEARBY = 50n
/** Own proposals that wait for a finalized block of their height: seconds of them. */
const MAX_PROPOSALS = 100
/** Rounds that are not in the stream and are computed all the same: more than an epoch. */
const MAX_COMPUTED = 60_000n
/** Blocks that a proof needs. */
const PROOF_BLOCKS = 200

/**
 * Adds up the rounds that this node led, from the rows of the ledger. `sets` are the sets of validators that the node
 * has; the schedule of an epoch is used only if every block agrees with it.
 */
export const createRoundHistory = (ownKey: string | null, sets: readonly ValidatorSet[]) => {
  const schedules = new Map(sets.map(({ epoch, members }) => [epoch, createLeaderSchedule(members)]))
  const byEpoch = new Map<bigint, EpochCounts>()
  const missed = new Map<bigint, MissedRound>()
  let omitted = 0
  const gaps: Readonly<Record<'fromAt' | 'toAt', number>>[] = []
  /** The leaders of the newest rounds, and which had no block. */
  const leaders = new Map<bigint, string>()
  let withoutBlock: readonly bigint[] = []
  const proposals = new Map<bigint, Proposal>()
  const led = createRecentSet(MAX_MISSED)
  let first: number | undefined
  let last: { readonly round: bigint; readonly epoch: bigint; readonly at: number } | undefined
  /** Ranges since the last block: the next one decides about their epoch. */
  let ranges: Exclude<LedgerRow, { readonly event: string }>[] = []

  const countsOf = (epoch: bigint, at: number): EpochCounts => {
    const counts = byEpoch.get(epoch) ?? newCounts(at)
    byEpoch.set(epoch, counts)
    return counts
  }

  const addMissed = (round: MissedRound): void => {
    missed.set(round.round, round)
    if (missed.size <= MAX_MISSED) return
    keep(missed, MAX_MISSED)
    omitted += 1
  }

  const describe = (round: bigint, at: number, epoch: bigint): Omit<MissedRound, 'how'> => ({
    at,
    epoch,
    round,
    previousLeader: leaders.get(round - 1n) ?? schedules.get(epoch)?.leader(round - 1n) ?? null,
    othersMissed: withoutBlock.filter((one) => one < round && one >= round - NEARBY).length,
  })

  const addWithoutBlock = (round: bigint): void => {
    withoutBlock = [...withoutBlock.slice(1 - Number(NEARBY)), round]
  }

  /** Rounds without an event, between two blocks: of one epoch, or of two. */
  const addRanges = (counts: EpochCounts, next: bigint): void => {
    // The rounds before the first block are not covered.
    for (const { kind, from, to, at } of last ? ranges : []) {
      const schedule = last?.epoch === next ? schedules.get(next) : undefined
      const size = to - from + 1n
      if (kind === 'unseen') {
        counts.unseen += size
        if (last && gaps.at(-1)?.toAt !== at && gaps.length < MAX_GAPS) gaps.push({ fromAt: last.at, toAt: at })
        if (schedule && size <= MAX_COMPUTED) {
          counts.computed += size
          counts.unseenOwn += roundsLedBy(ownKey, schedule, { from, to }).length
        }
        continue
      }
      if (last?.epoch === next && size <= MAX_COMPUTED) counts.unnamed += size
      else counts.ambiguous += size
      for (let round = larger(from, to - NEARBY); round <= to; round += 1n) addWithoutBlock(round)
      if (!schedule || size > MAX_COMPUTED) continue
      for (const round of roundsLedBy(ownKey, schedule, { from, to })) {
        counts.candidates.push({ ...describe(round, at, next), how: 'skipped' })
      }
    }
    ranges = []
  }

  const addBlock = (block: Extract<LedgerRow, { readonly event: 'proposed' }>): void => {
    const { round, epoch, seqNum, author, writtenAt: at, isOwn } = block
    if (epoch === null) return
    first ??= at
    const counts = countsOf(last?.epoch ?? epoch, at)
    const seen = counts.unseen
    addRanges(counts, epoch)
    const current = countsOf(epoch, at)
    current.toAt = at
    if (!last || round > last.round) current.rounds += last ? round - last.round - (counts.unseen - seen) : 1n
    leaders.set(round, author)
    keep(leaders, Number(NEARBY))
    const schedule = schedules.get(epoch)
    if (schedule) {
      current.compared += 1
      if (schedule.leader(round) !== author) current.differing += 1
    }
    if (isOwn === true && led.add(`${round}`)) {
      // A timeout of the round was reported before its block.
      if (missed.delete(round)) current.missed -= 1
      current.led += 1
      proposals.set(round, { ...describe(round, at, epoch), seqNum })
      keep(proposals, MAX_PROPOSALS)
    }
    if (!last || round > last.round) last = { round, epoch, at }
  }

  const addTimeout = ({ round, author, writtenAt: at, isOwn }: Extract<LedgerRow, { readonly event: 'timeout' }>) => {
    leaders.set(round, author)
    keep(leaders, Number(NEARBY))
    // The round is in the epoch of the block before it.
    if (!last || round <= last.round) return
    if (isOwn === true && !missed.has(round)) {
      countsOf(last.epoch, at).missed += 1
      addMissed({ ...describe(round, at, last.epoch), how: 'timeout' })
    }
    addWithoutBlock(round)
  }

  const addFinalized = (block: Extract<LedgerRow, { readonly event: 'finalized' }>): void => {
    for (const [round, { seqNum, ...proposal }] of proposals) {
      if (seqNum !== block.seqNum) continue
      proposals.delete(round)
      if (round === block.round) continue
      const counts = countsOf(proposal.epoch, proposal.at)
      counts.led -= 1
      counts.missed += 1
      addMissed({ ...proposal, how: 'abandoned' })
    }
  }

  return {
    add: (row: LedgerRow): void => {
      if (!('event' in row)) ranges.push(row)
      else if (row.event === 'proposed') addBlock(row)
      else if (row.event === 'timeout') addTimeout(row)
      else addFinalized(row)
    },
    read: () => {
      const proved = [...byEpoch].filter(([epoch, counts]) => scheduleState(schedules.has(epoch), counts) === 'proved')
      const all = [...missed.values(), ...proved.flatMap(([, { candidates }]) => candidates)].toSorted((a, b) =>
        a.round < b.round ? -1 : 1,
      )
      return {
        epochs: [...byEpoch].map(([epoch, counts]) =>
          dutiesOf(epoch, counts, { isKnown: ownKey !== null, hasSchedule: schedules.has(epoch) }),
        ),
        /** The newest, oldest first. */
        missed: all.slice(-MAX_MISSED),
        /** Missed rounds that are left out. */
        omitted: omitted + Math.max(0, all.length - MAX_MISSED),
        /** From the first to the last block; null without a block. */
        covered: first === undefined || !last ? null : { fromAt: first, toAt: last.at },
        /** Times of which the stream has no rounds. */
        gaps,
      }
    },
  }
}

/** Removes the oldest entries beyond this number. */
const keep = (map: Map<bigint, unknown>, most: number): void => {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}

const roundsLedBy = (
  key: string | null,
  schedule: LeaderSchedule,
  { from, to }: Readonly<Record<'from' | 'to', bigint>>,
): readonly bigint[] => {
  const own: bigint[] = []
  for (let round = from; round <= to; round += 1n) if (schedule.leader(round) === key) own.push(round)
  return own
}

/** `isKnown`: whether the own key is known. */
const dutiesOf = (
  epoch: bigint,
  counts: EpochCounts,
  { isKnown, hasSchedule }: Readonly<Record<'isKnown' | 'hasSchedule', boolean>>,
) => {
  const schedule = scheduleState(hasSchedule, counts)
  const isProved = schedule === 'proved'
  const { candidates, fromAt, toAt } = counts
  const leaderUnknown = Number(counts.ambiguous + (isProved ? 0n : counts.unnamed))
  const own = counts.missed + (isProved ? candidates.length : 0)
  return {
    epoch,
    /** The first and the last block. */
    fromAt,
    toAt,
    /** Rounds whose outcome is known. */
    rounds: Number(counts.rounds),
    /** Own rounds with a block; null without the own key. */
    led: isKnown ? counts.led : null,
    missed: isKnown ? own : null,
    /** Own rounds; null if the leader of some of the rounds is not known. */
    expected: isKnown && leaderUnknown === 0 ? counts.led + own : null,
    /** Rounds without a block whose leader is not known. */
    leaderUnknown,
    schedule,
    /** Rounds that are not in the stream, and own ones among them; null without the schedule. */
    unseen: Number(counts.unseen),
    unseenOwn: isKnown && isProved && counts.computed === counts.unseen ? counts.unseenOwn : null,
  }
}

/** What is held of one epoch. */
const newCounts = (at: number) => ({
  fromAt: at,
  toAt: at,
  rounds: 0n,
  led: 0,
  missed: 0,
  /** Rounds without a block and a timeout whose leader only the schedule knows. */
  unnamed: 0n,
  /** Own ones among them, if the schedule is right. */
  candidates: new Array<MissedRound>(),
  /** Such rounds between two epochs: the schedule of either may apply. */
  ambiguous: 0n,
  compared: 0,
  differing: 0,
  unseen: 0n,
  /** Unseen rounds whose leaders were computed, and own ones among them. */
  computed: 0n,
  unseenOwn: 0,
})

type EpochCounts = ReturnType<typeof newCounts>

/** Whether the leader schedule of the epoch is available, and agrees with every block of the stream. */
const scheduleState = (isKnown: boolean, { compared, differing }: EpochCounts) => {
  if (!isKnown) return 'unknown'
  return differing === 0 && compared >= PROOF_BLOCKS ? 'proved' : 'not proved'
}
