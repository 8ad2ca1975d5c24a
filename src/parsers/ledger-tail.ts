import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { parseU64 } from '../core/units.ts'

/** What one line of the ledger stream tells, in every version since v0.9; null is what the version leaves out. */
export type LedgerEvent = ProposedBlock | FinalizedBlock | Timeout

export interface LedgerBlock {
  readonly round: bigint
  /** Missing in v0.10.0 to v0.10.3. */
  readonly parentRound: bigint | null
  /** Missing early in v0.9. */
  readonly epoch: bigint | null
  readonly seqNum: bigint
  /** The proposer's secp public key: 66 hex digits, lower case. */
  readonly author: string
  /** The block's own time, in milliseconds since the epoch. */
  readonly blockAt: number
  /** When the line was written, in milliseconds since the epoch. */
  readonly writtenAt: number
}

export interface ProposedBlock extends LedgerBlock {
  readonly event: 'proposed'
  readonly transactions: bigint
}

export interface FinalizedBlock extends LedgerBlock {
  readonly event: 'finalized'
}

export interface Timeout {
  readonly event: 'timeout'
  readonly round: bigint
  /** The leader who timed out. */
  readonly author: string
  readonly writtenAt: number
}

/** Printed as text (Rust's Debug) in every version so far; a plain number is understood too. */
const u64 = z.union([z.string(), z.number().int().nonnegative()]).transform((value, context) => {
  const parsed = parseU64(String(value))
  if (parsed !== undefined) return parsed
  context.addIssue('expected an unsigned 64-bit integer')
  return z.NEVER
})
/** Year 1970 to 2286: a time outside is no time in milliseconds. */
const milliseconds = u64.refine((value) => value < 10n ** 13n).transform(Number)
const publicKey = z
  .string()
  .regex(/^(?:0x)?[0-9a-fA-F]{66}$/)
  .transform((key) => key.replace(/^0x/, '').toLowerCase())
const orNull = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? null)

const block = {
  round: u64,
  parent_round: orNull(u64),
  epoch: orNull(u64),
  seq_num: u64,
  author: publicKey,
  block_ts_ms: milliseconds,
  now_ts_ms: milliseconds,
}
const fields = z.discriminatedUnion('message', [
  z.object({ message: z.literal('proposed_block'), num_tx: u64, ...block }),
  z.object({ message: z.literal('finalized_block'), ...block }),
  // `skipped_block` until v0.10.3
  z.object({
    message: z.enum(['timeout', 'skipped_block']),
    round: u64,
    author: publicKey,
    now_ts_ms: milliseconds,
  }),
])
const line = z.object({
  level: z.string(),
  target: z.string(),
  fields: z.object({ message: z.string() }),
})

const WHAT = 'a line of the ledger stream'

/**
 * Parses one line. Null for lines that are not the stream's: warnings of the program, panics, what
 * systemd says of the unit. Throws a ParseError for one that is the stream's and not understood,
 * unknown messages included: a message that we pass over in silence once meant "0 missed".
 */
export const parseLedgerLine = (text: string): LedgerEvent | null => {
  if (!text.startsWith('{')) return null
  const raw = tryJson(text)
  if (raw === undefined) throw new ParseError(WHAT, 'a whole JSON object', text)
  const { data: head } = line.safeParse(raw)
  if (!head?.target.endsWith('ledger_tail') || head.level !== 'INFO') return null
  const { data, error } = z.object({ fields }).safeParse(raw)
  if (!data) throw new ParseError(WHAT, expectation(error), text)
  return eventOf(data.fields)
}

const eventOf = (said: z.output<typeof fields>): LedgerEvent => {
  const { round, author, now_ts_ms: writtenAt } = said
  if (!('seq_num' in said)) return { event: 'timeout', round, author, writtenAt }
  const common = {
    round,
    parentRound: said.parent_round,
    epoch: said.epoch,
    seqNum: said.seq_num,
    author,
    blockAt: said.block_ts_ms,
    writtenAt,
  }
  return said.message === 'proposed_block'
    ? { event: 'proposed', ...common, transactions: said.num_tx }
    : { event: 'finalized', ...common }
}

const tryJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const expectation = (error: z.ZodError | undefined): string => {
  const [issue] = error?.issues ?? []
  return issue ? `a good ${issue.path.join('.')} (${issue.message})` : 'a known message'
}
