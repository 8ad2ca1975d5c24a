import { z } from 'zod'
import type { SampleIndex } from '../../core/metric.ts'
import { larger, minute, second } from '../../core/units.ts'
import {
  classifyMissedRound,
  MISS_CLASSES,
  type MissedRoundCause,
  type RoundReadings,
} from '../../domain/missed-round.ts'
import type { Checkpoint } from '../../sources/checkpoint.ts'
import type { RoundLog } from '../consensus/round-log.ts'
import { savedInteger } from '../shared/saved-counts.ts'
import type { LedgerRound } from './predictions.ts'

/** A round may be known only when the node is back: the stream then has its last 100 blocks. */
const KEPT_MS = 5 * minute
/** The host is read every 15 s: a reading of now may be that of 15 s ago. */
const BEFORE_MS = 10 * second
const AFTER_MS = 20 * second

const outageOf = (known: SampleIndex): string | null => {
  if (known.value('chain_service_active', { service: 'bft' }) === 0) return 'the service of consensus was not active'
  if (known.value('chain_consensus_statesync_active') === 1 || known.value('chain_native_statesync_active') === 1)
    return 'the node ran statesync'
  const isStarting = known.value('chain_consensus_start_active') === 1 || known.value('chain_native_start_active') === 1
  return isStarting ? 'the node was starting' : null
}

const readingOf = (known: SampleIndex, at: number) => {
  const lost = known
    .series('chain_host_network_drops_total')
    .filter(({ labels }) => labels['kind'] === 'missed' || labels['kind'] === 'error')
  return {
    at,
    outage: outageOf(known),
    clockOffset: known.value('chain_host_clock_offset_seconds'),
    sessions: known.value('chain_native_sessions', { state: 'transport' }),
    udpErrors: known.value('chain_host_udp_errors_total', { kind: 'receive_buffer' }),
    udpReceived: known.value('chain_host_udp_received_total'),
    cardLost: lost.length === 0 ? undefined : lost.reduce((sum, { value }) => sum + value, 0),
    cardReceived: known.series('chain_host_network_received_total')[0]?.value,
    diskStalled: known.value('chain_host_pressure_stalled_seconds_total', { resource: 'io' }),
    executionLagging: known.value('chain_native_events_total', { event: 'execution_lagging' }),
  }
}

type Reading = ReturnType<typeof readingOf>
type Counter = Exclude<keyof Reading, 'at' | 'outage'>

/** The readings of the last minutes from which the class of a missed round follows. */
export const createRoundReadings = () => {
  let readings: readonly Reading[] = []

  return {
    add: (known: SampleIndex, at: number): void => {
      // After the clock was set back, remove the readings of the future.
      const kept = readings.filter((one) => one.at < at && at - one.at <= KEPT_MS)
      readings = [...kept, readingOf(known, at)]
    },
    around: (at: number): RoundReadings => {
      const from = readings.findLast((one) => one.at <= at - BEFORE_MS)
      const to = readings.find((one) => one.at >= at + AFTER_MS)
      const within = from && to ? readings.filter((one) => one.at >= from.at && one.at <= to.at) : []
      /** Undefined if the counter was reset. */
      const increase = (counter: Counter): number | undefined => {
        const [before, after] = [from?.[counter], to?.[counter]]
        return before === undefined || after === undefined || after < before ? undefined : after - before
      }
      const ratio = (lostBy: Counter, receivedBy: Counter): number | null => {
        const [lost, received] = [increase(lostBy), increase(receivedBy)]
        return lost === undefined || received === undefined || lost + received === 0 ? null : lost / (lost + received)
      }
      const [offset] = within
        .flatMap(({ clockOffset }) => clockOffset ?? [])
        .toSorted((a, b) => Math.abs(b) - Math.abs(a))
      const sessions = within.flatMap((one) => one.sessions ?? [])
      const stalled = increase('diskStalled')
      return {
        // A restart after the round is no outage in it.
        outage: within.findLast((one) => one.at <= at)?.outage ?? null,
        clockOffsetMs: offset === undefined ? null : offset * second,
        sessions: sessions.length === 0 ? null : Math.min(...sessions),
        udpDropRatio: ratio('udpErrors', 'udpReceived'),
        cardDropRatio: ratio('cardLost', 'cardReceived'),
        diskStalledRatio: stalled === undefined || !from || !to ? null : (stalled * second) / (to.at - from.at),
        executionLagging: increase('executionLagging') ?? null,
      }
    },
  }
}

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
