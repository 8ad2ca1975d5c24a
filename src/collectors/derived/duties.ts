import { z } from 'zod'
import { minute } from '../../core/units.ts'
import type { Slots } from './slots.ts'

/** What the node had to do as a validator, and did, in the window. */
export interface DutiesReading {
  readonly rounds: number
  readonly timeouts: number
  readonly ownBlocks: number
  readonly ownTimeouts: number
  /** Rounds that it should have led by its share of the stake; null while the share is not known. */
  readonly expected: number | null
  /** How likely so few own blocks, or fewer, would be by chance alone; null without an expectation. */
  readonly shortfallProbability: number | null
}

interface Stretch {
  /** Milliseconds since the epoch, by ten minutes. */
  readonly from: number
  readonly rounds: number
  readonly timeouts: number
  readonly ownBlocks: number
  readonly ownTimeouts: number
  /** Of the rounds of which both were known: whether they were our own, and our share of the stake. */
  readonly measured: number
  readonly expected: number
  readonly measuredBlocks: number
}

const STRETCH_MS = 10 * minute
const WINDOW_MS = 6 * 60 * minute

export type Duties = ReturnType<typeof createDuties>

/** The duties of the last six hours, from counts that only grow. */
export const createDuties = () => {
  let stretches: readonly Stretch[] = []
  let before: Slots = { rounds: 0, timeouts: 0, judged: 0, ownBlocks: 0, ownTimeouts: 0 }
  return {
    /** `share` of the stake of the network at this moment; undefined is unknown. */
    add: (slots: Slots, share: number | undefined, now: number): void => {
      const judged = share === undefined ? 0 : slots.judged - before.judged
      const ownBlocks = slots.ownBlocks - before.ownBlocks
      const seen: Stretch = {
        from: now - (now % STRETCH_MS),
        rounds: slots.rounds - before.rounds,
        timeouts: slots.timeouts - before.timeouts,
        ownBlocks,
        ownTimeouts: slots.ownTimeouts - before.ownTimeouts,
        measured: judged,
        expected: (share ?? 0) * judged,
        measuredBlocks: share === undefined ? 0 : ownBlocks,
      }
      before = slots
      // A clock that was set back leaves stretches of the future: they say nothing of these hours.
      const kept = stretches.filter(({ from }) => from <= now && now - from <= WINDOW_MS)
      const last = kept.at(-1)
      stretches =
        last?.from === seen.from ? [...kept.slice(0, -1), plus(last, seen)] : [...kept, seen]
    },
    read: (): DutiesReading | null => {
      if (stretches.length === 0) return null
      const total = stretches.reduce(plus)
      const { rounds, timeouts, ownBlocks, ownTimeouts, measured, expected, measuredBlocks } = total
      const blockShare = rounds === 0 ? 1 : 1 - timeouts / rounds
      return {
        rounds,
        timeouts,
        ownBlocks,
        ownTimeouts,
        expected: measured === 0 ? null : expected,
        shortfallProbability: expected === 0 ? null : atMost(measuredBlocks, expected * blockShare),
      }
    },
    snapshot: (): readonly Stretch[] => stretches,
    restore: (memory: unknown): void => {
      stretches = memorySchema.safeParse(memory).data ?? []
    },
  }
}

const memorySchema = z.array(
  z.object({
    from: z.number(),
    rounds: z.number(),
    timeouts: z.number(),
    ownBlocks: z.number(),
    ownTimeouts: z.number(),
    measured: z.number(),
    expected: z.number(),
    measuredBlocks: z.number(),
  }),
)

const plus = (a: Stretch, b: Stretch): Stretch => ({
  from: a.from,
  rounds: a.rounds + b.rounds,
  timeouts: a.timeouts + b.timeouts,
  ownBlocks: a.ownBlocks + b.ownBlocks,
  ownTimeouts: a.ownTimeouts + b.ownTimeouts,
  measured: a.measured + b.measured,
  expected: a.expected + b.expected,
  measuredBlocks: a.measuredBlocks + b.measuredBlocks,
})

/**
 * P(X ≤ count) for a Poisson distribution of that mean: turns are rare and independent draws.
 * By logarithms, so that a mean of thousands does not underflow.
 */
export const atMost = (count: number, mean: number): number => {
  let total = 0
  let logTerm = -mean
  for (let k = 0; k <= count; k += 1) {
    total += Math.exp(logTerm)
    logTerm += Math.log(mean) - Math.log(k + 1)
  }
  return Math.min(1, total)
}
