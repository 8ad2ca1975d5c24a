import { z } from 'zod'
import { pastTime, withinBounds } from '../core/bounds.ts'
import { ParseError } from '../core/errors.ts'
import { isObject, tryJson } from '../core/json.ts'
import { parseU64 } from '../core/units.ts'

/** A parsed line of the ledger stream, for every version since v0.9. Null is a field that the version does not have. */
export type LedgerEvent = ProposedBlock | FinalizedBlock | Timeout

/** The fields of every line. */
interface LedgerLine {
  /** As written by the program: RFC 3339 in UTC. Null if the line has none. */
  readonly timestamp: string | null
  /** `INFO`, or another level. */
  readonly level: string
  readonly round: bigint
  /** The secp public key of the round's leader: 66 hex digits, lower case. */
  readonly author: string
  /** Host and port of the leader. Null if unknown to the program. */
  readonly authorAddress: string | null
  /** When the line was written, in milliseconds since the epoch. */
  readonly writtenAt: number
}

export interface LedgerBlock extends LedgerLine {
  /** Missing in v0.10.0 to v0.10.3. */
  readonly parentRound: bigint | null
  /** Missing early in v0.9. */
  readonly epoch: bigint | null
  readonly seqNum: bigint
  /** The block's own time, in milliseconds since the epoch; null if it is impossible, or later than the line. */
  readonly blockAt: number | null
}

export interface ProposedBlock extends LedgerBlock {
  readonly event: 'proposed'
  readonly transactions: bigint
}

export interface FinalizedBlock extends LedgerBlock {
  readonly event: 'finalized'
}

export interface Timeout extends LedgerLine {
  readonly event: 'timeout'
}

/** Printed as a string (Rust's Debug) in every version so far; a number is accepted too. */
const u64 = z.union([z.string(), z.number().int().nonnegative()]).transform((value, context) => {
  const parsed = parseU64(String(value))
  if (parsed !== undefined) return parsed
  context.addIssue('expected an unsigned 64-bit integer')
  return z.NEVER
})
const milliseconds = u64
  .transform(Number)
  .refine((value) => withinBounds('unixMilliseconds', value) !== null, 'expected milliseconds since 1970')
/** Null for a sentinel. */
const DIGITS = /^\d{1,20}$/
const digits = z.union([z.string().regex(DIGITS), z.number().int().nonnegative()])
const u64OrNull = digits.transform((value) => parseU64(String(value)) ?? null)
const PUBLIC_KEY = /^(?:0x)?[0-9a-fA-F]{66}$/
const withoutPrefix = (key: string): string => key.replace(/^0x/, '').toLowerCase()
const publicKey = z.string().regex(PUBLIC_KEY).transform(withoutPrefix)
const orNull = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? null)

const optionalText = z.string().nullish().catch(null)

const common = {
  round: u64,
  author: publicKey,
  now_ts_ms: milliseconds,
  author_address: optionalText,
  // The same until v0.10.3
  author_dns: optionalText,
}
const block = {
  ...common,
  parent_round: orNull(u64OrNull),
  epoch: orNull(u64OrNull),
  seq_num: u64,
  block_ts_ms: digits,
}
const fields = z.discriminatedUnion('message', [
  z.object({ message: z.literal('proposed_block'), num_tx: u64, ...block }),
  z.object({ message: z.literal('finalized_block'), ...block }),
  // `skipped_block` until v0.10.3
  z.object({ message: z.enum(['timeout', 'skipped_block']), ...common }),
])
const ledgerLine = z.object({ fields })
const OTHER_LEVELS = ['ERROR', 'WARN', 'DEBUG', 'TRACE']
const MESSAGES = ['proposed_block', 'finalized_block', 'timeout', 'skipped_block']
const line = z.object({
  timestamp: optionalText,
  level: z.string(),
  target: z.string(),
  fields: z.object({ message: z.string() }),
})

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
  const usual = usualEvent(raw)
  if (usual) return usual
  const { data: head } = line.safeParse(raw)
  if (!head?.target.endsWith('ledger_tail')) return null
  if (OTHER_LEVELS.includes(head.level) && !MESSAGES.includes(head.fields.message)) return null
  const { data, error } = ledgerLine.safeParse(raw)
  if (!data) throw new ParseError(WHAT, expectation(error), text)
  return eventOf(data.fields, head)
}

