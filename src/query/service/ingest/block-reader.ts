import type { Clock } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import type { Block } from '../../store/store.ts'
import { createBatchSizer } from './batch-size.ts'
import { blockOf } from './completeness.ts'
import { FatalIngestError, IngestError, NodeTimeoutError, TooLargeError } from './errors.ts'
import { type Headers, unlinked } from './headers.ts'
import type { FetchLogs } from './logs.ts'
import type { LogPredicate } from './options.ts'
import type { FullHeader } from './parse.ts'

export interface Position {
  readonly number: number
  readonly hash: string
}

interface BlockRequest {
  readonly from: number
  readonly to: number
  /** The previous block, if it is in the store. */
  readonly after: Position | null
  /** The block that the node reported as final, if its hash is known. */
  readonly final: Position | null
  readonly signal: AbortSignal
}

/** Reads the first of the requested blocks: complete, linked, and with the logs in scope. At least one. */
export type ReadBlocks = (wanted: BlockRequest) => Promise<readonly Block[]>

interface BlockReaderOptions {
  readonly headers: Headers
  readonly fetchLogs: FetchLogs
  readonly isInScope: LogPredicate | null
  readonly maxRange: number
  readonly clock: Clock
}

/** Nodes send up to 25 MB; a third of it is as fast and uses less memory. */
const RESPONSE_CHARACTERS = 8_000_000
/** In milliseconds. After a slower response the next request is smaller. */
const SLOW = 5 * second
/** Below this number of blocks, a slow response is not caused by the number of blocks. */
const FEW = 16

export const createBlockReader = (options: BlockReaderOptions): ReadBlocks => {
  const { headers, fetchLogs, isInScope, maxRange, clock } = options
  const sizer = createBatchSizer({
    first: Math.min(8, maxRange),
    most: maxRange,
    characters: RESPONSE_CHARACTERS,
  })
  return async ({ from, to, after, final, signal }) => {
    for (;;) {
      const heads = await headers.take(from, Math.min(to, from + sizer.size() - 1), signal)
      expectFinal(final, heads.at(-1))
      if (after !== null) await expectLinked(headers, { after, head: heads[0], signal })
      try {
        const startedAt = clock.elapsed()
        const { logs, size } = await fetchLogs(heads, signal)
        sizer.record(heads.length, size)
        const isSlow = clock.elapsed() - startedAt > SLOW
        if (isSlow && heads.length > FEW) sizer.reduce(heads.length)
        return heads.map((head) => blockOf(head, logs.get(head.number) ?? [], isInScope))
      } catch (error) {
        const mayShrink = error instanceof TooLargeError || error instanceof NodeTimeoutError
        if (mayShrink) sizer.reduce(heads.length)
        if (!(error instanceof TooLargeError) || heads.length === 1) throw error
      }
    }
  }
}

/** Several nodes may share one address, and a final block of one may be a proposal on another. */
const expectFinal = (final: Position | null, head: FullHeader | undefined): void => {
  if (final === null || head?.number !== final.number || head.hash === final.hash) return
  throw new IngestError('unlinked', {
    doing: `read block ${final.number} from the node`,
    happened: 'its hash differs from the one that the node reported as final',
    evidence: `final: ${short(final.hash)}, this one: ${short(head.hash)}`,
    advice: 'if several nodes share this address, use the address of one of them',
  })
}

interface LinkCheck {
  readonly after: Position
  readonly head: FullHeader | undefined
  readonly signal: AbortSignal
}

const expectLinked = async (headers: Headers, { after, head, signal }: LinkCheck): Promise<void> => {
  if (head === undefined || head.parentHash === after.hash) return
  const nodeBlock = await headers.finalAt(after.number, signal)
  // If the node agrees about the previous block, its response about this block was wrong.
  if (nodeBlock === null || nodeBlock.hash === after.hash) throw unlinked(after, head)
  throw new FatalIngestError({
    doing: `continue after block ${after.number}`,
    happened: 'the node now has another block in place of the final block in the store',
    evidence: `store: ${short(after.hash)}, node: ${short(nodeBlock.hash)}`,
    advice: 'check whether the node is on the right chain and fork; if the store is wrong, create a new one',
  })
}

/** Enough to distinguish two hashes; a full hash looks like a secret and would be redacted. */
const short = (hash: string): string => `${hash.slice(0, 10)}…`
