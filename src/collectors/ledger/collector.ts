import { z } from 'zod'
import { type HistogramName, type Recorder, sample, sampleIfKnown } from '../../core/metric.ts'
import { inSeconds, larger, second } from '../../core/units.ts'
import { definition, LEDGER_EVENTS } from './definition.ts'
import {
  type LedgerBlock,
  type LedgerEvent,
  parseLedgerLine,
  type ProposedBlock,
  type Timeout,
} from '../../parsers/ledger-tail.ts'
import type { OwnBlock, OwnKey } from '../shared/node-state.ts'
import { createRecentSet } from '../shared/recent-set.ts'
import type { Collector } from '../../core/collector.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { followJournal, type FollowerReading } from '../shared/journal-follower.ts'
import { createLineReader, isAboutUnit } from '../shared/log-lines.ts'
import { savedInteger } from '../shared/saved-counts.ts'
import type { LedgerRound } from '../schedule/predictions.ts'
import type { UnitSetting, Uses } from '../dependencies.ts'

type Event = (typeof LEDGER_EVENTS)[number]

/** The newest block of one event. */
const newestBlock = z.object({
  round: savedInteger,
  epoch: savedInteger.nullable(),
  seqNum: savedInteger,
  /** Timestamp of the block, in milliseconds since the epoch; null if it is unknown. */
  blockAt: z.number().nullable(),
})
type NewestBlock = Readonly<z.output<typeof newestBlock>>

/** State that must survive a restart of the agent, so that repeated lines are not counted again. */
const snapshotSchema = z.object({
  known: z.array(z.string()).readonly(),
  newest: z.object({ proposed: newestBlock.nullable(), finalized: newestBlock.nullable() }),
  settledRound: savedInteger.nullable(),
  ownConsecutiveTimeouts: z.number().nullable(),
})

/** One line of the stream. */
interface LedgerLine {
  readonly event: LedgerEvent
  /** From before the agent was first started. */
  readonly isOld: boolean
  /** The PID that wrote the line. */
  readonly process: string
}

/** Number of lines to remember: ledger-tail repeats about 100 blocks when it starts. */
const MAX_LINES = 512

/** Lines that a new process writes within this time of its first line are repeated ones. In milliseconds. */
const REPLAY_MS = second / 4

/**
 * The node adds a transaction for the reward to each block (monad-system-calls/src/lib.rs, generate_system_calls); the last and the
 * first block of an epoch have one more.
 */
const SYSTEM_TRANSACTIONS = 1n

const between = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : to - from

