import type { Clock } from '../../../src/core/clock.ts'
import { excerpt } from '../../../src/core/errors.ts'
import { minute } from '../../../src/core/units.ts'
import { FatalIngestError, IngestError, NodeRejectedError, NodeTimeoutError, TooLargeError } from './errors.ts'
import { type FullHeader, parseHead, parseResult, quantity } from './parse.ts'
import {
  type Call,
  classifyRpcError,
  createBatchSizer,
  createRpc,
  invalidResponse,
  type Reply,
  type Rpc,
  type RpcOptions,
} from './rpc.ts'

/** The header of a block with 4,000 transactions has 270 kB, since it lists their hashes. */
const RESPONSE_CHARACTERS = 4_000_000
/** Headers stay in memory until their logs have been read. */
const MOST_HASHES = 100_000

export type Headers = ReturnType<typeof createHeaders>

/** Reads headers of final blocks, and caches them until they have been used. */
export const createHeaders = (rpc: Rpc) => {
  const sizer = createBatchSizer({ first: 16, most: 100, characters: RESPONSE_CHARACTERS })
  let cached: readonly FullHeader[] = []

  /** The headers before the first block that the node does not have. */
  const request = async (from: number, to: number, signal: AbortSignal): Promise<FullHeader[]> => {
    for (;;) {
      const count = Math.min(to - from + 1, sizer.size())
      const numbers = Array.from({ length: count }, (_, index) => from + index)
      try {
        const { replies, size } = await rpc.many(numbers.map(callFor), signal)
        const missing = replies.findIndex((reply) => 'result' in reply && reply.result === null)
        const heads = replies.slice(0, missing === -1 ? count : missing).map((reply, index) => {
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
    /** The first headers of `from` to `to`: at least one, linked by parent hash. */
    take: async (from: number, to: number, signal: AbortSignal): Promise<readonly FullHeader[]> => {
      cached = cached.filter(({ number }) => number >= from)
      if (cached[0] !== undefined && cached[0].number !== from) cached = []
      while (cached.length < to - from + 1) {
        const more = await request(from + cached.length, to, signal)
        // The blocks before a missing one are read first.
        if (more.length === 0 && cached.length > 0) break
        if (more.length === 0) throw missingBlock(from)
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
    /** Null if the node does not have the block. */
    at: async (block: number | string, signal: AbortSignal): Promise<FullHeader | null> => {
      const { result } = await rpc.one(callFor(block), signal)
      return parseResult('the header of a block', result, parseHead)
    },
    /** Null if the node does not have the block, or reports that it is not final. */
    finalAt: async (block: number, signal: AbortSignal): Promise<FullHeader | null> => {
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
    clear: (): void => {
      cached = []
    },
  }
}

const callFor = (block: number | string): Call => ({
  method: 'eth_getBlockByNumber',
  params: [typeof block === 'number' ? `0x${block.toString(16)}` : block, false],
})

const headOf = (result: unknown, number: number): FullHeader => {
  const head = parseResult('the header of a block', result, parseHead)
  if (head?.number === number) return head
  if (head === null) throw missingBlock(number)
  throw new IngestError('invalid', {
    doing: `read block ${number} from the node`,
    happened: 'the node returned another block',
    evidence: excerpt(String(head.number)),
  })
}

const missingBlock = (number: number): IngestError =>
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

export type ChainHead = Awaited<ReturnType<ReturnType<typeof createChainHeadReader>>>

interface ChainHeadOptions {
  readonly rpc: Rpc
  readonly headers: Headers
  readonly clock: Clock
  readonly chainId: number
  /** In milliseconds; null: no limit. */
  readonly behindAfter: number | null
  /** Distance behind the newest block at which blocks count as final if the node does not support the tag. */
  readonly depth: number
  readonly notice: (line: string) => void
}

/** A single error may be transient, and a block that is not final must not count as final. */
const TAG_ERRORS = 3
/** The tag is tried again after this time: the node may have been upgraded. */
const TAG_RETRY_AFTER = 10 * minute

export const createChainHeadReader = (options: ChainHeadOptions) => {
  const { rpc, headers, clock, chainId, behindAfter, depth, notice } = options
  /** Consecutive errors about the tag, and the time of the last one. */
  let tagErrors = 0
  let tagErrorAt = 0
  let isNoticed = false

  /** The node returns false for eth_syncing also while it runs statesync: only the age of a block shows it. */
  const isOld = (head: FullHeader): boolean => behindAfter !== null && clock.now() - head.timestamp * 1000 > behindAfter

  const readHeadBy = async (tag: 'finalized' | 'latest', signal: AbortSignal) => {
    const { replies } = await rpc.many([CHAIN_ID, callFor(tag)], signal)
    const [chain, block] = replies
    expectChain(chainId, parseResult('the chain id', resultOf(chain), parseQuantity))
    const head = parseResult('the newest block', resultOf(block), parseHead)
    const at = clock.elapsed()
    if (head === null) return { height: null, hash: null, behind: null, at }
    const isFinal = tag === 'finalized'
    const height = isFinal ? head.number : head.number - depth
    const newest = isFinal && isOld(head) ? await headers.at('latest', signal) : head
    const behind = newest === null || isOld(newest) ? 'the node is behind: its newest block is old' : null
    return {
      /** The newest final block; null if there is none. */
      height: height < 0 ? null : height,
      /** Its hash; null if the node did not report exactly this block as final. */
      hash: isFinal ? head.hash : null,
      /** Why nothing is read from the node now; null if reading may continue. */
      behind,
      /** When it was read, on the monotonic clock. */
      at,
    }
  }

  return async (signal: AbortSignal) => {
    const isUnknown = tagErrors >= TAG_ERRORS
    if (isUnknown && clock.elapsed() - tagErrorAt < TAG_RETRY_AFTER) return await readHeadBy('latest', signal)
    try {
      const chainHead = await readHeadBy('finalized', signal)
      tagErrors = 0
      return chainHead
    } catch (error) {
      if (!isUnknownTag(error)) throw error
      tagErrors += 1
      tagErrorAt = clock.elapsed()
      if (tagErrors < TAG_ERRORS) throw error
    }
    if (!isNoticed) {
      notice(
        `the node does not support the tag "finalized": blocks that are ${depth} behind its newest block count as final`,
      )
    }
    isNoticed = true
    return await readHeadBy('latest', signal)
  }
}

const CHAIN_ID: Call = { method: 'eth_chainId', params: [] }

const parseQuantity = (value: unknown): number => quantity(value, 'a number')

const resultOf = (reply: Reply | undefined): unknown => {
  if (reply === undefined) throw invalidResponse('read the newest block', 'two responses', '')
  if ('error' in reply) {
    // Some nodes return an error where others return null.
    if (reply.error instanceof NodeRejectedError && /not found/i.test(reply.error.nodeMessage)) return null
    throw reply.error
  }
  return reply.result
}

const isUnknownTag = (error: unknown): boolean =>
  error instanceof NodeRejectedError && classifyRpcError(null, error.nodeMessage) === 'unknown tag'

export const expectChain = (stored: number, reported: number): void => {
  if (stored === reported) return
  throw new FatalIngestError({
    doing: 'follow this node',
    happened: 'the node and the store are of different chains',
    evidence: `store: ${stored}, node: ${reported}`,
    advice: 'use a node of the chain of the store, or another store',
  })
}

/** Reads the chain id of the node. Throws an IngestError if the node does not return it. */
export const readChainId = async (
  { timeout = 10_000, ...options }: Omit<RpcOptions, 'timeout'> & Partial<RpcOptions>,
  signal: AbortSignal,
): Promise<number> => {
  const { result } = await createRpc({ ...options, timeout }).one(CHAIN_ID, signal)
  return parseResult('the chain id', result, parseQuantity)
}
