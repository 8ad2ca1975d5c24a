import { z } from 'zod'
import type { SampleIndex } from '../../core/metric.ts'
import { minute, sumsOf } from '../../core/units.ts'

interface Round {
  readonly isTimeout: boolean
  /** Whether this node led it; null while the own key is unknown. */
  readonly isOwn: boolean | null
}

/** `attributed`: rounds that ended while the own key was known. */
const NONE = { rounds: 0, timeouts: 0, attributed: 0, ownBlocks: 0, ownTimeouts: 0 }

/** Rounds whose end the agent read since it was started. */
export type RoundCounts = Readonly<typeof NONE>

/** Counts the rounds of the ledger stream. */
export const createRoundCounter = () => {
  let counts: RoundCounts | undefined
  return {
    add: ({ isTimeout, isOwn }: Round): void => {
      counts = sumsOf(counts ?? NONE, {
        rounds: 1,
        timeouts: Number(isTimeout),
        attributed: Number(isOwn !== null),
        ownBlocks: Number(isOwn === true && !isTimeout),
        ownTimeouts: Number(isOwn === true && isTimeout),
      })
    },
    /** Undefined until the first round. */
    read: (): RoundCounts | undefined => counts,
  }
}

/** The rounds of the window, and the expectation for those that this node leads as a validator. */
export type DutiesReading = NonNullable<ReturnType<ReturnType<typeof createDuties>['read']>>

/** The counts of ten minutes. */
const bucketSchema = z.object({
  /** Start, in milliseconds since the epoch. */
  from: z.number(),
  rounds: z.number(),
  timeouts: z.number(),
  ownBlocks: z.number(),
  ownTimeouts: z.number(),
  /** Rounds that ended while both the own key and the share of the stake were known. */
  measured: z.number(),
  expected: z.number(),
  measuredBlocks: z.number(),
})
type Bucket = Readonly<z.output<typeof bucketSchema>>

const BUCKET_MS = 10 * minute
const WINDOW_MS = 6 * 60 * minute

/** The duties of the last six hours, from cumulative counts. */
export const createDuties = () => {
  let buckets: readonly Bucket[] = []
  let before = NONE
  return {
    /** `share`: current share of the stake of the network; undefined is unknown. */
    add: (counts: RoundCounts, share: number | undefined, now: number): void => {
      const attributed = share === undefined ? 0 : counts.attributed - before.attributed
      const ownBlocks = counts.ownBlocks - before.ownBlocks
      const added: Bucket = {
        from: now - (now % BUCKET_MS),
        rounds: counts.rounds - before.rounds,
        timeouts: counts.timeouts - before.timeouts,
        ownBlocks,
        ownTimeouts: counts.ownTimeouts - before.ownTimeouts,
        measured: attributed,
        expected: (share ?? 0) * attributed,
        measuredBlocks: share === undefined ? 0 : ownBlocks,
      }
      before = counts
      // After the clock was set back, remove the buckets of the future.
      const kept = buckets.filter(({ from }) => from <= now && now - from <= WINDOW_MS)
      const last = kept.at(-1)
      buckets = last?.from === added.from ? [...kept.slice(0, -1), plus(last, added)] : [...kept, added]
    },
    read: () => {
      if (buckets.length === 0) return null
      const total = buckets.reduce(plus)
      const { rounds, timeouts, ownBlocks, ownTimeouts, measured, expected, measuredBlocks } = total
      const blockShare = rounds === 0 ? 1 : 1 - timeouts / rounds
      return {
        rounds,
        timeouts,
        ownBlocks,
        ownTimeouts,
        /** Expected number of rounds led, by the share of the stake; null while the share is unknown. */
        expected: measured === 0 ? null : expected,
        /** Probability of at most the observed number of own blocks, by chance; null without an expectation. */
        shortfallProbability: expected === 0 ? null : poissonAtMost(measuredBlocks, expected * blockShare),
      }
    },
    snapshot: (): readonly Bucket[] => buckets,
    restore: (snapshot: unknown): void => {
      buckets = z.array(bucketSchema).safeParse(snapshot).data ?? []
    },
  }
}

const plus = (a: Bucket, b: Bucket): Bucket => ({ ...sumsOf(a, b), from: a.from })

/**
 * P(X ≤ count) for a Poisson distribution with that mean: the leaders of rounds are drawn independently. Computed with
 * logarithms, so that a mean of thousands does not underflow.
 */
export const poissonAtMost = (count: number, mean: number): number => {
  let total = 0
  let logTerm = -mean
  for (let k = 0; k <= count; k += 1) {
    total += Math.exp(logTerm)
    logTerm += Math.log(mean) - Math.log(k + 1)
  }
  return Math.min(1, total)
}

/** A validator votes in every round; without an own vote for this time it does not sign. */
const QUIET_MS = 2 * minute

/**
 * Whether the node signs with its key: it has computed votes as a member of the active set, or led a round with a block.
 * A node outside the set computes its votes, too, and drops them (category-labs/monad-bft, monad-state/src/consensus.rs,
 * filter_cmds). A key that is active on two hosts can sign twice. Null until the sources are available.
 */
export const createSigningMonitor = () => {
  let votes: number | undefined
  let blocks: number | undefined
  let signedAt: number | undefined
  let availableSince: number | undefined
  return (known: SampleIndex, rounds: RoundCounts | undefined, elapsed: number): boolean | null => {
    const counted = known.value('chain_native_events_total', { event: 'vote_created' })
    const inLog = known.value('chain_consensus_window_messages', { kind: 'vote_created' })
    const isMember = isInActiveSet(known)
    const isAvailable = isMember !== undefined && (counted !== undefined || inLog !== undefined)
    availableSince = isAvailable ? (availableSince ?? elapsed) : undefined
    const hasVoted = isMember === true && ((inLog ?? 0) > 0 || increased(votes, counted))
    const hasSigned = hasVoted || increased(blocks, rounds?.ownBlocks)
    votes = counted ?? votes
    blocks = rounds?.ownBlocks ?? blocks
    if (hasSigned) signedAt = elapsed
    if (signedAt !== undefined && elapsed - signedAt <= QUIET_MS) return true
    return availableSince !== undefined && elapsed - availableSince > QUIET_MS ? false : null
  }
}

/** Whether the node is in the active set: reported by consensus once it is live, else by the staking precompile; undefined is unknown. */
const isInActiveSet = (known: SampleIndex): boolean | undefined => {
  const stake = known.value('chain_native_stake_ratio')
  const active = known.value('chain_staking_active')
  return stake === undefined ? (active === undefined ? undefined : active === 1) : stake > 0
}

const increased = (before: number | undefined, now: number | undefined): boolean =>
  before !== undefined && now !== undefined && now > before
