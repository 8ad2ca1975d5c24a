import { ParseError } from '../core/errors.ts'
import { tryJson } from '../core/json.ts'
import { LIMITS } from '../core/limits.ts'

/** One entry of `journalctl -o json`. */
export interface JournalEntry {
  readonly cursor: string
  /** When journald received the entry, in milliseconds since the epoch. */
  readonly at: number
  /** The boot during which it was received, and the milliseconds since then; absent in an incomplete recording. */
  readonly boot?: string
  readonly monotonic?: number
  /** The unit that the entry is about: for systemd's own messages about a unit, that unit. */
  readonly unit: string | null
  /** Null if the entry has none, or journalctl omitted it because of its length. */
  readonly message: string | null
  /** Every field of the entry, as text. */
  readonly fields: Readonly<Record<string, string>>
}

/** Parses one line of `journalctl -o json`. Throws a ParseError. */
export const parseJournalEntry = (line: string): JournalEntry => {
  const raw = parseObject(line)
  const fields = isOfTexts(raw) ? raw : decodedFields(raw)
  const cursor = fields['__CURSOR']
  const micros = fields['__REALTIME_TIMESTAMP'] ?? ''
  if (cursor === undefined || !/^\d{1,17}$/.test(micros)) {
    throw new ParseError('an entry of the journal', '__CURSOR and __REALTIME_TIMESTAMP', line)
  }
  const boot = fields['_BOOT_ID']
  const monotonic = fields['__MONOTONIC_TIMESTAMP'] ?? ''
  return {
    cursor,
    at: Math.floor(Number(micros) / 1000),
    ...(boot !== undefined &&
      /^\d{1,16}$/.test(monotonic) && { boot, monotonic: Math.floor(Number(monotonic) / 1000) }),
    unit: fields['UNIT'] ?? fields['OBJECT_SYSTEMD_UNIT'] ?? fields['_SYSTEMD_UNIT'] ?? null,
    message: fields['MESSAGE'] === undefined ? null : withoutColors(fields['MESSAGE']),
    fields,
  }
}

/** Colours of a terminal, also in a text of JSON; in JSON within JSON the backslash is escaped, and stays. */
// oxlint-disable-next-line no-control-regex -- what is removed
const COLORS = /(?:\u001b|(?<!\\)\\u001b)\[[\d;]{0,32}m/gi

const withoutColors = (text: string): string =>
  text.includes('\u001b') || text.includes('u001b') || text.includes('u001B') ? text.replaceAll(COLORS, '') : text

/** The times of `journalctl`: short, short-precise, short-iso and short-full, with-unit, short-unix, short-monotonic and short-delta. */
const PRINTED_TIMES = [
  String.raw`[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?`,
  String.raw`\d{4}-\d\d-\d\dT[\d:.]{8,15}(?:Z|[+-]\d\d:?\d\d)`,
  String.raw`[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z+-][\w+-]{0,7}`,
  String.raw`\d{9,10}\.\d{6}`,
  String.raw`\[ {0,12}\d{1,12}\.\d{6}(?: {1,12}<[ \d.]{0,24}>)?\]`,
]

/** `May  2 08:00:01 host program[7]: `: what journalctl prints before each line, unless it prints JSON; the host is left out with --no-hostname. */
const PRINTED_PREFIX = new RegExp(String.raw`^(?:${PRINTED_TIMES.join('|')}) (?:\S{1,255} )?[^\s:]{1,128}: `)

/** The line as the program wrote it, from one that journalctl printed, without colours. */
export const withoutPrintedPrefix = (line: string): string => withoutColors(line).replace(PRINTED_PREFIX, '')

const parseObject = (line: string): object => {
  const parsed = tryJson(line, { ...LIMITS.json, values: LIMITS.journal.entryValues })
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed
  throw new ParseError('an entry of the journal', 'one JSON object on a line', line)
}

/** As almost all entries are. */
const isOfTexts = (raw: object): raw is Readonly<Record<string, string>> => Object.values(raw).every(isText)
const isText = (value: unknown): boolean => typeof value === 'string'

const decodedFields = (raw: object): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(raw).flatMap(([name, value]) => {
      const text = decode(value)
      return text === null ? [] : [[name, text]]
    }),
  )

