import { excerpt } from '../../../core/errors.ts'
import { IngestError, NodeTimeoutError, NodeRejectedError, TooLargeError } from './errors.ts'
import { parseResult } from './fields.ts'
import { type FullHeader, parseHead } from './parse.ts'
import { type Rpc } from './rpc.ts'
import { createBatchSizer } from './batch-size.ts'

/** Reads headers of final blocks, and caches them until they have been used. */
export interface Headers {
  /** The first headers of `from` to `to`: at least one, linked by parent hash. */
  take(from: number, to: number, signal: AbortSignal): Promise<readonly FullHeader[]>
  /** Null if the node does not have the block. */
  at(block: number | string, signal: AbortSignal): Promise<FullHeader | null>
  /** Null if the node does not have the block, or reports that it is not final. */
  finalAt(block: number, signal: AbortSignal): Promise<FullHeader | null>
  clear(): void
}

/** The header of a block with 4,000 transactions has 270 kB, since it lists their hashes. */
const RESPONSE_CHARACTERS = 4_000_000
/** Headers stay in memory until their logs have been read. */
const MOST_HASHES = 100_000

export const createHeaders = (rpc: Rpc): Headers => {
  const sizer = createBatchSizer({ first: 16, most: 100, characters: RESPONSE_CHARACTERS })
  let cached: readonly FullHeader[] = []

  const request = async (from: number, to: number, signal: AbortSignal): Promise<FullHeader[]> => {
    for (;;) {
      const count = Math.min(to - from + 1, sizer.size())
      const numbers = Array.from({ length: count }, (_, index) => from + index)
      try {
        const { replies, size } = await rpc.many(numbers.map(callFor), signal)
        const heads = replies.map((reply, index) => {
          if ('error' in reply) throw reply.error
          return headOf(reply.result, from + index)
        })
        sizer.record(count, size)
        return heads
      } catch (error) {
        if (error instanceof TooLargeError || error instanceof NodeTimeoutError) sizer.reduce(count)
        if (!(error instanceof TooLargeError) || count === 1) throw error
      }
    }
  }

  return {
    take: async (from, to, signal) => {
      cached = cached.filter(({ number }) => number >= from)
      if (cached[0] !== undefined && cached[0].number !== from) cached = []
      while (cached.length < to - from + 1) {
        const more = await request(from + cached.length, to, signal)
        cached = [...cached, ...more]
        if (cached.reduce((sum, { transactions }) => sum + transactions.length, 0) > MOST_HASHES) break
      }
      const taken = cached.slice(0, to - from + 1)
      for (const [index, head] of taken.entries()) {
        const previous = taken[index - 1]
        if (previous !== undefined && previous.hash !== head.parentHash) throw unlinked(previous, head)
      }
      return taken
    },
    at: async (block, signal) => {
      const { result } = await rpc.one(callFor(block), signal)
      return parseResult('the header of a block', result, parseHead)
    },
    finalAt: async (block, signal) => {
      // In one batch, so that the same node answers both.
      const { replies } = await rpc.many([callFor('finalized'), callFor(block)], signal)
      const [final = null, head = null] = replies.map((reply) => {
        if ('result' in reply) {
          return parseResult('the header of a block', reply.result, parseHead) ?? 'none'
        }
        if (reply.error instanceof NodeRejectedError) return null
        throw reply.error
      })
      if (head === null || head === 'none' || final === 'none') return null
      // A node that does not support the tag does not contradict it.
      return final === null || final.number >= block ? head : null
    },
    clear: () => {
      cached = []
    },
  }
}

const callFor = (block: number | string) => ({
  method: 'eth_getBlockByNumber',
  params: [typeof block === 'number' ? `0x${block.toString(16)}` : block, false],
})

const headOf = (result: unknown, number: number): FullHeader => {
  const head = parseResult('the header of a block', result, parseHead)
  if (head === null) throw notFound(number)
  if (head.number === number) return head
  throw new IngestError('nonsense', {
    doing: `read block ${number} from the node`,
    happened: 'the node returned another block',
    evidence: excerpt(String(head.number)),
  })
}

const notFound = (number: number): IngestError =>
  new IngestError('incomplete', {
    doing: `read block ${number} from the node`,
    // This is part of the logged line, since waiting does not help.
    happened: 'the node does not have it (if it keeps recent blocks only, use --from-block with a new --store)',
  })

export const unlinked = (previous: { readonly number: number }, head: FullHeader): IngestError =>
  new IngestError('unlinked', {
    doing: 'link blocks',
    happened: 'the parent hash of a block is not the hash of the previous block',
    evidence: `block ${head.number} after block ${previous.number}`,
  })
