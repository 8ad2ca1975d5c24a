import { z } from 'zod'
import { pastTime, withinBounds } from '../core/bounds.ts'
import { ParseError } from '../core/errors.ts'
import { tryJson } from '../core/json.ts'
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
const digits = z.union([z.string().regex(/^\d{1,20}$/), z.number().int().nonnegative()])
/** Null for a sentinel. */
const u64OrNull = digits.transform((value) => parseU64(String(value)) ?? null)
const publicKey = z
  .string()
  .regex(/^(?:0x)?[0-9a-fA-F]{66}$/)
  .transform((key) => key.replace(/^0x/, '').toLowerCase())
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
  const { data: head } = line.safeParse(raw)
  if (!head?.target.endsWith('ledger_tail')) return null
  if (OTHER_LEVELS.includes(head.level) && !MESSAGES.includes(head.fields.message)) return null
  const { data, error } = ledgerLine.safeParse(raw)
  if (!data) throw new ParseError(WHAT, expectation(error), text)
  return eventOf(data.fields, head)
}

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
