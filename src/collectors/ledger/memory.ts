import { z } from 'zod'

/** The newest block of one kind. */
export interface Seen {
  readonly round: bigint
  readonly epoch: bigint | null
  readonly seqNum: bigint
  /** The block's own time, in milliseconds since the epoch. */
  readonly blockAt: number
}

/** What must outlive the agent, so that what is shown again after a restart is not counted again. */
export interface LedgerMemory {
  readonly known: readonly string[]
  readonly newest: { readonly proposed: Seen | null; readonly finalized: Seen | null }
  readonly settledRound: bigint | null
  readonly ownConsecutiveTimeouts: number | null
}

const integer = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt)
const seen = z
  .object({ round: integer, epoch: integer.nullable(), seqNum: integer, blockAt: z.number() })
  .nullable()
const schema = z.object({
  known: z.array(z.string()),
  newest: z.object({ proposed: seen, finalized: seen }),
  settledRound: integer.nullable(),
  ownConsecutiveTimeouts: z.number().nullable(),
})

/** Reads what `toJson` made of a memory; undefined when it is not one. */
export const parseLedgerMemory = (saved: unknown): LedgerMemory | undefined =>
  schema.safeParse(saved).data
