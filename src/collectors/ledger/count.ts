import type { Recorder } from '../../core/recorder.ts'
import { second } from '../../core/units.ts'
import type { HistogramName } from '../../core/metric.ts'
import { LEDGER_EVENTS } from './definition.ts'
import type { LedgerBlock, LedgerEvent, ProposedBlock } from '../../parsers/ledger-tail.ts'
import { type LedgerMemory, parseLedgerMemory, type Seen } from './memory.ts'
import type { OwnKey } from '../shared/own-key.ts'
import { createRecent } from '../shared/recent.ts'

type Event = (typeof LEDGER_EVENTS)[number]

/** The newest of the stream, for the gauges; null while no such block was seen. */
export interface LedgerReading extends Readonly<Record<Event, Seen | null>> {
  /** Null without a key to know our own by, and until we were leader once. */
  readonly ownConsecutiveTimeouts: number | null
}

/** One line: what it says, whether it is from before the agent began, and which process wrote it. */
interface Heard {
  readonly event: LedgerEvent
  readonly isOld: boolean
  readonly process: string
}

export interface LedgerCount {
  /** Brings the counters into being, once the stream is at hand: before that, 0 would be a claim. */
  begin(): void
  /** Whether it was not known yet. */
  add(heard: Heard): boolean
  reading(): LedgerReading
  memory(): LedgerMemory
  restore(memory: unknown): void
}

/** ledger-tail shows about 100 blocks again when it starts; this many lines are known, with room. */
const REMEMBERED = 512

/** What a new process writes within this time of its first line is old, whatever its clock says. */
const REPLAY_MS = second / 4

/** Folds the ledger stream into counters, histograms and the newest of each kind. */
export const createLedgerCount = (recorder: Recorder, ownKey: OwnKey): LedgerCount => {
  const known = createRecent(REMEMBERED)
  const newest: Record<Event, Seen | null> = { proposed: null, finalized: null }
  /** Rounds up to this one are accounted for: they gave a block, or have been counted as skipped. */
  let settledRound: bigint | null = null
  let ownConsecutiveTimeouts: number | null = null
  let process: { readonly id: string; readonly firstAt: number } | undefined

  /** The key may be told by the status report, long after the stream was first heard. */
  let hasOwn = false
  const beginScope = (scope: 'own' | 'network'): void => {
    if (scope === 'own') hasOwn = true
    for (const event of LEDGER_EVENTS)
      recorder.count('chain_ledger_blocks_total', 0, { event, scope })
    recorder.count('chain_ledger_timeouts_total', 0, { scope })
  }

  const scopesOf = (author: string): readonly ('own' | 'network')[] =>
    author === ownKey.get() ? ['own', 'network'] : ['network']

  /** Rounds between a block and its parent, each once: a height proposed twice has one parent, and two gaps. */
  const skipped = ({ round, parentRound }: ProposedBlock): bigint | null => {
    const before = settledRound
    settledRound = larger(before, round - 1n)
    if (parentRound === null) return null
    const from = larger(before, parentRound)
    return round - 1n > from ? round - 1n - from : 0n
  }

  const isReplay = ({ event: { writtenAt }, process: id, isOld }: Heard): boolean => {
    if (process?.id !== id) process = { id, firstAt: writtenAt }
    return isOld || writtenAt - process.firstAt < REPLAY_MS
  }

  /** A leader's clock may be ahead of ours. A negative duration would make the sum of a histogram fall. */
  const observe = (name: HistogramName & `chain_ledger_${string}`, milliseconds: number): void => {
    if (milliseconds >= 0) recorder.observe(name, milliseconds / 1000)
  }

  const addBlock = (event: Event, block: LedgerBlock, isTimed: boolean): void => {
    const before = newest[event]
    if (isTimed) {
      const milliseconds = block.writtenAt - block.blockAt
      if (event === 'finalized') observe('chain_ledger_finality_seconds', milliseconds)
      else {
        observe('chain_ledger_propagation_seconds', milliseconds)
        const ahead = milliseconds < 0 ? 1 : 0
        recorder.count('chain_ledger_future_blocks_total', ahead)
        if (before?.seqNum === block.seqNum - 1n) {
          observe('chain_ledger_block_interval_seconds', block.blockAt - before.blockAt)
        }
      }
    }
    newest[event] = {
      round: larger(before?.round ?? null, block.round),
      epoch:
        block.epoch === null ? (before?.epoch ?? null) : larger(before?.epoch ?? null, block.epoch),
      seqNum: larger(before?.seqNum ?? null, block.seqNum),
      blockAt: before && block.seqNum < before.seqNum ? before.blockAt : block.blockAt,
    }
  }

  return {
    begin: () => {
      if (ownKey.get() !== null) beginScope('own')
      beginScope('network')
      recorder.count('chain_ledger_transactions_total', 0)
    },
    add: (heard) => {
      if (!hasOwn && ownKey.get() !== null) beginScope('own')
      const { event: said, isOld } = heard
      const replay = isReplay(heard)
      const height = said.event === 'timeout' ? '' : said.seqNum
      if (!known.add(`${said.event}:${height}:${said.round}`)) return false
      const by = isOld ? 0 : 1
      const isOwn = said.author === ownKey.get()
      if (said.event === 'timeout') {
        for (const scope of scopesOf(said.author))
          recorder.count('chain_ledger_timeouts_total', by, { scope })
        if (isOwn) ownConsecutiveTimeouts = (ownConsecutiveTimeouts ?? 0) + 1
        return true
      }
      for (const scope of scopesOf(said.author)) {
        recorder.count('chain_ledger_blocks_total', by, { event: said.event, scope })
      }
      if (said.event === 'proposed') {
        const gap = skipped(said)
        if (gap !== null) recorder.count('chain_ledger_skipped_rounds_total', isOld ? 0 : gap)
        recorder.count('chain_ledger_transactions_total', isOld ? 0 : said.transactions)
        if (isOwn) ownConsecutiveTimeouts = 0
      }
      addBlock(said.event, said, !replay)
      return true
    },
    reading: () => ({
      ...newest,
      ownConsecutiveTimeouts: ownKey.get() === null ? null : ownConsecutiveTimeouts,
    }),
    memory: () => ({ known: known.all(), newest, settledRound, ownConsecutiveTimeouts }),
    restore: (memory) => {
      const data = parseLedgerMemory(memory)
      if (!data) return
      for (const member of data.known) known.add(member)
      newest.proposed = data.newest.proposed
      newest.finalized = data.newest.finalized
      settledRound = data.settledRound
      ownConsecutiveTimeouts = data.ownConsecutiveTimeouts
    },
  }
}

const larger = (a: bigint | null, b: bigint): bigint => (a !== null && a > b ? a : b)
