import { z } from 'zod'
import { redactedExcerpt } from '../../core/errors.ts'
import type { Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/units.ts'
import type { LogPattern } from '../../parsers/log-patterns/pattern.ts'
import { type ClassifiedLine, classifyLine, mayMatchPattern, patternsOf } from '../../parsers/log-patterns/classify.ts'
import type { Recorder } from '../../core/metric.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { SERVICE as CONSENSUS } from '../consensus/counters.ts'
import { droppedMessages, isAboutUnit } from '../shared/log-lines.ts'

/** How long a failure is part of the state, in milliseconds. */
const WINDOW_MS = 10 * minute

interface Failure {
  /** Time of the newest line, in milliseconds since the epoch. */
  at: number
  /** Its text, redacted and shortened. */
  text: string
}

/** Service → recent failures: the name of the pattern, with the text of the line if it is critical. */
export type RecentFailures = Readonly<Record<string, readonly string[]>>

const schema = z.record(z.string(), z.record(z.string(), z.object({ at: z.number(), text: z.string() })))

/** The patterns that matched in the last ten minutes, with the text of the line. */
const createRecentFailures = (services: readonly string[]) => {
  const failures = new Map(services.map((service) => [service, new Map<string, Failure>()]))
  /** What the clock of the host shows in addition to the monotonic one. */
  let shownOffset: number | undefined

  /** After the clock of the host was set, failures keep their age. */
  const moveWithClock = (clock: Pick<Clock, 'now' | 'elapsed'>): void => {
    const offset = clock.now() - clock.elapsed()
    const moved = offset - (shownOffset ?? offset)
    if (Math.abs(moved) >= second) for (const all of failures.values()) for (const one of all.values()) one.at += moved
    if (shownOffset === undefined || Math.abs(moved) >= second) shownOffset = offset
  }

  return {
    add: (service: string, pattern: LogPattern, { at, text }: Failure): void => {
      const known = failures.get(service)?.get(pattern.name)
      // A text whose values change with every line must not become a log line each.
      const isNew = !known || pattern.reasonOnNextLine === true || at - known.at > WINDOW_MS
      const shown = isNew ? redactedExcerpt(text) : known.text
      failures.get(service)?.set(pattern.name, { at: Math.max(at, known?.at ?? 0), text: shown })
    },
    /** Takes the text of the next line, which contains the reason. */
    explain: (service: string, names: readonly string[], text: string): void => {
      for (const name of names) {
        const known = failures.get(service)?.get(name)
        if (known) known.text = redactedExcerpt(text)
      }
    },
    read: (clock: Pick<Clock, 'now' | 'elapsed'>): RecentFailures => {
      moveWithClock(clock)
      const now = clock.now()
      return Object.fromEntries(
        services.map((service) => {
          const seen = failures.get(service)
          const recent = seen?.size
            ? patternsOf(service).flatMap(({ name, severity }) => {
                const failure = seen.get(name)
                if (severity === 'info' || !failure || now - failure.at > WINDOW_MS) return []
                return [severity === 'critical' ? `${name}: ${failure.text}` : name]
              })
            : []
          return [service, recent]
        }),
      )
    },
    snapshot: () => Object.fromEntries([...failures].map(([name, all]) => [name, Object.fromEntries(all)])),
    restore: (snapshot: unknown): void => {
      for (const [service, all] of Object.entries(schema.safeParse(snapshot).data ?? {})) {
        for (const [name, failure] of Object.entries(all)) failures.get(service)?.set(name, { ...failure })
      }
    },
  }
}

/** A reason follows within this time of the line that it explains, in milliseconds. */
const REASON_WITHIN_MS = 10_000
/** Lines that Rust prints after the reason, or without one. */
const NO_REASON = /^(?:note: run with|stack backtrace:)/

const snapshotSchema = z.object({
  waiting: z.array(z.tuple([z.string(), z.object({ at: z.number(), patterns: z.array(z.string()) })])),
  seen: z.unknown(),
})

/** Counters of known failure messages in the logs of these services. */
export const createLogCounters = (recorder: Recorder, services: readonly string[]) => {
  const failures = createRecentFailures(services)
  const expected = new Map(services.map((service) => [service, patternsOf(service)]))
  /** Processes whose next line contains the reason. */
  const waiting = new Map<string, { readonly at: number; readonly patterns: readonly string[] }>()

  /** The consensus collector counts warnings, errors and dropped messages of consensus. */
  const isCountedHere = (service: string): boolean => service !== CONSENSUS

  const addReason = ({ isBare, text }: ClassifiedLine, service: string, { at, fields }: JournalEntry): void => {
    const process = processOf(service, fields)
    const first = waiting.get(process)
    // A complete log line in between is from another thread, and not the reason.
    if (!first || !isBare) return
    waiting.delete(process)
    if (at - first.at <= REASON_WITHIN_MS && !NO_REASON.test(text)) failures.explain(service, first.patterns, text)
  }

  const addFailures = (line: ClassifiedLine, service: string, { at, fields }: JournalEntry): void => {
    for (const pattern of line.patterns) failures.add(service, pattern, { at, text: line.text })
    const patterns = line.patterns.flatMap(({ name, reasonOnNextLine }) => (reasonOnNextLine ? [name] : []))
    if (patterns.length === 0) return
    for (const [process, { at: since }] of waiting) {
      if (at - since > REASON_WITHIN_MS) waiting.delete(process)
    }
    waiting.set(processOf(service, fields), { at, patterns })
  }

  const initialized = new Set<string>()
  /** Creates the counters with 0. A service of whose log nothing can be read has none. */
  const initialize = (service: string): void => {
    if (initialized.has(service)) return
    initialized.add(service)
    for (const { name: pattern } of patternsOf(service)) {
      recorder.count('chain_log_pattern_total', 0, { service, pattern })
    }
    if (!isCountedHere(service)) return
    for (const level of ['warning', 'error'] as const) recorder.count('chain_log_lines_total', 0, { service, level })
    recorder.count('chain_log_suppressed_messages_total', 0, { service })
  }

  return {
    initialize,
    on: (service: string, entry: JournalEntry, isOld: boolean): void => {
      const by = isOld ? 0 : 1
      const { message, fields } = entry
      if (message === null) return
      if (isAboutUnit(fields)) {
        const dropped = droppedMessages(message, fields)
        if (dropped > 0 && isCountedHere(service)) {
          initialize(service)
          recorder.count('chain_log_suppressed_messages_total', dropped * by, { service })
        }
        return
      }
      initialize(service)
      // journalctl is built without pattern matching on some systems.
      if (!mayMatchPattern(message)) return
      const line = classifyLine(expected.get(service) ?? [], message)
      addReason(line, service, entry)
      addFailures(line, service, entry)
      for (const { name: pattern } of line.patterns) recorder.count('chain_log_pattern_total', by, { service, pattern })
      const { level } = line
      if (level && isCountedHere(service)) recorder.count('chain_log_lines_total', by, { service, level })
    },
    trouble: failures.read,
    snapshot: () => ({ waiting: [...waiting], seen: failures.snapshot() }),
    restore: (snapshot: unknown): void => {
      const { data } = snapshotSchema.safeParse(snapshot)
      for (const [process, first] of data?.waiting ?? []) waiting.set(process, first)
      failures.restore(data?.seen)
    },
  }
}

/** journald assigns an id to each output stream of a process; entries written in other ways have none. */
const processOf = (service: string, fields: JournalEntry['fields']): string =>
  `${service} ${fields['_STREAM_ID'] ?? fields['_PID'] ?? ''}`
