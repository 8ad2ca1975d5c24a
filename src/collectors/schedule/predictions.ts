import { nextTurn } from '../../core/clock.ts'
import { smaller } from '../../core/units.ts'
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

/** Rounds that are kept while no collector takes them: half an hour would be 5,000. */
const MAX_ROUNDS = 2000

/** The rounds of the ledger stream since they were last taken. */
export const createRoundFeed = () => {
  let rounds: LedgerRound[] = []
  return {
    add: (round: LedgerRound): void => {
      if (rounds.length >= MAX_ROUNDS) rounds.shift()
      rounds.push(round)
    },
    take: (): readonly LedgerRound[] => {
      const taken = rounds
      rounds = []
      return taken
    },
  }
}

/** Consecutive rounds with the predicted leader after which predictions are published. */
export const PROOF_ROUNDS = 200

/**
 * Compares the predicted leaders with the authors of the ledger stream. Rounds from before the set of their epoch is
 * known are kept, as many as a proof needs. `onMiss`: a round had another leader than predicted.
 */
export const createPredictions = (onMiss: () => void) => {
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
    if (!round.isOld) onMiss()
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

/** 5 ms of work, at 20 µs a round. */
const SLICE = 250n
/** An hour of rounds: one call takes a quarter of a second, in slices. */
const AT_ONCE = 12_000n

/** The rounds that this node will lead. `pause` lets other work run. */
export const createOwnRounds = (pause = nextTurn) => {
  let ahead: bigint[] = []
  /** All rounds up to this one have been computed. */
  let computedTo: bigint | undefined

  return {
    /** The rounds ahead are computed again. */
    restart: (): void => {
      ahead = []
      computedTo = undefined
    },
    /**
     * Computes rounds ahead, an hour of them at most. `from`: the first round that matters, because those before it have passed.
     * Returns the last round that has been computed.
     */
    extend: async (from: bigint, to: bigint, isOwn: (round: bigint) => boolean): Promise<bigint> => {
      ahead = ahead.filter((round) => round >= from)
      let next = computedTo === undefined || computedTo + 1n < from ? from : computedTo + 1n
      const end = smaller(to, next + AT_ONCE - 1n)
      while (next <= end) {
        const last = smaller(end, next + SLICE - 1n)
        for (; next <= last; next += 1n) if (isOwn(next)) ahead.push(next)
        computedTo = last
        await pause()
      }
      return computedTo ?? from - 1n
    },
    ahead: (): readonly bigint[] => ahead,
  }
}
