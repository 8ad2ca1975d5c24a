import { isObject } from '../../../core/json.ts'
import type { Clock } from '../../../core/clock.ts'
import { minute } from '../../../core/units.ts'
import { classifyRpcError, FatalIngestError, NodeRejectedError } from './errors.ts'
import { parseResult, quantity } from './fields.ts'
import type { Headers } from './headers.ts'
import { type FullHeader, parseHead } from './parse.ts'
import { type Call, createRpc, invalidResponse, type Reply, type Rpc } from './rpc.ts'
import { createTransport } from './transport.ts'

export interface ChainHead {
  /** The newest final block; null if there is none. */
  readonly height: number | null
  /** Its hash; null if the node did not report exactly this block as final. */
  readonly hash: string | null
  /** Why nothing is read from the node now; null if reading may continue. */
  readonly behind: string | null
  /** When it was read, on the monotonic clock. */
  readonly at: number
}

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

export type ReadChainHead = (signal: AbortSignal) => Promise<ChainHead>

export const createChainHeadReader = (options: ChainHeadOptions): ReadChainHead => {
  const { rpc, headers, clock, chainId, behindAfter, depth, notice } = options
  /** Consecutive errors about the tag, and the time of the last one. */
  let tagErrors = 0
  let tagErrorAt = 0
  let isNoticed = false

  const isOld = (head: FullHeader): boolean => behindAfter !== null && clock.now() - head.timestamp * 1000 > behindAfter

  const readHeadBy = async (tag: 'finalized' | 'latest', signal: AbortSignal): Promise<ChainHead> => {
    const { replies } = await rpc.many([CHAIN_ID, SYNCING, blockBy(tag)], signal)
    const [chain, syncing, block] = replies
    expectChain(chainId, parseResult('the chain id', resultOf(chain), parseQuantity))
    const head = parseResult('the newest block', resultOf(block), parseHead)
    const at = clock.elapsed()
    const nothing = { height: null, hash: null, at }
    const isSyncing = syncing !== undefined && 'result' in syncing && isObject(syncing.result)
    if (isSyncing) return { ...nothing, behind: 'the node is syncing' }
    if (head === null) return { ...nothing, behind: null }
    const isFinal = tag === 'finalized'
    const height = isFinal ? head.number : head.number - depth
    const newest = isFinal && isOld(head) ? await headers.at('latest', signal) : head
    const behind = newest === null || isOld(newest) ? 'the node is behind: its newest block is old' : null
    return { height: height < 0 ? null : height, hash: isFinal ? head.hash : null, behind, at }
  }

  const readHead = async (signal: AbortSignal): Promise<ChainHead> => {
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
  return readHead
}

const CHAIN_ID: Call = { method: 'eth_chainId', params: [] }
const SYNCING: Call = { method: 'eth_syncing', params: [] }
const blockBy = (tag: string): Call => ({ method: 'eth_getBlockByNumber', params: [tag, false] })

const parseQuantity = (value: unknown): number => quantity(value, 'a number')

const resultOf = (reply: Reply | undefined): unknown => {
  if (reply === undefined) throw invalidResponse('read the newest block', 'three responses', '')
  if ('error' in reply) {
    // Some nodes return an error where others return null.
    if (reply.error instanceof NodeRejectedError && /not found/i.test(reply.error.nodeMessage)) return null
    throw reply.error
  }
  return reply.result
}

const isUnknownTag = (error: unknown): boolean =>
  error instanceof NodeRejectedError && classifyRpcError(null, error.nodeMessage) === 'unknown tag'

const expectChain = (stored: number, reported: number): void => {
  if (stored === reported) return
  throw new FatalIngestError({
    doing: 'follow this node',
    happened: 'the node and the store are of different chains',
    evidence: `store: ${stored}, node: ${reported}`,
    advice: 'use a node of the chain of the store, or another store',
  })
}

interface ChainIdOptions {
  readonly rpcUrl: string
  readonly clock: Clock
  /** Timeout in milliseconds. */
  readonly timeout?: number
}

const MAX_BYTES = 65_536

/** Reads the chain id of the node. Throws an IngestError if the node does not return it. */
export const readChainId = async (
  { rpcUrl, clock, timeout = 10_000 }: ChainIdOptions,
  signal: AbortSignal,
): Promise<number> => {
  const rpc = createRpc(createTransport({ rpcUrl, clock, timeout, maxBytes: MAX_BYTES }), rpcUrl)
  const { result } = await rpc.one({ method: 'eth_chainId', params: [] }, signal)
  return parseResult('the chain id', result, parseQuantity)
}
