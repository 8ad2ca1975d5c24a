import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { type RedactionKind, redactLog } from '../../core/redact-log.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { createExec } from '../../sources/exec.ts'
import { createExecWithTimeouts } from '../../sources/exec-with-timeouts.ts'
import { readJournal } from '../shared/journal-reader.ts'
import { findUnits, labelOf, nearestLabel } from '../shared/log-units.ts'
import type { SourceOverrides } from '../../cli/io.ts'
import { tryJson } from '../../core/json.ts'

interface Options extends SourceOverrides {
  readonly config: Config
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
}

interface LogQuery {
  readonly unit: string
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly newest?: number | undefined
  readonly grep?: string | undefined
  readonly follow?: boolean
}

/** A line of a service's log, with secrets redacted. */
export interface ShownLine extends LogLine {
  /** When journald received it, in milliseconds since the epoch. */
  readonly at: number
  /** The writer, if it was not the service: systemd or journald. */
  readonly by: string | null
  /** The complete line. */
  readonly raw: string
}

interface Service {
  readonly label: string
  readonly unit: string
}

/** The service of a name; for an unknown name, the known labels and a suggestion. */
type ServiceLookup =
  | { readonly service: Service }
  | { readonly labels: readonly string[]; readonly nearest: string | undefined }

/** The logs of the node's services, with secrets redacted. `read` and `find` throw SourceErrors. */
export const openLogs = (options: Options) => {
  const { config, clock, path, signal } = options
  const exec = createExecWithTimeouts(options.exec ?? createExec({ clock, path }), clock)
  return {
    find: async (word: string): Promise<ServiceLookup> => {
      const units = await findUnits({ config, exec, path, signal })
      const label = labelOf(word, units)
      const unit = label === undefined ? undefined : units.get(label)
      if (label === undefined || unit === undefined) {
        return { labels: [...units.keys()], nearest: nearestLabel(word, units) }
      }
      return { service: { label, unit } }
    },
    async *read(wanted: LogQuery): AsyncGenerator<readonly ShownLine[]> {
      try {
        for await (const { entries } of readJournal({ exec, clock, signal }, wanted)) {
          yield entries.map((entry) => redactEntry(entry))
        }
      } catch (error) {
        // An interruption is no failure.
        if (!signal.aborted) throw error
      }
    },
    close: (): void => {
      if (!options.exec) exec.killAll()
    },
  }
}

/** Redacts the secrets of an entry; `count` receives the class of each redaction. */
export const redactEntry = (entry: JournalEntry, count?: (kind: RedactionKind) => void): ShownLine => {
  const { at, message, fields } = entry
  const raw = redactLog(message ?? '', count)
  const isOther = fields['_PID'] === '1' || 'OBJECT_SYSTEMD_UNIT' in fields
  const line = parseLogLine(raw)
  const level = line.level ?? levelOf(fields['PRIORITY'])
  const by = isOther ? (fields['SYSLOG_IDENTIFIER'] ?? null) : null
  return {
    at,
    raw,
    level: redactPart(level),
    message: redactLog(line.message),
    fields: Object.fromEntries(Object.entries(line.fields).map(([key, value]) => [redactLog(key), redactLog(value)])),
    from: redactPart(line.from),
    by: redactPart(by),
  }
}

/** Parts are redacted again: without its quotes a text can match other patterns. */
const redactPart = (text: string | null): string | null => (text === null ? null : redactLog(text))

/** journald stores `info` for programs that print no priority: 6 is therefore no level. */
const levelOf = (priority: string | undefined): string | null => {
  if (priority === undefined || !/^[0-5]$/.test(priority)) return null
  return Number(priority) <= 3 ? 'ERROR' : 'WARN'
}

/** A line of one of the node's logs, split into its parts. */
interface LogLine {
  /** `ERROR`, `WARN`, `INFO`, `DEBUG`, `TRACE`; null if the line has no level. */
  readonly level: string | null
  readonly message: string
  readonly fields: Readonly<Record<string, string>>
  /** Module, or file and line; null if the line has neither. */
  readonly from: string | null
}

/** Splits a line into its parts. A line of unknown form becomes the message. Never throws. */
const parseLogLine = (text: string): LogLine =>
  jsonLine(text) ?? executionLine(text) ?? { level: null, message: text, fields: {}, from: null }

/** `{"timestamp":…,"level":"INFO","fields":{"message":…,…},"target":…}`: the format of consensus and ledger-tail. */
const jsonLine = (text: string): LogLine | undefined => {
  if (!text.startsWith('{')) return undefined
  const raw = tryJson(text)
  if (!isRecord(raw) || !isRecord(raw['fields'])) return undefined
  const { message, ...fields } = raw['fields']
  const { level, target } = raw
  if (typeof message !== 'string') return undefined
  return {
    level: typeof level === 'string' ? level : null,
    message,
    fields: Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, show(value)])),
    from: typeof target === 'string' ? target : null,
  }
}

const LEVELS: Readonly<Record<string, string>> = {
  CRITICAL: 'ERROR',
  WARNING: 'WARN',
  TRACE_L1: 'TRACE',
  TRACE_L2: 'TRACE',
  TRACE_L3: 'TRACE',
}

/** `2026-03-01 10:00:00.123456789 [7] runloop.cpp:1 LOG_INFO	…`: the format of execution. */
const executionLine = (text: string): LogLine | undefined => {
  const [, from, word = '', message] =
    /^\d{4}-\d\d-\d\d [\d:.]{8,20} \[\d+\] (\S{1,200}) LOG_(\w{1,12})\s+([^]*)$/.exec(text) ?? []
  if (from === undefined || message === undefined) return undefined
  return { level: LEVELS[word] ?? word, message, fields: {}, from }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const show = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
