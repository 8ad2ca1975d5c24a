import { z } from 'zod'
import { excerpt } from '../../core/errors.ts'
import type { Recorder } from '../../core/metric.ts'
import { minute } from '../../core/units.ts'
import { CONSENSUS_KINDS, NETWORK_ERROR_KINDS } from './definition.ts'
import { type ConsensusEvent, parseConsensusLine } from '../../parsers/consensus-log.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import type { RoundLog } from './round-log.ts'
import { createConsensusWindow, kindsOf, levelOf } from './window.ts'
import { createLineReader, droppedMessages, isAboutUnit } from '../shared/log-lines.ts'

/** The values of the window, and an unparsed line if there is one. */
export type ConsensusLogReading = ReturnType<ReturnType<typeof createConsensusCounters>['read']>

export const SERVICE = 'bft'
const snapshotSchema = z.object({ votedAt: z.number().nullable(), hasLine: z.boolean().catch(true) })

/** Counters and window of the consensus log, from its journal entries. */
export const createConsensusCounters = (recorder: Recorder, roundLog?: Pick<RoundLog, 'add' | 'addDropped'>) => {
  let window = createConsensusWindow()
  let hasLine = false
  let panic: string | null = null
  /** The PID whose next plain line is the reason of its panic. */
  let panicking: string | undefined
  const reader = createLineReader(recorder, 'consensus-log', parseConsensusLine)

  const resetWindow = (): void => {
    const { votedAt } = window
    window = createConsensusWindow()
    if (votedAt !== null) window.restoreVote(votedAt)
  }

  const countEvent = (event: ConsensusEvent, by: number): void => {
    for (const kind of kindsOf(event)) recorder.count('chain_consensus_messages_total', by, { kind })
    const level = levelOf(event)
    if (level) recorder.count('chain_log_lines_total', by, { service: SERVICE, level })
    if (event.event === 'network_error') {
      recorder.count('chain_consensus_network_errors_total', by, { kind: event.kind })
    }
  }

  const notePanic = (event: ConsensusEvent | null, message: string, process: string): void => {
    if (event?.event === 'panic') {
      panic = excerpt(event.reason ?? event.place)
      panicking = event.reason === null ? process : undefined
    } else if (panicking === process && !message.startsWith('{') && message.trim() !== '') {
      panic = excerpt(message)
      panicking = undefined
    }
  }

  const onDropped = (dropped: number, at: number, by: number): void => {
    window.addDropped(dropped, at)
    roundLog?.addDropped(at)
    recorder.count('chain_log_suppressed_messages_total', dropped * by, { service: SERVICE })
  }

  return {
    /** Creates the counters with 0, once the log is available. */
    initialize: () => {
      for (const kind of CONSENSUS_KINDS) recorder.count('chain_consensus_messages_total', 0, { kind })
      for (const kind of NETWORK_ERROR_KINDS) recorder.count('chain_consensus_network_errors_total', 0, { kind })
      for (const level of ['warning', 'error'] as const) {
        recorder.count('chain_log_lines_total', 0, { service: SERVICE, level })
      }
      recorder.count('chain_log_suppressed_messages_total', 0, { service: SERVICE })
      reader.initialize()
    },
    on: ({ message, fields, at }: JournalEntry, isOld: boolean): void => {
      const by = isOld ? 0 : 1
      if (message === null) return
      if (isAboutUnit(fields)) {
        const dropped = droppedMessages(message, fields)
        if (dropped > 0) onDropped(dropped, at, by)
        return
      }
      hasLine = true
      window.advanceTo(at)
      const event = reader.read(message, { by, at })
      notePanic(event, message, fields['_PID'] ?? '')
      if (!event) return
      window.add(event, at)
      roundLog?.add(event, at)
      countEvent(event, by)
    },
    /** Moves the end of the window while no entries arrive. */
    advanceTo: (now: number): void => {
      window.advanceTo(now)
    },
    /** Whether the log has had a line, in this process or before it: without any, silence is no sign of a stalled node. */
    hasLine: () => hasLine,
    /** Resets a window that ends in the future, after the clock was set back: it would ignore new entries. */
    resetIfAheadOf: (now: number): void => {
      if (window.end !== null && window.end - now > minute) resetWindow()
    },
    /** To be called when entries are missing. */
    resetWindow,
    read: () => ({ ...window.read(), at: window.end ?? 0, panic, unparsed: reader.unparsed() }),
    snapshot: () => ({ votedAt: window.votedAt, hasLine }),
    restore: (snapshot: unknown): void => {
      const { data } = snapshotSchema.safeParse(snapshot)
      if (!data) return
      hasLine = data.hasLine
      if (data.votedAt !== null) window.restoreVote(data.votedAt)
    },
  }
}