/** Counters, histograms and newest blocks of the ledger stream. */
export const createLedgerCounters = (recorder: Recorder, ownKey: OwnKey, ownBlock: OwnBlock) => {
  const known = createRecentSet(MAX_LINES)
  const newest: Record<Event, NewestBlock | null> = { proposed: null, finalized: null }
  /** Each round up to this one had a block or has been counted as skipped. */
  let settledRound: bigint | null = null
  let ownConsecutiveTimeouts: number | null = null
  let process: { readonly id: string; readonly firstAt: number } | undefined

  /** The key may come from the status report, long after the first line of the stream. */
  let hasOwn = false
  const initializeOwn = (): void => {
    if (hasOwn || ownKey.get() === null) return
    hasOwn = true
    for (const event of LEDGER_EVENTS) recorder.count('chain_ledger_own_blocks_total', 0, { event })
    recorder.count('chain_ledger_own_empty_blocks_total', 0)
    recorder.count('chain_ledger_own_timeouts_total', 0)
  }

  /** Rounds between a block and its parent, each counted once: two proposals of one height have the same parent and two gaps. */
  const skippedRounds = ({ round, parentRound }: ProposedBlock): bigint | null => {
    const before = settledRound
    settledRound = larger(before, round - 1n)
    if (parentRound === null) return null
    const from = larger(before, parentRound)
    return round - 1n > from ? round - 1n - from : 0n
  }

  const isReplay = ({ event: { writtenAt }, process: id, isOld }: LedgerLine): boolean => {
    if (process?.id !== id) process = { id, firstAt: writtenAt }
    return isOld || writtenAt - process.firstAt < REPLAY_MS
  }

  /** The clock of a leader may be ahead of the clock of this host. A negative duration would decrease the sum of a histogram. */
  const observe = (name: HistogramName & `chain_ledger_${string}`, milliseconds: number | null): void => {
    if (milliseconds !== null && milliseconds >= 0) recorder.observe(name, milliseconds / 1000)
  }

  const observeProposal = (block: LedgerBlock, before: NewestBlock | null, isOwn: boolean): void => {
    const milliseconds = between(block.blockAt, block.writtenAt)
    observe('chain_ledger_propagation_seconds', milliseconds)
    recorder.count('chain_ledger_future_blocks_total', milliseconds !== null && milliseconds < 0 ? 1 : 0)
    if (isOwn) observe('chain_ledger_own_delay_seconds', milliseconds)
    if (before?.seqNum !== block.seqNum - 1n) return
    const interval = between(before.blockAt, block.blockAt)
    observe('chain_ledger_block_interval_seconds', interval)
    if (isOwn) observe('chain_ledger_own_block_interval_seconds', interval)
  }

  const addBlock = (
    event: Event,
    block: LedgerBlock,
    { isTimed, isOwn }: { readonly isTimed: boolean; readonly isOwn: boolean },
  ): void => {
    const before = newest[event]
    if (isTimed && event === 'proposed') observeProposal(block, before, isOwn)
    if (isTimed && event === 'finalized')
      observe('chain_ledger_finality_seconds', between(block.blockAt, block.writtenAt))
    newest[event] = {
      round: larger(before?.round ?? null, block.round),
      epoch: block.epoch === null ? (before?.epoch ?? null) : larger(before?.epoch ?? null, block.epoch),
      seqNum: larger(before?.seqNum ?? null, block.seqNum),
      blockAt: before && block.seqNum < before.seqNum ? before.blockAt : block.blockAt,
    }
  }

  return {
    /** Creates the counters with 0, once the stream is available; before that, the values are unknown. */
    initialize: (): void => {
      initializeOwn()
      for (const event of LEDGER_EVENTS) recorder.count('chain_ledger_blocks_total', 0, { event })
      recorder.count('chain_ledger_empty_blocks_total', 0)
      recorder.count('chain_ledger_timeouts_total', 0)
      recorder.count('chain_ledger_transactions_total', 0)
    },
    /** Returns whether the line is new. */
    add: (line: LedgerLine): boolean => {
      initializeOwn()
      const { event, isOld } = line
      const replay = isReplay(line)
      const height = event.event === 'timeout' ? '' : event.seqNum
      if (!known.add(`${event.event}:${height}:${event.round}`)) return false
      const by = isOld ? 0 : 1
      const isOwn = event.author === ownKey.get()
      if (event.event === 'timeout') {
        recorder.count('chain_ledger_timeouts_total', by)
        if (isOwn) {
          recorder.count('chain_ledger_own_timeouts_total', by)
          ownConsecutiveTimeouts = (ownConsecutiveTimeouts ?? 0) + 1
        }
        return true
      }
      recorder.count('chain_ledger_blocks_total', by, { event: event.event })
      if (isOwn) recorder.count('chain_ledger_own_blocks_total', by, { event: event.event })
      if (event.event === 'proposed') {
        const gap = skippedRounds(event)
        if (gap !== null) recorder.count('chain_ledger_skipped_rounds_total', isOld ? 0 : gap)
        recorder.count('chain_ledger_transactions_total', isOld ? 0 : event.transactions)
        if (event.transactions <= SYSTEM_TRANSACTIONS) {
          recorder.count('chain_ledger_empty_blocks_total', by)
          if (isOwn) recorder.count('chain_ledger_own_empty_blocks_total', by)
        }
        if (isOwn) ownConsecutiveTimeouts = 0
      } else if (isOwn) ownBlock.height = event.seqNum
      addBlock(event.event, event, { isTimed: !replay, isOwn })
      return true
    },
    /** The newest blocks of the stream, for the gauges; null until the first block. */
    reading: () => ({
      ...newest,
      /** Null while the own key is unknown, and until the node was leader once. */
      ownConsecutiveTimeouts: ownKey.get() === null ? null : ownConsecutiveTimeouts,
    }),
    snapshot: () => ({ known: known.all(), newest, settledRound, ownConsecutiveTimeouts }),
    restore: (snapshot: unknown): void => {
      const { data } = snapshotSchema.safeParse(snapshot)
      if (!data) return
      for (const member of data.known) known.add(member)
      Object.assign(newest, data.newest)
      settledRound = data.settledRound
      ownConsecutiveTimeouts = data.ownConsecutiveTimeouts
    },
  }
}

