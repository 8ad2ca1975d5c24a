import { z } from 'zod'
import type { SampleIndex } from '../../core/metric.ts'
import { larger, second } from '../../core/units.ts'
import type { Checkpoint } from '../../sources/checkpoint.ts'
import type { RoundLog } from '../consensus/round-log.ts'
import { savedInteger } from '../shared/saved-counts.ts'
import { classifyMissedRound, MISS_CLASSES, type MissedRoundCause } from './miss-class.ts'
import type { LedgerRound } from './predictions.ts'
import { AFTER_MS, createRoundReadings } from './round-readings.ts'

/** The name of the checkpoint with the classes. */
export const MISSED_ROUNDS = 'missed-rounds'

const savedSchema = z.object({
  round: savedInteger,
  /** In milliseconds since the epoch. */
  at: z.number(),
  class: z.enum(MISS_CLASSES),
  figures: z.array(z.string()).readonly(),
})

/** A missed round with its class. */
export type ClassifiedRound = Readonly<z.output<typeof savedSchema>>

/** The rounds of a checkpoint, oldest first; empty for anything else. */
export const parseMissedRounds = (saved: unknown): readonly ClassifiedRound[] =>
  z.array(savedSchema).safeParse(saved).data ?? []

/** About 250 KB. A node with a hundredth of the stake that misses one round in ten has them for a month. */
const MAX_SAVED = 1000
/** The readings after the round must exist, and a block that was proposed again may still be taken. */
const WAIT_MS = AFTER_MS + 10 * second
/** More rounds between a block and its parent are an outage of the network. */
const MAX_BETWEEN = 250n
const MAX_OPEN = 100

interface BlockContext {
  readonly ownKey: string
  readonly now: number
  /** Whether the schedule predicts this node as the leader; false while it is not proved. */
  isOwn(round: bigint): boolean
}

/** Finds the rounds that this node led without a block, and classifies each once the readings around it exist. */
export const createMissedRounds = (roundLog: RoundLog, checkpoint: Checkpoint) => {
  const readings = createRoundReadings()
  let classified: readonly ClassifiedRound[] = []
  /** Own rounds that timed out, by the stream. */
  const timeouts = new Set<bigint>()
  /** Own blocks: height by round. */
  const proposals = new Map<bigint, bigint>()
  const waiting = new Map<bigint, { readonly at: number; readonly foundAt: number }>()

  const isClassified = (round: bigint): boolean => classified.some((one) => one.round === round)

  const find = (round: bigint, at: number, now: number): void => {
    timeouts.delete(round)
    if (!waiting.has(round) && !isClassified(round) && waiting.size < MAX_OPEN) waiting.set(round, { at, foundAt: now })
  }

  const addBlock = (round: bigint, block: NonNullable<LedgerRound['block']>, context: BlockContext): void => {
    const { parentRound, blockAt, seqNum } = block
    const after = parentRound ?? round - 1n
    for (const one of timeouts) if (one > after && one < round) find(one, blockAt, context.now)
    for (let one = larger(after + 1n, round - MAX_BETWEEN); one < round; one += 1n)
      if (context.isOwn(one)) find(one, blockAt, context.now)
    for (const [own, height] of proposals) {
      if (own >= round) continue
      // A later block is not on top of it: it was abandoned.
      if (height >= seqNum) find(own, blockAt, context.now)
      proposals.delete(own)
    }
  }

  const classify = (round: bigint, at: number, ownKey: string): ClassifiedRound => {
    const ownMissed = new Set([...waiting.keys(), ...timeouts, ...classified.map((one) => one.round)])
    const cause: MissedRoundCause = classifyMissedRound({
      log: roundLog.read({ round, at, ownKey, ownMissed }),
      readings: readings.around(at),
    })
    return { round, at, ...cause }
  }

  return {
    restore: async (): Promise<void> => {
      classified = parseMissedRounds((await checkpoint.read()).value)
    },
    add: ({ round, author, block }: LedgerRound, context: BlockContext): void => {
      const isLed = author === context.ownKey
      if (!block) {
        if (isLed && timeouts.size < MAX_OPEN) timeouts.add(round)
        return
      }
      addBlock(round, block, context)
      if (!isLed) return
      timeouts.delete(round)
      waiting.delete(round)
      proposals.set(round, block.seqNum)
    },
    /** Classifies the rounds whose readings exist. */
    evaluate: (known: SampleIndex, ownKey: string | null, now: number): void => {
      readings.add(known, now)
      for (const [round, { at, foundAt }] of waiting) {
        // A clock that was set back must not keep them.
        if (ownKey === null || (now >= foundAt && now - foundAt < WAIT_MS)) continue
        const found = classify(round, at, ownKey)
        waiting.delete(round)
        classified = [...classified, found].slice(-MAX_SAVED)
        void checkpoint.save(classified)
      }
    },
    /** Oldest first. */
    all: () => classified,
  }
}
