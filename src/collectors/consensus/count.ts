import { z } from 'zod'
import { excerpt } from '../../core/errors.ts'
import type { Recorder } from '../../core/recorder.ts'
import { minute } from '../../core/units.ts'
import { CONSENSUS_KINDS, NETWORK_ERROR_KINDS } from './definition.ts'
import { parseConsensusLine } from '../../parsers/consensus-log.ts'
import type { ConsensusEvent } from '../../parsers/consensus-log-events.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import type { ConsensusFigures } from './figures.ts'
import { kindsOf, levelOf } from './kinds.ts'
import { createReader } from '../shared/reader.ts'
import { createConsensusWindow } from './window.ts'
import { droppedOf } from '../shared/suppressed.ts'

/** The reading and, where a line was not understood, the first such line of its sort. */
export interface ConsensusFound extends ConsensusFigures {
  readonly unparsed: string | null
}

export const SERVICE = 'bft'
const memorySchema = z.object({ votedAt: z.number().nullable() })

/** Folds the journal of the consensus service into counters and the window. */
export const createConsensusCount = (recorder: Recorder) => {
  let window = createConsensusWindow()
  let panic: string | null = null
  /** The process whose next plain line is the reason of its panic. */
  let panicking: string | undefined
  const reader = createReader(recorder, 'consensus-log', parseConsensusLine)

  const renew = (): void => {
    const { votedAt } = window
    window = createConsensusWindow()
    if (votedAt !== null) window.voted(votedAt)
  }

  const countEvent = (event: ConsensusEvent, by: number): void => {
    for (const kind of kindsOf(event)) {
      recorder.count('chain_consensus_messages_total', by, { kind })
    }
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
    window.suppressed(dropped, at)
    recorder.count('chain_log_suppressed_messages_total', dropped * by, { service: SERVICE })
  }

  return {
    /** Brings the counters into being, once the log is at hand. */
    begin: () => {
      for (const kind of CONSENSUS_KINDS) {
        recorder.count('chain_consensus_messages_total', 0, { kind })
      }
      for (const kind of NETWORK_ERROR_KINDS) {
        recorder.count('chain_consensus_network_errors_total', 0, { kind })
      }
      for (const level of ['warning', 'error'] as const) {
        recorder.count('chain_log_lines_total', 0, { service: SERVICE, level })
      }
      recorder.count('chain_log_suppressed_messages_total', 0, { service: SERVICE })
      reader.begin()
    },
    on: ({ message, fields, at }: JournalEntry, isOld: boolean): void => {
      const by = isOld ? 0 : 1
      if (message === null) return
      // What journald and systemd say of the unit comes along with what the unit says.
      if (fields['_PID'] === '1' || 'OBJECT_SYSTEMD_UNIT' in fields) {
        const dropped = droppedOf(message, fields)
        if (dropped > 0) onDropped(dropped, at, by)
        return
      }
      window.advanceTo(at)
      const event = reader.read(message, { by, at })
      notePanic(event, message, fields['_PID'] ?? '')
      if (!event) return
      window.add(event, at)
      countEvent(event, by)
    },
    /** Nothing was written for a while: time goes on without entries. */
    silent: (now: number): void => {
      window.advanceTo(now)
    },
    /** The clock was set back: what lies ahead of it would hide what comes. */
    keepTo: (now: number): void => {
      if (window.end !== null && window.end - now > minute) renew()
    },
    /** Entries are missing: the window begins anew. */
    forget: renew,
    read: (): ConsensusFound => ({
      ...window.read(),
      at: window.end ?? 0,
      panic,
      unparsed: reader.unparsed(),
    }),
    memory: () => ({ votedAt: window.votedAt }),
    restore: (memory: unknown): void => {
      const { data } = memorySchema.safeParse(memory)
      if (data && data.votedAt !== null) window.voted(data.votedAt)
    },
  }
}
