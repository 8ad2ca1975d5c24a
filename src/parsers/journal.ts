import { ParseError } from '../core/errors.ts'

/** One entry of `journalctl -o json`. */
export interface JournalEntry {
  readonly cursor: string
  /** When journald received it, in milliseconds since the epoch. */
  readonly at: number
  /** The unit that the entry is about: for what systemd itself says of a unit, that unit. */
  readonly unit: string | null
  /** Null where there is none, or where journalctl left it out for its length. */
  readonly message: string | null
  /** Every field that came, as text. */
  readonly fields: Readonly<Record<string, string>>
}

/** Parses one line of `journalctl -o json`. Throws a ParseError. */
export const parseJournalEntry = (line: string): JournalEntry => {
  const raw = parseObject(line)
  const fields: Record<string, string> = {}
  for (const [name, value] of Object.entries(raw)) {
    const text = decode(value)
    if (text !== null) fields[name] = text
  }
  const cursor = fields['__CURSOR']
  const micros = fields['__REALTIME_TIMESTAMP'] ?? ''
  if (cursor === undefined || !/^\d{1,17}$/.test(micros)) {
    throw new ParseError('an entry of the journal', '__CURSOR and __REALTIME_TIMESTAMP', line)
  }
  return {
    cursor,
    at: Math.floor(Number(micros) / 1000),
    unit: fields['UNIT'] ?? fields['OBJECT_SYSTEMD_UNIT'] ?? fields['_SYSTEMD_UNIT'] ?? null,
    message: fields['MESSAGE'] ?? null,
    fields,
  }
}

const parseObject = (line: string): object => {
  const parsed = tryJson(line)
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed
  throw new ParseError('an entry of the journal', 'one JSON object on a line', line)
}

const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * journalctl gives a field as a string, as null when it is longer than 4096 bytes and `--all` was
 * not given, as an array of bytes when anything in it is unprintable, and as an array of those when
 * the field was sent several times.
 */
const decode = (value: unknown): string | null => {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return null
  if (value.every((item) => Number.isInteger(item) && item >= 0 && item <= 255)) {
    return new TextDecoder().decode(Uint8Array.from(value))
  }
  const parts = value.map(decode).filter((part) => part !== null)
  return parts.length === 0 ? null : parts.join('\n')
}
