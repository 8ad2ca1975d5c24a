import { createHash } from 'node:crypto'
import { createLeaderSchedule } from '../src/domain/leader-schedule.ts'
import { keyPairOf, type KeyType, type Sealed } from './keystore/keystore-file.ts'
import { larger } from '../src/core/units.ts'

/** Pseudorandom numbers in [0, 1), the same for the same seed (mulberry32). */
const createRandom = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** 64 hex digits, the same for the same parts: for hashes, keys and identifiers of the simulation. */
export const digest = (...parts: readonly (string | number | bigint)[]): string =>
  createHash('sha256').update(parts.join('/')).digest('hex')

/** An integer below `bound`, the same for the same parts. */
export const pick = (bound: number, ...parts: readonly (string | number | bigint)[]): number =>
  Number.parseInt(digest(...parts).slice(0, 8), 16) % bound

export type Validator = ReturnType<typeof createValidators>[number]

const TOKEN = 10n ** 18n
/** The stake of a validator, of a network of 250,000,000 tokens: 4.8 %, as its node reports. */
const STAKE = 12_000_000n * TOKEN
const ALL_STAKE = 250_000_000n * TOKEN

/** The validators of a simulated network. Each simulated node is one of them. */
const createValidators = (seed: number, count: number) =>
  Array.from({ length: count }, (_, index) => {
    const sealedOf = (type: KeyType): Sealed => {
      const text = `simulated ${type} key ${seed}/${index}, not a real key; `
      return { secret: Buffer.from(text).subarray(0, 32), version: 2 }
    }
    const sealed = { secp: sealedOf('secp'), bls: sealedOf('bls') }
    return {
      /** The contents of the keystores of its node. */
      sealed,
      /** The secp public key: 66 hex digits. */
      get publicKey() {
        return publicKeyOf(sealed.secp)
      },
      /** host:port, from reserved ranges. */
      address: `${addressOf(10 + index)}:8000`,
      /** In wei; the last one has the rest. */
      stake: index === count - 1 ? larger(STAKE, ALL_STAKE - BigInt(index) * STAKE) : STAKE,
    }
  })

/** Deriving a key takes milliseconds: done on first use, once per process. */
const publicKeyOf = (sealed: Sealed): string => {
  const name = sealed.secret.toString('latin1')
  const known = derived.get(name) ?? keyPairOf(sealed, 'secp').publicKey
  derived.set(name, known)
  return known
}

const derived = new Map<string, string>()

/** The first 256 from a range for documentation, the others from the range for benchmarks. */
const addressOf = (number: number): string =>
  number < 256 ? `198.51.100.${number}` : `198.18.${Math.floor(number / 256)}.${number % 256}`

interface Round {
  readonly round: bigint
  /** The validator that had to propose a block. */
  readonly leader: Validator
  /** When the network saw the outcome of the round. */
  readonly seenMs: number
}

export interface Block extends Round {
  readonly kind: 'block'
  readonly seqNum: bigint
  readonly parentRound: bigint
  readonly epoch: bigint
  /** The timestamp of the block. */
  readonly timeMs: number
  readonly transactions: number
  /** 64 hex digits. */
  readonly id: string
}

/** A round without a block: its leader did not propose one. */
export interface Timeout extends Round {
  readonly kind: 'timeout'
}

export type RoundOutcome = Block | Timeout

const ROUNDS = 40
const ROUND_MS = 350
const SPREAD_MS = 50
const TIMEOUT_MS = 1000
const ORIGIN_MS = Date.UTC(2025, 0, 1)
const LENGTH_MS = (ROUNDS - 1) * ROUND_MS + TIMEOUT_MS

/**
 * The chain consists of strides of equal length, so that any time can be looked up without counting from the start: 40
 * rounds, one of which times out, 39 blocks, 14.65 seconds.
 */
const STRIDE = { rounds: BigInt(ROUNDS), blocks: BigInt(ROUNDS - 1) } as const

/** The boundary block ends an epoch; the next one starts with the first block of 5,000 rounds later. */
export const EPOCH = {
  blocks: 50_000n,
  delayRounds: 5000n,
  /** The newest boundary block up to this block; -1 before the first one. */
  lastBoundary: (block: bigint): bigint => ((block + 1n) / EPOCH.blocks) * EPOCH.blocks - 1n,
  isInDelay: ({ seqNum, epoch }: Pick<Block, 'seqNum' | 'epoch'>): boolean => epoch === (seqNum + 1n) / EPOCH.blocks,
} as const

/** How many strides are cached; others are computed again. */
const KEPT = 256

type LeaderOf = (round: bigint) => Validator | undefined

/** The strides by their index. */
const createStrides = (seed: number, validators: readonly Validator[], originMs: number) => {
  let leaders: LeaderOf | undefined
  /** Deriving the keys takes time: done for the first round. */
  const leaderOf: LeaderOf = (round) => (leaders ??= createLeaders(validators))(round)
  const kept = new Map<number, ReturnType<typeof make>>()
  const make = (index: number) => {
    const rounds = [...makeRounds({ seed, leaderOf, originMs }, index)]
    return { rounds, blocks: rounds.filter((round) => round.kind === 'block') }
  }
  return (index: number) => {
    if (index < 0) throw new RangeError('the simulated chain begins in 2025')
    const known = kept.get(index)
    if (known) return known
    const [oldest] = kept.keys()
    if (kept.size >= KEPT && oldest !== undefined) kept.delete(oldest)
    const made = make(index)
    kept.set(index, made)
    return made
  }
}