/**
 * journalctl prints a field as a string; as null if it is longer than 4096 bytes and `--all` is not set; as an array of
 * bytes if it has unprintable characters; and as an array of these if the field was sent several times.
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

/**
 * Joins lines that journald has split: it splits at 48 KiB and marks every part but the last with
 * `_LINE_BREAK=line-max`. Parts of several programs may be interleaved.
 */
export const createLineJoiner = () => {
  const parts = new Map<string, PartialLine>()
  let lost = 0

  /** Uses the timestamps of entries. Without a limit, a line whose end never arrives would block the follower. */
  const dropExpired = (now: number): void => {
    for (const [stream, { first, isTooLong }] of parts) {
      if (now - first.at <= LIMITS.journal.partMs) continue
      parts.delete(stream)
      if (!isTooLong) lost += 1
    }
  }

  return {
    /** The entry with its complete line, or undefined while parts are missing. */
    join: (entry: JournalEntry): JournalEntry | undefined => {
      if (parts.size > 0) dropExpired(entry.at)
      const stream = streamOf(entry)
      const partial = parts.get(stream)
      const isPart = isCut(entry)
      if (partial?.isTooLong === true) {
        // The rest of a line that was too long is dropped.
        if (isPart) parts.set(stream, { first: entry, text: '', isTooLong: true })
        else parts.delete(stream)
        return undefined
      }
      if (isPart && !partial && parts.size >= LIMITS.journal.streams) {
        lost += 1
        return undefined
      }
      const text = `${partial?.text ?? ''}${entry.message ?? ''}`
      if (isPart && text.length < LIMITS.journal.messageLength) {
        parts.set(stream, { first: partial?.first ?? entry, text, isTooLong: false })
        return undefined
      }
      if (isPart) parts.set(stream, { first: entry, text: '', isTooLong: true })
      else parts.delete(stream)
      return partial ? { ...entry, at: partial.first.at, message: text } : entry
    },
    /** Whether a line is incomplete: reading must not stop here. */
    get isWaiting(): boolean {
      return [...parts.values()].some(({ isTooLong }) => !isTooLong)
    },
    /** The number of lines whose end never arrived, since the last call. */
    takeLostCount: (): number => {
      const count = lost
      lost = 0
      return count
    },
  }
}

export type LineJoiner = ReturnType<typeof createLineJoiner>

interface PartialLine {
  readonly first: JournalEntry
  readonly text: string
  /** Whether the line was too long and has already been returned. */
  readonly isTooLong: boolean
}

/** Whether this entry is a part that journald has split off, with more to follow. */
export const isCut = ({ fields }: JournalEntry): boolean => fields['_LINE_BREAK'] === 'line-max'

/** The stream of the writing process: all parts of a line have the same. */
export const streamOf = ({ fields }: JournalEntry): string => fields['_STREAM_ID'] ?? fields['_PID'] ?? ''

/** The most parts that a joined line has. To get the newest N lines, request N + MAX_PARTS entries. */
export const MAX_PARTS = 24

/**
 * The newest lines in these entries, oldest first. If older entries exist, the first entry of a stream may be the end
 * of a line that began earlier, and is left out.
 */
export const newestLines = (
  entries: readonly JournalEntry[],
  wanted: number,
  joiner: LineJoiner = createLineJoiner(),
): readonly JournalEntry[] => {
  const isWhole = entries.length < wanted + MAX_PARTS
  const partial = new Set<string>()
  const lines = entries.flatMap((entry, index) => {
    const line = joiner.join(entry)
    if (!line) return []
    const stream = streamOf(entry)
    const isKnown = isWhole || index >= MAX_PARTS || partial.has(stream)
    partial.add(stream)
    return isKnown ? [line] : []
  })
  return lines.slice(-wanted)
}
