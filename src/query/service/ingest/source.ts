import { type Clock } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import { type Block } from '../../store/store.ts'
import { blockOf } from './complete.ts'
import { IngestEnded, IngestError, LateError, TooLargeError } from './errors.ts'
import { type Headers, unlinked } from './headers.ts'
import { type GatherLogs } from './logs.ts'
import { type Head } from './parse.ts'
import { type Keeps } from './scope.ts'
import { createSizer } from './sizer.ts'

export interface Position {
  readonly number: number
  readonly hash: string
}

interface Wanted {
  readonly from: number
  readonly to: number
  /** The block before, where it is held. */
  readonly after: Position | null
  /** The block that the node has told to be final, where it told its hash. */
  readonly final: Position | null
  readonly signal: AbortSignal
}

/** The first of the blocks that are wanted, whole, linked and filtered: at least one. */
export type NextBlocks = (wanted: Wanted) => Promise<readonly Block[]>

interface SourceOptions {
  readonly headers: Headers
  readonly gather: GatherLogs
  readonly keeps: Keeps | null
  readonly maxRange: number
  readonly clock: Clock
}

/** The node answers with up to 25 MB; a third of it is as fast and not as heavy. */
const LENGTH = 8_000_000
/** A node that takes longer for an answer, in milliseconds, has more to do than this: the next one is smaller. */
const SLOW = 5 * second
/** It is not for its number of blocks that an answer of so few is late. */
const FEW = 16

export const createSource = (options: SourceOptions): NextBlocks => {
  const { headers, gather, keeps, maxRange, clock } = options
  const sizer = createSizer({ first: Math.min(8, maxRange), most: maxRange, characters: LENGTH })
  return async ({ from, to, after, final, signal }) => {
    for (;;) {
      const heads = await headers.take(from, Math.min(to, from + sizer.size() - 1), signal)
      mustEndWith(final, heads.at(-1))
      if (after !== null) await mustFollow(headers, { after, head: heads[0], signal })
      try {
        const began = clock.elapsed()
        const { logs, size } = await gather(heads, signal)
        sizer.came(heads.length, size)
        const isSlow = clock.elapsed() - began > SLOW
        if (isSlow && heads.length > FEW) sizer.refused(heads.length)
        return heads.map((head) => blockOf(head, logs.get(head.number) ?? [], keeps))
      } catch (error) {
        const canBeLess = error instanceof TooLargeError || error instanceof LateError
        if (canBeLess) sizer.refused(heads.length)
        if (!(error instanceof TooLargeError) || heads.length === 1) throw error
      }
    }
  }
}

/** Behind one address there may be several nodes, and what one has as final another has as a proposal. */
const mustEndWith = (final: Position | null, head: Head | undefined): void => {
  if (final === null || head?.number !== final.number || head.hash === final.hash) return
  throw new IngestError('unlinked', {
    doing: `read block ${final.number} from the node`,
    happened: 'it is another block than the one that the node told to be final',
    evidence: `final: ${short(final.hash)}, this one: ${short(head.hash)}`,
    advice: 'where several nodes answer at one address, give the address of one of them',
  })
}

interface Following {
  readonly after: Position
  readonly head: Head | undefined
  readonly signal: AbortSignal
}

const mustFollow = async (headers: Headers, { after, head, signal }: Following): Promise<void> => {
  if (head === undefined || head.parentHash === after.hash) return
  const theirs = await headers.finalAt(after.number, signal)
  // Where the node agrees about the block before, it was its answer about this one that was wrong.
  if (theirs === null || theirs.hash === after.hash) throw unlinked(after, head)
  throw new IngestEnded({
    doing: `go on after block ${after.number}`,
    happened: 'what is held of it as final is another block than the one that the node has now',
    evidence: `held: ${short(after.hash)}, the node: ${short(theirs.hash)}`,
    advice:
      'see whether the node is on the right chain and fork; where it is the store that is wrong, begin with a new one',
  })
}

/** Enough to tell two hashes apart; a whole one looks like a secret, and would be redacted. */
const short = (hash: string): string => `${hash.slice(0, 10)}…`
