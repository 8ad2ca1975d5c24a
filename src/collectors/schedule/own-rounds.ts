import { z } from 'zod'
import { larger, smaller } from '../../core/units.ts'
import { savedInteger } from '../shared/saved-counts.ts'

/** A block that followed its parent. */
interface SettledBlock {
  readonly round: bigint
  /** Null is unknown. */
  readonly parentRound: bigint | null
  readonly epoch: bigint
  /** Whether this node is its author. */
  readonly isLed: boolean
  /** Whether the schedule predicts this node as the leader; false while the schedule is not proved. */
  isOwn(round: bigint): boolean
}

interface ExtendOptions {
  /** The first round that matters: those before it have passed. */
  readonly from: bigint
  readonly to: bigint
  isOwn(round: bigint): boolean
  /** Lets other work of the process run. */
  pause(): Promise<void>
}

/** 5 ms of work, at 20 µs a round. */
const SLICE = 250n
/** An hour of rounds: one call takes a quarter of a second, in slices. */
const AT_ONCE = 12_000n

const snapshotSchema = z.object({ epoch: savedInteger, led: z.number(), missed: z.number() })

/** The rounds that this node leads: those ahead, and what became of those of the epoch. */
export const createOwnRounds = () => {
  let ahead: bigint[] = []
  /** All rounds up to this one have been computed. */
  let computedTo: bigint | undefined
  let epoch: bigint | undefined
  let [led, missed] = [0, 0]
  let settledTo: bigint | undefined

  return {
    /** The rounds ahead are computed again. */
    restart: (): void => {
      ahead = []
      computedTo = undefined
    },
    /** Computes rounds ahead, an hour of them at most. Returns the last round that has been computed. */
    extend: async ({ from, to, isOwn, pause }: ExtendOptions): Promise<bigint> => {
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
    /** Counts the own rounds up to a block: those between it and its parent had no block. */
    settle: (block: SettledBlock): void => {
      if (block.epoch !== epoch) {
        ;[led, missed] = [0, 0]
        epoch = block.epoch
      }
      if (settledTo !== undefined && block.round <= settledTo) return
      const { parentRound } = block
      const first = parentRound === null ? block.round : larger(parentRound, settledTo ?? parentRound) + 1n
      // More are not missed rounds of this node but an outage of the network.
      const from = larger(first, block.round - SLICE)
      for (let round = from; round < block.round; round += 1n) if (block.isOwn(round)) missed += 1
      if (block.isLed) led += 1
      settledTo = block.round
    },
    ahead: (): readonly bigint[] => ahead,
    counts: () => ({ led, missed }),
    snapshot: () => (epoch === undefined ? null : { epoch, led, missed }),
    restore: (snapshot: unknown): void => {
      const { data } = snapshotSchema.safeParse(snapshot)
      if (data) ({ epoch, led, missed } = data)
    },
  }
}
