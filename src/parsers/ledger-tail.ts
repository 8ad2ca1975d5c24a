import { pastTime, withinBounds } from '../core/bounds.ts'
import { ParseError } from '../core/errors.ts'
import { isObject, tryJson } from '../core/json.ts'
import { parseU64 } from '../core/units.ts'

/** A parsed line of the ledger stream, for every version since v0.9. Null is a field that the version does not have. */
export type LedgerEvent = Readonly<ReturnType<typeof eventOf>>

export type ProposedBlock = Extract<LedgerEvent, { event: 'proposed' }>
export type FinalizedBlock = Extract<LedgerEvent, { event: 'finalized' }>
export type LedgerBlock = ProposedBlock | FinalizedBlock
export type Timeout = Extract<LedgerEvent, { event: 'timeout' }>

/** A line of the stream. */
interface Line {
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly timestamp: string | null
  readonly level: string
}

const wrong = ({ text }: Line, name: string, expected: string): never => {
  throw new ParseError(WHAT, `a good fields.${name} (expected ${expected})`, text)
}

/** Printed as a string (Rust's Debug) in every version so far; a number is accepted too. */
const digitsOf = (value: unknown): string =>
  typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : ''

const u64 = (line: Line, name: string): bigint =>
  parseU64(digitsOf(line.fields[name])) ?? wrong(line, name, 'an unsigned 64-bit integer')

/** Null for a sentinel, and for a field that the version does not have. */
const u64OrNull = (line: Line, name: string): bigint | null =>
  (line.fields[name] ?? null) === null ? null : (parseU64(digits(line, name)) ?? null)

const digits = (line: Line, name: string): string => {
  const text = digitsOf(line.fields[name])
  return /^\d{1,20}$/.test(text) ? text : wrong(line, name, 'up to 20 digits')
}

const milliseconds = (line: Line, name: string): number =>
  withinBounds('unixMilliseconds', Number(u64(line, name))) ?? wrong(line, name, 'milliseconds since 1970')

const publicKey = (line: Line, name: string): string => {
  const [, key] = /^(?:0x)?([0-9a-fA-F]{66})$/.exec(textOf(line.fields[name])) ?? []
  return key?.toLowerCase() ?? wrong(line, name, '66 hex digits')
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const OTHER_LEVELS = ['ERROR', 'WARN', 'DEBUG', 'TRACE']
/** `skipped_block`: a timeout until v0.10.3. */
const MESSAGES = ['proposed_block', 'finalized_block', 'timeout', 'skipped_block']

const WHAT = 'a line of the ledger stream'

/**
 * Parses one line. Null for lines that are not part of the stream: warnings of the program, panics, systemd's messages
 * about the unit. The level of a block or timeout does not matter. Throws a ParseError for a line of the stream that
 * cannot be parsed, including unknown messages at INFO and at an unknown level: an ignored message once led to "0 missed".
 */
export const parseLedgerLine = (text: string): LedgerEvent | null => {
  if (!text.startsWith('{')) return null
  const raw = tryJson(text)
  if (raw === undefined) throw new ParseError(WHAT, 'a whole JSON object', text)
  if (!isObject(raw) || !isObject(raw['fields'])) return null
  const { level, fields } = raw
  const { message } = fields
  if (typeof level !== 'string' || typeof message !== 'string') return null
  if (!textOf(raw['target']).endsWith('ledger_tail')) return null
  if (!MESSAGES.includes(message)) {
    if (OTHER_LEVELS.includes(level)) return null
    throw new ParseError(WHAT, 'a known message', text)
  }
  return eventOf(message, { text, fields, timestamp: textOf(raw['timestamp']) || null, level })
}

/** Not a schema: a node writes five lines a second, and a schema of zod takes three times as long. */
const eventOf = (message: string, line: Line) => {
  const { fields, timestamp, level } = line
  const ofLine = {
    /** As written by the program: RFC 3339 in UTC. Null if the line has none. */
    timestamp,
    /** `INFO`, or another level. */
    level,
    round: u64(line, 'round'),
    /** The secp public key of the round's leader: 66 hex digits, lower case. */
    author: publicKey(line, 'author'),
    /** Host and port of the leader, `author_dns` until v0.10.3. Null if unknown to the program. */
    authorAddress: textOf(fields['author_address']) || textOf(fields['author_dns']) || null,
    /** When the line was written, in milliseconds since the epoch. */
    writtenAt: milliseconds(line, 'now_ts_ms'),
  }
  if (message === 'timeout' || message === 'skipped_block') return { event: 'timeout' as const, ...ofLine }
  // Not `{ ...ofLine, parentRound, … }`: V8 needs 5 µs for an object that begins with a copy, and 0.2 µs for these.
  const ofBlock = {
    /** Missing in v0.10.0 to v0.10.3. */
    parentRound: u64OrNull(line, 'parent_round'),
    /** Missing early in v0.9. */
    epoch: u64OrNull(line, 'epoch'),
    seqNum: u64(line, 'seq_num'),
    /** The block's own time, in milliseconds since the epoch; null if it is impossible, or later than the line. */
    blockAt: pastTime(Number(digits(line, 'block_ts_ms')), ofLine.writtenAt),
  }
  return message === 'proposed_block'
    ? { event: 'proposed' as const, ...ofLine, ...ofBlock, transactions: u64(line, 'num_tx') }
    : { event: 'finalized' as const, ...ofLine, ...ofBlock }
}
