import { z } from 'zod'
import type { Recorder } from '../../core/recorder.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import {
  type ClassifiedLine,
  mayMatchPattern,
  patternsOf,
  classifyLine,
} from '../../parsers/log-patterns.ts'
import { SERVICE as CONSENSUS } from '../consensus/count.ts'
import { createLogSightings } from './sightings.ts'
import { droppedOf } from '../shared/suppressed.ts'

/** A reason comes with the line that it explains, or never. */
const REASON_WITHIN_MS = 10_000
/** What Rust says behind its reason, and where none is given. */
const NO_REASON = /^(?:note: run with|stack backtrace:)/

const memorySchema = z.object({
  waiting: z.array(
    z.tuple([z.string(), z.object({ at: z.number(), patterns: z.array(z.string()) })]),
  ),
  seen: z.unknown(),
})

/** Counts, in the logs of these services, the lines that mean trouble. */
export const createLogCount = (recorder: Recorder, services: readonly string[]) => {
  const sightings = createLogSightings(services)
  const expected = new Map(services.map((service) => [service, patternsOf(service)]))
  /** Processes whose next line tells why. */
  const waiting = new Map<string, { readonly at: number; readonly patterns: readonly string[] }>()

  /** Warnings and errors of consensus, and what was dropped of it, are the consensus collector's. */
  const isOurs = (service: string): boolean => service !== CONSENSUS

  const join = (
    { isBare, text }: ClassifiedLine,
    service: string,
    { at, fields }: JournalEntry,
  ): void => {
    const process = processOf(service, fields)
    const first = waiting.get(process)
    // What another thread logs in between is no reason.
    if (!first || !isBare) return
    waiting.delete(process)
    if (at - first.at <= REASON_WITHIN_MS && !NO_REASON.test(text)) {
      sightings.explain(service, first.patterns, text)
    }
  }

  const note = (line: ClassifiedLine, service: string, { at, fields }: JournalEntry): void => {
    for (const pattern of line.patterns) sightings.saw(service, pattern, { at, text: line.text })
    const patterns = line.patterns.flatMap(({ name, reasonOnNextLine }) =>
      reasonOnNextLine ? [name] : [],
    )
    if (patterns.length === 0) return
    for (const [process, { at: since }] of waiting) {
      if (at - since > REASON_WITHIN_MS) waiting.delete(process)
    }
    waiting.set(processOf(service, fields), { at, patterns })
  }

  return {
    /** Brings the counters into being, once the journal is at hand. */
    begin: (): void => {
      for (const service of services) {
        for (const { name: pattern } of patternsOf(service)) {
          recorder.count('chain_log_pattern_total', 0, { service, pattern })
        }
        if (!isOurs(service)) continue
        for (const level of ['warning', 'error'] as const) {
          recorder.count('chain_log_lines_total', 0, { service, level })
        }
        recorder.count('chain_log_suppressed_messages_total', 0, { service })
      }
    },
    on: (service: string, entry: JournalEntry, isOld: boolean): void => {
      const by = isOld ? 0 : 1
      const { message, fields } = entry
      if (message === null) return
      // What systemd and journald say of the unit comes along with what the unit says.
      if (fields['_PID'] === '1' || 'OBJECT_SYSTEMD_UNIT' in fields) {
        const dropped = droppedOf(message, fields)
        if (dropped > 0 && isOurs(service)) {
          recorder.count('chain_log_suppressed_messages_total', dropped * by, { service })
        }
        return
      }
      // journalctl cannot filter everywhere.
      if (!mayMatchPattern(message)) return
      const line = classifyLine(expected.get(service) ?? [], message)
      join(line, service, entry)
      note(line, service, entry)
      for (const { name: pattern } of line.patterns) {
        recorder.count('chain_log_pattern_total', by, { service, pattern })
      }
      const { level } = line
      if (level && isOurs(service)) recorder.count('chain_log_lines_total', by, { service, level })
    },
    trouble: sightings.read,
    memory: () => ({ waiting: [...waiting], seen: sightings.memory() }),
    restore: (memory: unknown): void => {
      const { data } = memorySchema.safeParse(memory)
      for (const [process, first] of data?.waiting ?? []) waiting.set(process, first)
      sightings.restore(data?.seen)
    },
  }
}

/** journald gives each output of a process an id of its own; other ways into the journal have none. */
const processOf = (service: string, fields: JournalEntry['fields']): string =>
  `${service} ${fields['_STREAM_ID'] ?? fields['_PID'] ?? ''}`
