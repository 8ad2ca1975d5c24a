import { z } from 'zod'
import { parseU64 } from '../core/units.ts'

/** One execution of one block. */
export interface ExecutedBlock {
  readonly event: 'executed'
  readonly number: bigint
  /** 0x and 64 hex digits, lower case; null where the node runs without consensus. */
  readonly id: string | null
  /** The block's own time, in milliseconds since the epoch. */
  readonly blockAt: number
  readonly transactions: bigint
  /** Transactions that were executed again, in conflict with others of the block. */
  readonly retried: bigint
  readonly gas: bigint
  readonly microseconds: {
    readonly senderRecovery: number
    readonly execution: number
    readonly commit: number
    readonly total: number
  }
}

export const BLOCK_ID = /^0x[0-9a-fA-F]{64}$/
/** U+00B5 in two bytes; what becomes of it in a terminal, an editor or a wrong decoder means the same. */
const MICROSECONDS = /^(\d{1,15}) ?(?:\u00B5|\u03BC|\u00C2\u00B5|\uFFFD{1,2}|u)s$/

const u64 = z.string().transform((text, context) => {
  const parsed = parseU64(text)
  if (parsed !== undefined) return parsed
  context.addIssue('expected an unsigned 64-bit integer')
  return z.NEVER
})
const microseconds = z
  .string()
  .regex(MICROSECONDS, 'expected microseconds')
  .transform(Number.parseFloat)
/** Year 1970 to 2286: a time outside is no time in milliseconds. */
const milliseconds = u64
  .refine((value) => value < 10n ** 13n, 'expected milliseconds since 1970')
  .transform(Number)

const schema = z.object({
  bl: u64,
  id: z.string().regex(BLOCK_ID, 'expected 64 hex digits').toLowerCase().optional(),
  ts: milliseconds,
  tx: u64,
  rt: u64,
  sr: microseconds,
  txe: microseconds,
  cmt: microseconds,
  tot: microseconds,
  gas: u64,
  // The last field of every version: a line without it was cut, and its last number, too, perhaps.
  gps: z.string(),
})

/**
 * Reads `__exec_block,bl=…,id=…`, whose fields came and went over the versions: behind gps stood ac and
 * sc until v0.14.4, builds for statistics append more, and the rates are of this block alone. A text
 * says what was expected where something else came.
 */
export const readExecutedBlock = (message: string): ExecutedBlock | string => {
  const { data, error } = schema.safeParse(fieldsOf(message))
  if (!data) {
    const [issue] = error.issues
    const name = issue?.path.join('.')
    return issue?.code === 'invalid_type'
      ? `the field ${name}`
      : `a good ${name} (${issue?.message})`
  }
  return {
    event: 'executed',
    number: data.bl,
    id: data.id ?? null,
    blockAt: data.ts,
    transactions: data.tx,
    retried: data.rt,
    gas: data.gas,
    microseconds: {
      senderRecovery: data.sr,
      execution: data.txe,
      commit: data.cmt,
      total: data.tot,
    },
  }
}

/** Numbers are padded with blanks. */
const fieldsOf = (message: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    message.split(',').flatMap((part) => {
      const at = part.indexOf('=')
      return at === -1 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()]]
    }),
  )
