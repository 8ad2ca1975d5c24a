import type { Block, Happening } from './happening.ts'
import { createStrides, STRIDE } from './strides.ts'
import { createValidators, type Validator } from './validators.ts'

/** A block is final when the second block after it is proposed. */
export const FINAL_AFTER = 2n

/**
 * The chain that a network makes, as a function of its seed and of time alone: nothing is stored,
 * so any block of any age can be asked for, and two simulators with one seed agree.
 */
export interface Chain {
  readonly seed: number
  readonly validators: readonly Validator[]
  /** The newest block that the network had seen by then. */
  headAt(ms: number): Block
  /** Undefined below zero. Blocks of the future have an answer too: it is for the asker to stop at the head. */
  block(seqNum: bigint): Block | undefined
  round(round: bigint): Happening | undefined
  /** What was seen after `fromMs` and not after `toMs`, in order. */
  between(fromMs: number, toMs: number): Iterable<Happening>
}

/** A network has twenty validators, or as many as are wanted. */
export const createChain = (seed = 1, validatorCount = 20): Chain => {
  const validators = createValidators(seed, validatorCount)
  const strides = createStrides(seed, validators)
  return {
    seed,
    validators,
    headAt: (ms) => {
      const index = STRIDE.at(ms)
      const block = strides.get(index).blocks.findLast(({ seenMs }) => seenMs <= ms)
      const head = block ?? (index > 0 ? strides.get(index - 1).blocks.at(-1) : undefined)
      if (!head)
        throw new RangeError(`the simulated chain begins after ${new Date(ms).toISOString()}`)
      return head
    },
    block: (seqNum) =>
      seqNum < 0n
        ? undefined
        : strides.get(Number(seqNum / STRIDE.blocks)).blocks[Number(seqNum % STRIDE.blocks)],
    round: (round) =>
      round < 0n
        ? undefined
        : strides.get(Number(round / STRIDE.rounds)).rounds[Number(round % STRIDE.rounds)],
    *between(fromMs, toMs) {
      for (let index = STRIDE.at(fromMs); index <= STRIDE.at(toMs); index += 1) {
        for (const happening of strides.get(index).rounds) {
          if (happening.seenMs > fromMs && happening.seenMs <= toMs) yield happening
        }
      }
    },
  }
}
