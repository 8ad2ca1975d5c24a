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

/** What a line has in the place of a value that was expected. */
class Mismatch extends Error {}

type Fields = Readonly<Record<string, unknown>>

/** Printed as a string (Rust's Debug) in every version so far; a number is accepted too. */
const digitsOf = (value: unknown): string =>
  typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : ''

const u64 = (fields: Fields, name: string): bigint => {
  const parsed = parseU64(digitsOf(fields[name]))
  if (parsed === undefined) throw new Mismatch(`a good fields.${name} (expected an unsigned 64-bit integer)`)
  return parsed
}

/** Null for a sentinel, and for a field that the version does not have. */
const u64OrNull = (fields: Fields, name: string): bigint | null => {
  const value = fields[name] ?? null
  return value === null ? null : (parseU64(digits(fields, name)) ?? null)
}

const digits = (fields: Fields, name: string): string => {
  const text = digitsOf(fields[name])
  if (!/^\d{1,20}$/.test(text)) throw new Mismatch(`a good fields.${name} (expected up to 20 digits)`)
  return text
}

const milliseconds = (fields: Fields, name: string): number => {
  const value = withinBounds('unixMilliseconds', Number(u64(fields, name)))
  if (value === null) throw new Mismatch(`a good fields.${name} (expected milliseconds since 1970)`)
  return value
}

const publicKey = (fields: Fields, name: string): string => {
  const [, key] = /^(?:0x)?([0-9a-fA-F]{66})$/.exec(textOf(fields[name])) ?? []
  if (key === undefined) throw new Mismatch(`a good fields.${name} (expected 66 hex digits)`)
  return key.toLowerCase()
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
  try {
    return eventOf(message, fields, { level, timestamp: textOf(raw['timestamp']) || null })
  } catch (error) {
    throw error instanceof Mismatch ? new ParseError(WHAT, error.message, text) : error
  }
}

/** Not a schema: a node writes five lines a second, and a schema of zod takes three times as long. Throws a Mismatch. */
const eventOf = (
  message: string,
  fields: Fields,
  line: { readonly timestamp: string | null; readonly level: string },
) => {
  const ofLine = {
    /** As written by the program: RFC 3339 in UTC. Null if the line has none. */
    timestamp: line.timestamp,
    /** `INFO`, or another level. */
    level: line.level,
    round: u64(fields, 'round'),
    /** The secp public key of the round's leader: 66 hex digits, lower case. */
    author: publicKey(fields, 'author'),
    /** Host and port of the leader, `author_dns` until v0.10.3. Null if unknown to the program. */
    authorAddress: textOf(fields['author_address']) || textOf(fields['author_dns']) || null,
    /** When the line was written, in milliseconds since the epoch. */
    writtenAt: milliseconds(fields, 'now_ts_ms'),
  }
  if (message === 'timeout' || message === 'skipped_block') return { event: 'timeout' as const, ...ofLine }
  // Not `{ ...ofLine, parentRound, … }`: V8 needs 5 µs for an object that begins with a copy, and 0.2 µs for these.
  const ofBlock = {
    /** Missing in v0.10.0 to v0.10.3. */
    parentRound: u64OrNull(fields, 'parent_round'),
    /** Missing early in v0.9. */
    epoch: u64OrNull(fields, 'epoch'),
    seqNum: u64(fields, 'seq_num'),
    /** The block's own time, in milliseconds since the epoch; null if it is impossible, or later than the line. */
    blockAt: pastTime(Number(digits(fields, 'block_ts_ms')), ofLine.writtenAt),
  }
  return message === 'proposed_block'
    ? { event: 'proposed' as const, ...ofLine, ...ofBlock, transactions: u64(fields, 'num_tx') }
    : { event: 'finalized' as const, ...ofLine, ...ofBlock }
}
