import { type Clock } from '../../../core/clock.ts'
import { minute } from '../../../core/units.ts'
import { IngestEnded, RefusedError } from './errors.ts'
import { isRecord, quantity } from './fields.ts'
import { type Headers } from './headers.ts'
import { type Head, parseHead } from './parse.ts'
import { type Call, nonsense, type Reply, type Rpc } from './rpc.ts'
import { refusalOf } from './refusal.ts'
import { understood } from './understood.ts'

export interface Tip {
  /** The newest final block; null while there is none. */
  readonly height: number | null
  /** Its hash; null where it is not known that the node takes this very block for final. */
  readonly hash: string | null
  /** Why the node is to be left alone for now; null where it is not. */
  readonly behind: string | null
  /** When it was asked, by the clock that never goes back. */
  readonly at: number
}

interface TipOptions {
  readonly rpc: Rpc
  readonly headers: Headers
  readonly clock: Clock
  readonly chainId: number
  /** In milliseconds; null: however old. */
  readonly behindAfter: number | null
  /** How far behind the newest block one is taken for final where the node does not know the tag. */
  readonly depth: number
  readonly notice: (line: string) => void
}

/** Once may be a fault that passes, and what is not final must not be taken for it. */
const REFUSALS = 3
/** A node that did not know the tag is asked for it again: it may be another version by now. */
const ASKED_AGAIN = 10 * minute

export type AskTip = (signal: AbortSignal) => Promise<Tip>

export const createTip = (options: TipOptions): AskTip => {
  const { rpc, headers, clock, chainId, behindAfter, depth, notice } = options
  /** How often in a row the tag was not known, and when last. */
  let refusals = 0
  let refusedAt = 0
  let isNoticed = false

  const isOld = (head: Head): boolean =>
    behindAfter !== null && clock.now() - head.timestamp * 1000 > behindAfter

  const askFor = async (tag: 'finalized' | 'latest', signal: AbortSignal): Promise<Tip> => {
    const { replies } = await rpc.many([CHAIN_ID, SYNCING, blockBy(tag)], signal)
    const [chain, syncing, block] = replies
    mustBe(chainId, understood('the chain id', resultOf(chain), asQuantity))
    const head = understood('the newest block', resultOf(block), parseHead)
    const at = clock.elapsed()
    const nothing = { height: null, hash: null, at }
    const isSyncing = syncing !== undefined && 'result' in syncing && isRecord(syncing.result)
    if (isSyncing) return { ...nothing, behind: 'the node is syncing' }
    if (head === null) return { ...nothing, behind: null }
    const isFinal = tag === 'finalized'
    const height = isFinal ? head.number : head.number - depth
    const newest = isFinal && isOld(head) ? await headers.at('latest', signal) : head
    const behind =
      newest === null || isOld(newest) ? 'the node is behind: its newest block is old' : null
    return { height: height < 0 ? null : height, hash: isFinal ? head.hash : null, behind, at }
  }

  const ask = async (signal: AbortSignal): Promise<Tip> => {
    const isUnknown = refusals >= REFUSALS
    if (isUnknown && clock.elapsed() - refusedAt < ASKED_AGAIN)
      return await askFor('latest', signal)
    try {
      const tip = await askFor('finalized', signal)
      refusals = 0
      return tip
    } catch (error) {
      if (!isUnknownTag(error)) throw error
      refusals += 1
      refusedAt = clock.elapsed()
      if (refusals < REFUSALS) throw error
    }
    if (!isNoticed) {
      notice(
        `the node does not know the tag "finalized": what lies ${depth} blocks behind its newest is taken for final`,
      )
    }
    isNoticed = true
    return await askFor('latest', signal)
  }
  return ask
}

const CHAIN_ID: Call = { method: 'eth_chainId', params: [] }
const SYNCING: Call = { method: 'eth_syncing', params: [] }
const blockBy = (tag: string): Call => ({ method: 'eth_getBlockByNumber', params: [tag, false] })

export const asQuantity = (value: unknown): number => quantity(value, 'a number')

const resultOf = (reply: Reply | undefined): unknown => {
  if (reply === undefined) throw nonsense('ask for the newest block', 'three answers', '')
  if ('error' in reply) {
    // Some say with an error what others say with null.
    if (reply.error instanceof RefusedError && /not found/i.test(reply.error.words)) return null
    throw reply.error
  }
  return reply.result
}

const isUnknownTag = (error: unknown): boolean =>
  error instanceof RefusedError && refusalOf(null, error.words) === 'unknown tag'

const mustBe = (held: number, told: number): void => {
  if (held === told) return
  throw new IngestEnded({
    doing: 'go on with this node',
    happened: 'it is of another chain than what is held',
    evidence: `held: ${held}, the node: ${told}`,
    advice: 'give the address of a node of that chain, or another store',
  })
}
