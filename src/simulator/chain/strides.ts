import type { Block, Happening } from './happening.ts'
import { createRandom, digest, pick } from './random.ts'
import type { Validator } from './validators.ts'

const ROUNDS = 40
const ROUND_MS = 350
const SPREAD_MS = 50
const TIMEOUT_MS = 1000
const BLOCKS_PER_EPOCH = 50_000n
const ORIGIN_MS = Date.UTC(2025, 0, 1)
const LENGTH_MS = (ROUNDS - 1) * ROUND_MS + TIMEOUT_MS

/**
 * The chain is cut into strides of equal length, so that any moment can be looked up without
 * counting from the beginning: 40 rounds, one of which times out, 39 blocks, 14.65 seconds.
 */
export const STRIDE = {
  rounds: BigInt(ROUNDS),
  blocks: BigInt(ROUNDS - 1),
  at: (ms: number): number => Math.floor((ms - ORIGIN_MS) / LENGTH_MS),
} as const

interface Stride {
  readonly rounds: readonly Happening[]
  readonly blocks: readonly Block[]
}

/** How many strides are kept at hand; the others are made again when they are asked for. */
const KEPT = 256

export const createStrides = (seed: number, validators: readonly Validator[]) => {
  const kept = new Map<number, Stride>()
  return {
    get: (index: number): Stride => {
      if (index < 0) throw new RangeError('the simulated chain begins in 2025')
      const known = kept.get(index)
      if (known) return known
      const [oldest] = kept.keys()
      if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest)
      const rounds = [...makeRounds(seed, validators, index)]
      const made = { rounds, blocks: rounds.filter((round) => round.kind === 'block') }
      kept.set(index, made)
      return made
    },
  } as const
}

function* makeRounds(
  seed: number,
  validators: readonly Validator[],
  index: number,
): Generator<Happening> {
  const random = createRandom(pick(2 ** 32, seed, 'stride', index))
  const whole = (below: number): number => Math.floor(random() * below)
  // Neither the first nor the last: the parent of every block then lies in sight.
  const late = 1 + whole(ROUNDS - 2)
  const durations = drawDurations(whole)
  let startMs = ORIGIN_MS + index * LENGTH_MS
  let parentRound = BigInt(index) * STRIDE.rounds - 1n
  let seqNum = BigInt(index) * STRIDE.blocks
  for (let position = 0; position < ROUNDS; position += 1) {
    const round = BigInt(index) * STRIDE.rounds + BigInt(position)
    const leader = validators[whole(validators.length)]
    if (!leader) throw new RangeError('a network needs at least one validator')
    if (position === late) {
      startMs += TIMEOUT_MS
      yield { kind: 'timeout', round, leader, seenMs: startMs + 1 + whole(15) }
      continue
    }
    yield {
      kind: 'block',
      round,
      leader,
      seqNum,
      parentRound,
      epoch: seqNum / BLOCKS_PER_EPOCH + 1n,
      timeMs: startMs,
      seenMs: startMs + 20 + whole(90),
      // At least one: token events need a transaction.
      transactions: Math.max(1, whole(60)),
      id: digest(seed, 'block', seqNum),
    }
    parentRound = round
    seqNum += 1n
    startMs += durations.pop() ?? ROUND_MS
  }
}

/** 39 durations of 300 to 400 ms that sum up exactly: each deviation has its opposite. */
const drawDurations = (whole: (below: number) => number): number[] => {
  const durations = [ROUND_MS]
  while (durations.length < ROUNDS - 1) {
    const deviation = whole(SPREAD_MS + 1)
    for (const duration of [ROUND_MS - deviation, ROUND_MS + deviation]) {
      durations.splice(whole(durations.length + 1), 0, duration)
    }
  }
  return durations
}
