import { z } from 'zod'
import type { Checkpoint } from '../../sources/checkpoint.ts'

/** Where a follower stopped reading, under which matches, and what its listener must remember. */
export interface Place {
  readonly match: readonly string[]
  readonly cursor: string
  /** Time of the entry at the cursor, in milliseconds since the epoch. */
  readonly at: number
  readonly memory: unknown
}

const schema = z.object({
  version: z.literal(1),
  match: z.array(z.string()),
  // A cursor is passed on to journalctl: nothing but what journald writes itself.
  cursor: z.string().regex(/^[a-z]=[0-9a-zA-Z=;_-]{1,400}$/),
  at: z.number(),
  memory: z.unknown(),
})

/** The place that was saved; undefined when none ever was, `lost` when there is one and it is no good. */
export const readPlace = async (checkpoint: Checkpoint): Promise<Place | 'lost' | undefined> => {
  const found = await checkpoint.read()
  if (found.state === 'none') return undefined
  if (found.state === 'unreadable') return 'lost'
  return schema.safeParse(found.value).data ?? 'lost'
}

export const savePlace = (checkpoint: Checkpoint, place: Place): void => {
  checkpoint.save({ version: 1, ...place })
}

/** A place found under other matches may lie on an entry that these do not see. */
export const sameMatch = (a: readonly string[], b: readonly string[]): boolean =>
  a.join('\0') === b.join('\0')