/** The set of validators is the same in each epoch. */
const createLeaders = (validators: readonly Validator[]): LeaderOf => {
  const byKey = new Map(validators.map((validator) => [validator.publicKey, validator]))
  const schedule = createLeaderSchedule(validators.map(({ publicKey, stake }) => ({ secpKey: publicKey, stake })))
  return (round) => byKey.get(schedule.leader(round) ?? '')
}

/** Random integers of a stride, and the position of its round that times out. */
const drawStride = (seed: number, index: number) => {
  const random = createRandom(pick(2 ** 32, seed, 'stride', index))
  const whole = (below: number): number => Math.floor(random() * below)
  // Neither the first nor the last: the parent of every block is then in the stride or just before it.
  return { late: 1 + whole(ROUNDS - 2), whole }
}

const roundOf = (seed: number, seqNum: bigint): bigint => {
  const index = seqNum / STRIDE.blocks
  const position = seqNum % STRIDE.blocks
  const { late } = drawStride(seed, Number(index))
  return index * STRIDE.rounds + position + (position >= BigInt(late) ? 1n : 0n)
}

/** The first round of an epoch. */
const startOf = (seed: number, epoch: bigint): bigint =>
  epoch === 1n ? 0n : roundOf(seed, (epoch - 1n) * EPOCH.blocks - 1n) + EPOCH.delayRounds

const epochOf = (seed: number, { seqNum, round }: { readonly seqNum: bigint; readonly round: bigint }): bigint => {
  const next = (seqNum + 1n) / EPOCH.blocks + 1n
  return round < startOf(seed, next) ? next - 1n : next
}

interface StrideSource {
  readonly seed: number
  readonly leaderOf: LeaderOf
  readonly originMs: number
}

function* makeRounds({ seed, leaderOf, originMs }: StrideSource, index: number): Generator<RoundOutcome> {
  const { late, whole } = drawStride(seed, index)
  const durations = drawDurations(whole)
  let startMs = originMs + index * LENGTH_MS
  let parentRound = BigInt(index) * STRIDE.rounds - 1n
  let seqNum = BigInt(index) * STRIDE.blocks
  for (let position = 0; position < ROUNDS; position += 1) {
    const round = BigInt(index) * STRIDE.rounds + BigInt(position)
    const leader = leaderOf(round)
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
      epoch: epochOf(seed, { seqNum, round }),
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

/** 39 durations of 300 to 400 ms with an exact sum: each deviation has its opposite. */
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

/** A block is final when the second block after it is proposed. */
export const FINAL_AFTER = 2n

/**
 * The chain of a network, as a function of its seed and of time only. Nothing is stored: any block of any age can be
 * computed, and two simulators with one seed agree.
 */
export type Chain = ReturnType<typeof createChain>

/** Creates the chain of a network with that number of validators. `originMs` is the time of its first block. */
export const createChain = (seed = 1, validatorCount = 20, originMs = ORIGIN_MS) => {
  const validators = createValidators(seed, validatorCount)
  const strides = createStrides(seed, validators, originMs)
  const strideAt = (ms: number): number => Math.floor((ms - originMs) / LENGTH_MS)
  return {
    seed,
    validators,
    /** The newest block that the network had at that time. Throws a RangeError before 2025. */
    headAt: (ms: number): Block => {
      const index = strideAt(ms)
      const block = strides(index).blocks.findLast(({ seenMs }) => seenMs <= ms)
      const head = block ?? (index > 0 ? strides(index - 1).blocks.at(-1) : undefined)
      if (!head) throw new RangeError(`the simulated chain begins after ${new Date(ms).toISOString()}`)
      return head
    },
    /** Undefined below zero. Future blocks are returned too: the caller must stop at the head. */
    block: (seqNum: bigint): Block | undefined =>
      seqNum < 0n ? undefined : strides(Number(seqNum / STRIDE.blocks)).blocks[Number(seqNum % STRIDE.blocks)],
    round: (round: bigint): RoundOutcome | undefined =>
      round < 0n ? undefined : strides(Number(round / STRIDE.rounds)).rounds[Number(round % STRIDE.rounds)],
    /** The epochs whose set of validators is known at that block, each with its first round. */
    epochsAt: ({ epoch, seqNum }: Block) => {
      const last = (seqNum + 1n) / EPOCH.blocks === epoch ? epoch + 1n : epoch
      return (last === epoch ? [epoch] : [epoch, last]).map((one) => ({ epoch: one, startRound: startOf(seed, one) }))
    },
    /** The rounds that ended after `fromMs` and up to `toMs`, in order. */
    *between(fromMs: number, toMs: number): Generator<RoundOutcome> {
      for (let index = strideAt(fromMs); index <= strideAt(toMs); index += 1) {
        for (const happening of strides(index).rounds) {
          if (happening.seenMs > fromMs && happening.seenMs <= toMs) yield happening
        }
      }
    },
  }
}

/** The same chain as `createChain(seed)`, shifted so that a boundary block is proposed at that time. */
export const createChainWithBoundary = (seed: number, boundaryMs: number): Chain => {
  const chain = createChain(seed)
  const boundary = EPOCH.lastBoundary(chain.headAt(boundaryMs).seqNum) + EPOCH.blocks
  const { timeMs = boundaryMs } = chain.block(boundary) ?? {}
  return createChain(seed, undefined, ORIGIN_MS - (timeMs - boundaryMs))
}
