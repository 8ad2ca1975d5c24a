import { type RedactionCount, redactLog } from '../core/redaction/redact-log.ts'
import { isAboutUnit } from '../collectors/shared/log-lines.ts'
import type { JournalEntry } from '../parsers/journal.ts'
import { type JournalDependencies, readJournal } from './journal-reader.ts'

/** A line of a service's log, with secrets redacted. */
export interface RedactedLine {
  /** When journald received it, in milliseconds since the epoch. */
  readonly at: number
  /** The writer, if it was not the service: systemd or journald. */
  readonly by: string | null
  readonly raw: string
}

/** Redacts the secrets of an entry; `count` receives the class of each redaction. */
export const redactEntry = ({ at, message, fields }: JournalEntry, count?: RedactionCount): RedactedLine => {
  const by = isAboutUnit(fields) ? fields['SYSLOG_IDENTIFIER'] : undefined
  return { at, raw: redactLog(message ?? '', count), by: by === undefined ? null : redactLog(by) }
}

interface LogTextQuery {
  readonly unit: string
  /** Milliseconds since the epoch, both inclusive. */
  readonly since: number
  readonly until?: number
  /** Which lines to keep if there are too many. */
  readonly keep: 'newest' | 'oldest'
  readonly maxLines: number
  readonly maxBytes: number
}

const MAX_LINE_LENGTH = 16 * 1024

/**
 * The lines of a service's log as text, time, writer and text, oldest first, with secrets redacted. `isCut`: lines of the range
 * were left out. Throws a SourceError.
 */
export const readLogText = async (
  parts: JournalDependencies,
  { unit, since, until, keep, maxLines, maxBytes }: LogTextQuery,
  count?: RedactionCount,
) => {
  const lines: string[] = []
  let bytes = 0
  /** Whether there was room for the entry. */
  const add = (entry: JournalEntry): boolean => {
    const { at, by, raw } = redactEntry(entry, count)
    const cut = raw.length > MAX_LINE_LENGTH ? `${raw.slice(0, MAX_LINE_LENGTH)}\u2026 (truncated)` : raw
    const line = `${new Date(at).toISOString()} ${by === null ? '' : `${by}: `}${cut}`
    bytes += Buffer.byteLength(line) + 1
    if (lines.length >= maxLines || bytes > maxBytes) return false
    lines.push(line)
    return true
  }
  const isNewest = keep === 'newest'
  // One more than is kept shows that there are more.
  const batches = readJournal(parts, { unit, since, until, newest: isNewest ? maxLines + 1 : undefined })
  let isCut = false
  for await (const { entries } of batches) {
    isCut = !(isNewest ? entries.toReversed() : entries).every(add)
    if (isCut) break
  }
  return { lines: isNewest ? lines.toReversed() : lines, isCut }
}
