import { z } from 'zod'
import { minute } from '../../../core/units.ts'
import type { Slots } from './slots.ts'

/** What the node had to do as a validator, and did, in the window. */
export interface DutiesReading {
  readonly ownBlocks: number
  readonly ownTimeouts: number
  readonly rounds: number
  readonly timeouts: number
  /** Rounds that it should have led by its share of the stake; null where that was not known throughout. */
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
  readonly expected: number | null
}

const STRETCH_MS = 10 * minute
const WINDOW_MS = 6 * 60 * minute

/** The duties of the last six hours, from counts that only grow. */
export const createDuties = () => {
  let stretches: readonly Stretch[] = []
  let before: Slots = { rounds: 0, timeouts: 0, ownBlocks: 0, ownTimeouts: 0 }
  return {
    /** `share` of the stake of the network at this moment; undefined is unknown. */
    add: (slots: Slots, share: number | undefined, now: number): void => {
      const rounds = slots.rounds - before.rounds
      const seen: Stretch = {
        from: now - (now % STRETCH_MS),
        rounds,
        timeouts: slots.timeouts - before.timeouts,
        ownBlocks: slots.ownBlocks - before.ownBlocks,
        ownTimeouts: slots.ownTimeouts - before.ownTimeouts,
        // Nothing was to be expected of no rounds, whatever the share.
        expected: rounds === 0 ? 0 : share === undefined ? null : share * rounds,
      }
      before = slots
      const last = stretches.at(-1)
      const rest = last?.from === seen.from ? stretches.slice(0, -1) : stretches
      stretches = [
        ...rest.filter(({ from }) => now - from <= WINDOW_MS),
        last?.from === seen.from ? plus(last, seen) : seen,
      ]
    },
    read: (): DutiesReading | null => {
      if (stretches.length === 0) return null
      const { rounds, timeouts, ownBlocks, ownTimeouts, expected } = stretches.reduce(plus)
      const blockShare = rounds === 0 ? 1 : 1 - timeouts / rounds
      return {
        rounds,
        timeouts,
        ownBlocks,
        ownTimeouts,
        expected,
        shortfallProbability:
          expected === null || expected === 0 ? null : atMost(ownBlocks, expected * blockShare),
      }
    },
    memory: (): readonly Stretch[] => stretches,
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
    expected: z.number().nullable(),
  }),
)

const plus = (a: Stretch, b: Stretch): Stretch => ({
  from: a.from,
  rounds: a.rounds + b.rounds,
  timeouts: a.timeouts + b.timeouts,
  ownBlocks: a.ownBlocks + b.ownBlocks,
  ownTimeouts: a.ownTimeouts + b.ownTimeouts,
  expected: a.expected === null || b.expected === null ? null : a.expected + b.expected,
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