/**
 * The event of a line as the node has written it since v0.10.4, with texts alone. Undefined for any other, which the schema
 * reads; it needs 3 µs more for each line.
 */
const usualEvent = (raw: unknown): LedgerEvent | undefined => {
  if (!isObject(raw) || !isObject(raw['fields'])) return undefined
  const { timestamp, level, target } = raw
  if (typeof timestamp !== 'string' || typeof level !== 'string' || typeof target !== 'string') return undefined
  const read = target.endsWith('ledger_tail') ? usualFields(raw['fields']) : undefined
  return read && eventOf(read, { timestamp, level })
}

const usualFields = (found: Readonly<Record<string, unknown>>): z.output<typeof fields> | undefined => {
  const { message, author, author_address, author_dns, parent_round, epoch, block_ts_ms } = found
  const [round, written] = [u64Of(found['round']), u64Of(found['now_ts_ms'])]
  const now_ts_ms = withinBounds('unixMilliseconds', Number(written))
  if (round === undefined || now_ts_ms === null || !isText(author, PUBLIC_KEY)) return undefined
  if (!isText(author_address) || author_dns !== undefined) return undefined
  const ofLine = { round, author: withoutPrefix(author), now_ts_ms, author_address, author_dns }
  if (message === 'timeout') return { message, ...ofLine }
  const seq_num = u64Of(found['seq_num'])
  if (seq_num === undefined || !isText(parent_round, DIGITS) || !isText(epoch, DIGITS)) return undefined
  if (!isText(block_ts_ms, DIGITS)) return undefined
  const heights = { parent_round: parseU64(parent_round) ?? null, epoch: parseU64(epoch) ?? null, seq_num }
  if (message === 'finalized_block') return { message, ...ofLine, ...heights, block_ts_ms }
  const num_tx = u64Of(found['num_tx'])
  if (message !== 'proposed_block' || num_tx === undefined) return undefined
  return { message, ...ofLine, ...heights, block_ts_ms, num_tx }
}

const isText = (value: unknown, pattern = /^/): value is string => typeof value === 'string' && pattern.test(value)
const u64Of = (value: unknown): bigint | undefined => (isText(value) ? parseU64(value) : undefined)

const eventOf = (
  read: z.output<typeof fields>,
  { timestamp, level }: Pick<z.output<typeof line>, 'timestamp' | 'level'>,
): LedgerEvent => {
  const ofLine: LedgerLine = {
    timestamp: timestamp ?? null,
    level,
    round: read.round,
    author: read.author,
    authorAddress: read.author_address || read.author_dns || null,
    writtenAt: read.now_ts_ms,
  }
  if (!('seq_num' in read)) return { event: 'timeout', ...ofLine }
  // Not `{ ...ofLine, parentRound, … }`: V8 needs 5 µs for an object that begins with a copy, and 0.2 µs for these.
  const ofBlock = {
    parentRound: read.parent_round,
    epoch: read.epoch,
    seqNum: read.seq_num,
    blockAt: pastTime(Number(read.block_ts_ms), read.now_ts_ms),
  }
  return read.message === 'proposed_block'
    ? { event: 'proposed', ...ofLine, ...ofBlock, transactions: read.num_tx }
    : { event: 'finalized', ...ofLine, ...ofBlock }
}

const expectation = (error: z.ZodError | undefined): string => {
  const [issue] = error?.issues ?? []
  return issue ? `a good ${issue.path.join('.')} (${issue.message})` : 'a known message'
}
