import { excerpt } from '../../../core/errors.ts'
import { IngestError, LateError, RefusedError, TooLargeError } from './errors.ts'
import { understood } from './understood.ts'
import { type Head, parseHead } from './parse.ts'
import { type Rpc } from './rpc.ts'
import { createSizer } from './sizer.ts'

/** Headers of final blocks: what was asked for once is kept until it has been used. */
export interface Headers {
  /** The first of `from`…`to`: at least one, linked to each other. */
  take(from: number, to: number, signal: AbortSignal): Promise<readonly Head[]>
  /** Null where the node does not have the block. */
  at(block: number | string, signal: AbortSignal): Promise<Head | null>
  /** Null where the node does not have the block, or knows what is final and has it as a proposal only. */
  finalAt(block: number, signal: AbortSignal): Promise<Head | null>
  forget(): void
}

/** A block of 4,000 transactions has a header of 270 kB, as it comes with their hashes. */
const LENGTH = 4_000_000
/** Headers are kept in memory until the logs have come. */
const MOST_HASHES = 100_000

export const createHeaders = (rpc: Rpc): Headers => {
  const sizer = createSizer({ first: 16, most: 100, characters: LENGTH })
  let kept: readonly Head[] = []

  const askFor = async (from: number, to: number, signal: AbortSignal): Promise<Head[]> => {
    for (;;) {
      const count = Math.min(to - from + 1, sizer.size())
      const numbers = Array.from({ length: count }, (_, index) => from + index)
      try {
        const { replies, size } = await rpc.many(numbers.map(callFor), signal)
        const heads = replies.map((reply, index) => {
          if ('error' in reply) throw reply.error
          return headOf(reply.result, from + index)
        })
        sizer.came(count, size)
        return heads
      } catch (error) {
        if (error instanceof TooLargeError || error instanceof LateError) sizer.refused(count)
        if (!(error instanceof TooLargeError) || count === 1) throw error
      }
    }
  }

  return {
    take: async (from, to, signal) => {
      kept = kept.filter(({ number }) => number >= from)
      if (kept[0] !== undefined && kept[0].number !== from) kept = []
      while (kept.length < to - from + 1) {
        const more = await askFor(from + kept.length, to, signal)
        kept = [...kept, ...more]
        if (kept.reduce((sum, { transactions }) => sum + transactions.length, 0) > MOST_HASHES)
          break
      }
      const taken = kept.slice(0, to - from + 1)
      for (const [index, head] of taken.entries()) {
        const before = taken[index - 1]
        if (before !== undefined && before.hash !== head.parentHash) throw unlinked(before, head)
      }
      return taken
    },
    at: async (block, signal) => {
      const { result } = await rpc.one(callFor(block), signal)
      return understood('the header of a block', result, parseHead)
    },
    finalAt: async (block, signal) => {
      // In one request: it is one node that answers both.
      const { replies } = await rpc.many([callFor('finalized'), callFor(block)], signal)
      const [final = null, head = null] = replies.map((reply) => {
        if ('result' in reply) {
          return understood('the header of a block', reply.result, parseHead) ?? 'none'
        }
        if (reply.error instanceof RefusedError) return null
        throw reply.error
      })
      if (head === null || head === 'none' || final === 'none') return null
      // A node that does not know the tag says nothing against it.
      return final === null || final.number >= block ? head : null
    },
    forget: () => {
      kept = []
    },
  }
}

const callFor = (block: number | string) => ({
  method: 'eth_getBlockByNumber',
  params: [typeof block === 'number' ? `0x${block.toString(16)}` : block, false],
})

const headOf = (result: unknown, number: number): Head => {
  const head = understood('the header of a block', result, parseHead)
  if (head === null) throw absent(number)
  if (head.number === number) return head
  throw new IngestError('nonsense', {
    doing: `read block ${number} from the node`,
    happened: 'it answers with another block',
    evidence: excerpt(String(head.number)),
  })
}

const absent = (number: number): IngestError =>
  new IngestError('incomplete', {
    doing: `read block ${number} from the node`,
    // In the line that is logged: this does not pass by waiting.
    happened:
      'it does not have it (where it keeps recent blocks only: --from-block, with a new --store)',
  })

export const unlinked = (before: { readonly number: number }, head: Head): IngestError =>
  new IngestError('unlinked', {
    doing: 'join blocks',
    happened: 'a block does not name the one before as its parent',
    evidence: `block ${head.number} on block ${before.number}`,
  })
