import { createLeaderSchedule, type LeaderSchedule } from '../../domain/leader-schedule.ts'
import type { ValidatorSet } from '../../parsers/validators.ts'

/** A round as the ledger stream reports it, in the order of its lines. */
export interface LedgerRound {
  readonly round: bigint
  /** The public key of the leader. */
  readonly author: string
  /** Null for a round that timed out. */
  readonly block: {
    readonly epoch: bigint | null
    readonly parentRound: bigint | null
    readonly seqNum: bigint
    /** Timestamp of the block, in milliseconds since the epoch. */
    readonly blockAt: number
  } | null
  /** From before the agent was first started: it proves the schedule, and is not counted. */
  readonly isOld: boolean
}

/** The rounds of the ledger stream since they were last taken. */
export interface RoundFeed {
  add(round: LedgerRound): void
  take(): readonly LedgerRound[]
}

/** Rounds that are kept while no collector takes them: half an hour would be 5,000. */
const MAX_ROUNDS = 2000

export const createRoundFeed = (): RoundFeed => {
  let rounds: LedgerRound[] = []
  return {
    add: (round) => {
      if (rounds.length >= MAX_ROUNDS) rounds.shift()
      rounds.push(round)
    },
    take: () => {
      const taken = rounds
      rounds = []
      return taken
    },
  }
}

/** Consecutive rounds with the predicted leader after which predictions are published. */
export const PROOF_ROUNDS = 200

interface PredictionCounts {
  /** A round had another leader than predicted. */
  missed(): void
}

/**
 * Compares the predicted leaders with the authors of the ledger stream. Rounds from before the set of their epoch is
 * known are kept, as many as a proof needs.
 */
export const createPredictions = ({ missed }: PredictionCounts) => {
  const schedules = new Map<bigint, LeaderSchedule>()
  let waiting: readonly (LedgerRound & { readonly epoch: bigint })[] = []
  /** A round that timed out has no epoch of its own: it is in the epoch of the blocks before and after it, if both have the same. */
  let timeouts: readonly LedgerRound[] = []
  let lastEpoch: bigint | undefined
  let agreed = 0
  let disagreedAt: bigint | null = null

  const compare = (round: LedgerRound, epoch: bigint): void => {
    const schedule = schedules.get(epoch)
    if (!schedule) {
      waiting = [...waiting.slice(1 - PROOF_ROUNDS), { ...round, epoch }]
      agreed = 0
      return
    }
    const isRight = schedule.leader(round.round) === round.author
    agreed = isRight ? Math.min(PROOF_ROUNDS, agreed + 1) : 0
    if (isRight) return
    disagreedAt = round.round
    if (!round.isOld) missed()
  }

  return {
    /** Sets of epochs; those of other epochs are forgotten. */
    setMembers: (sets: readonly ValidatorSet[]): void => {
      schedules.clear()
      for (const { epoch, members } of sets) schedules.set(epoch, createLeaderSchedule(members))
      const held = waiting
      waiting = []
      for (const round of held) compare(round, round.epoch)
    },
    add: (round: LedgerRound): void => {
      const epoch = round.block?.epoch ?? undefined
      if (!round.block) {
        timeouts = [...timeouts.slice(1 - PROOF_ROUNDS), round]
        return
      }
      if (epoch === undefined) return
      for (const one of timeouts) if (epoch === lastEpoch) compare(one, epoch)
      timeouts = []
      lastEpoch = epoch
      compare(round, epoch)
    },
    scheduleOf: (epoch: bigint): LeaderSchedule | undefined => schedules.get(epoch),
    agreed: (): number => agreed,
    /** The last round with another leader than predicted; null if the last 200 rounds agreed, or none was compared. */
    disagreedAt: (): bigint | null => (agreed < PROOF_ROUNDS ? disagreedAt : null),
    isProved: (): boolean => agreed >= PROOF_ROUNDS,
  }
}