/** The reading, with an unparsed line if there is one. */
type Reading = FollowerReading &
  ReturnType<ReturnType<typeof createLedgerCounters>['reading']> & { readonly unparsed: string | null }

type LedgerUses = Uses<
  'journalDependencies' | 'unitNames' | 'ownKey' | 'ownBlock' | 'roundCounter' | 'roundFeed' | 'recentRounds',
  UnitSetting
>

/** Blocks, timeouts and skipped rounds, from the ledger stream in the journal. */
export const ledger = (uses: LedgerUses): Collector<Reading> => {
  const { journalDependencies, unitNames, unit, ownKey, ownBlock, roundCounter, roundFeed, recentRounds } = uses
  const { recorder } = journalDependencies.counts
  const counters = createLedgerCounters(recorder, ownKey, ownBlock)
  const reader = createLineReader(recorder, 'ledger-tail', parseLedgerLine)

  const onEntry = ({ message, fields, at }: JournalEntry, isOld: boolean): void => {
    if (message === null || isAboutUnit(fields)) return
    const event = reader.read(message, { by: isOld ? 0 : 1, at })
    if (!event) return
    const isNew = counters.add({ event, isOld, process: fields['_PID'] ?? '' })
    const key = ownKey.get()
    const isOwn = key === null ? null : event.author === key
    recentRounds.add(event, isOwn)
    if (isNew && event.event !== 'finalized') roundFeed.add(ledgerRound(event, isOld))
    if (isNew && !isOld && event.event !== 'finalized')
      roundCounter.add({ isTimeout: event.event === 'timeout', isOwn })
  }

  return followJournal<Reading>(definition, uses, {
    consumer: {
      service: 'ledger-tail',
      match: async (signal) => unitNames.match([unit], signal),
      newest: 1000,
      initialize: () => {
        counters.initialize()
        reader.initialize()
      },
      onEntry,
      snapshot: counters.snapshot,
      restore: counters.restore,
    },
    read: (following) => ({ ...following, ...counters.reading(), unparsed: reader.unparsed() }),
    samples,
    states: ({ unparsed }) => (unparsed === null ? {} : { 'ledger stream, unparsed': unparsed }),
  })
}

const ledgerRound = (event: ProposedBlock | Timeout, isOld: boolean): LedgerRound => ({
  round: event.round,
  author: event.author,
  block:
    event.event === 'timeout'
      ? null
      : {
          epoch: event.epoch,
          parentRound: event.parentRound,
          seqNum: event.seqNum,
          // The line of a block is written within a second of its time.
          blockAt: event.blockAt ?? event.writtenAt,
        },
  isOld,
})

const samples: Collector<Reading>['samples'] = (reading) => [
  ...LEDGER_EVENTS.flatMap((event) => {
    const block = reading[event]
    if (!block) return []
    return [
      sample('chain_ledger_round', block.round, { event }),
      ...sampleIfKnown('chain_ledger_epoch', block.epoch, { event }),
      sample('chain_ledger_seq_num', block.seqNum, { event }),
      ...sampleIfKnown('chain_ledger_block_timestamp_seconds', inSeconds(block.blockAt), { event }),
    ]
  }),
  ...sampleIfKnown('chain_ledger_own_consecutive_timeouts', reading.ownConsecutiveTimeouts),
]
