import type { Config } from '../../config/schema.ts'
import { redactLog } from '../../core/redaction/redact-log.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { type LogLine, parseLogLine } from '../../parsers/log-line.ts'
import type { ClockStep } from '../../sources/journal-order.ts'
import { createExec, createExecWithTimeouts } from '../../sources/exec.ts'
import { type JournalQuery, readJournal } from '../../agent/journal-reader.ts'
import { redactEntry, type RedactedLine } from '../../agent/log-text.ts'
import { findUnits, labelOf, nearestLabel } from '../shared/log-units.ts'
import type { SourceContext } from '../../terminal/io.ts'

interface Options extends SourceContext {
  readonly config: Config
}

/** A line with its parts, all of them redacted. */
export type ShownLine = LogLine & RedactedLine

interface LogBatch {
  readonly lines: readonly ShownLine[]
  /** The steps of the host's clock up to the last of these lines. */
  readonly steps: readonly ClockStep[]
}

interface Service {
  readonly label: string
  readonly unit: string
}

/** The service of a name; for an unknown name, the known labels and a suggestion. */
export type ServiceLookup =
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
    async *read(wanted: JournalQuery): AsyncGenerator<LogBatch> {
      try {
        for await (const { entries, steps } of readJournal({ exec, clock, signal }, wanted)) {
          yield { lines: entries.map(shownLine), steps }
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

const shownLine = (entry: JournalEntry): ShownLine => {
  const redacted = redactEntry(entry)
  const { level, message, fields, from } = parseLogLine(redacted.raw)
  return {
    ...redacted,
    level: redactPart(level ?? levelOf(entry.fields['PRIORITY'])),
    message: redactLog(message),
    fields: Object.fromEntries(Object.entries(fields).map(([key, value]) => [redactLog(key), redactLog(value)])),
    from: redactPart(from),
  }
}

/** Parts are redacted again: without its quotes a text can match other patterns. */
const redactPart = (text: string | null): string | null => (text === null ? null : redactLog(text))

/** journald stores `info` for programs that print no priority: 6 is therefore no level. */
const levelOf = (priority: string | undefined): string | null => {
  if (priority === undefined || !/^[0-5]$/.test(priority)) return null
  return Number(priority) <= 3 ? 'ERROR' : 'WARN'
}
