import { isObject, tryJson } from '../../src/core/json.ts'
import { type Block, type Chain, FINAL_AFTER } from '../chain.ts'
import type { Precompile } from './staking.ts'
import { STAKING_ADDRESS } from '../../src/parsers/staking.ts'
import { directiveTable, set } from '../scenario/directives.ts'
import { blockOfHash, hex, renderBlock, type RenderedLog, renderLogs, renderReceipts, renderReward } from './blocks.ts'
import { widen } from '../../src/core/widen.ts'

export const usualRpc = {
  /** Since when execution computes another state than the network; undefined while it computes the same. */
  divergedMs: widen<number | undefined>(undefined),
  /** Whether the references, the other views of the chain, respond. */
  referenceAnswers: true,
  /** Whether the RPC responds, provided that its service is active. */
  rpcAnswers: true,
  /** Whether the RPC keeps reporting the height it had, whatever the node does. */
  rpcFrozen: false,
}

/** Directives for the RPC of the node and for the references: other views of the chain. */
export const rpcDirectives = directiveTable({
  'rpc frozen': ['the RPC still responds, always with its current height', set({ rpcFrozen: true })],
  'rpc fails': ['the RPC refuses connections, though its process runs', set({ rpcAnswers: false })],
  'rpc answers': ['the RPC responds again', set({ rpcAnswers: true })],
  'state diverges': [
    'execution computes another state: the hashes of its blocks differ, and consensus rejects each block of others',
    (condition, atMs) => ({ ...condition, divergedMs: atMs }),
  ],
  'state agrees': ['the state is that of the network again', set({ divergedMs: undefined })],
  'reference fails': ['the references refuse connections', set({ referenceAnswers: false })],
  'reference answers': ['the references respond again', set({ referenceAnswers: true })],
})

/** An HTTP request without the connection. */
export interface HttpRequest {
  readonly method: string
  readonly path: string
  readonly body: string
}

export interface HttpResponse {
  readonly status: number
  readonly type: string
  readonly text: string
}

interface RpcEndpointOptions {
  readonly view: View
  /** Whether `GET /height` is served too, as by a query service. */
  readonly servesHeight: boolean
}

/** The responses of a JSON-RPC endpoint. */
export const createRpcAnswer =
  ({ view, servesHeight }: RpcEndpointOptions) =>
  ({ method, path, body }: HttpRequest): HttpResponse => {
    if (servesHeight && method === 'GET' && path === '/height')
      return json(200, JSON.stringify({ height: Number(finalizedOf(view)) }))
    if (method === 'POST' && path === '/') return json(200, respond(body, view))
    return json(path === '/' ? 405 : 404, '')
  }

const json = (status: number, text: string): HttpResponse => ({ status, type: 'application/json', text })

/** The response body for a request body: one call or a batch, always JSON-RPC 2.0. */
const respond = (body: string, view: View): string => {
  const calls = tryJson(body)
  return JSON.stringify(
    Array.isArray(calls) ? calls.map((call: unknown) => respondToCall(call, view)) : respondToCall(calls, view),
  )
}

const respondToCall = (call: unknown, view: View): unknown => {
  // The node reports a parse error for a call without an id.
  if (!isObject(call) || !isId(call['id'])) return PARSE_ERROR
  const { id, method, params } = call
  const reply =
    typeof method === 'string'
      ? answerRpc(view, method, Array.isArray(params) ? params : [])
      : { error: { code: -32601, message: 'Invalid request' } }
  return { jsonrpc: '2.0', ...reply, id }
}

const isId = (id: unknown): boolean =>
  id === null || typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id))

const PARSE_ERROR = { jsonrpc: '2.0', error: { code: -32601, message: 'Parse error' }, id: null } as const

/** The chain as one RPC endpoint reports it. */
interface View {
  readonly chain: Chain
  /** `Name/version`. */
  clientVersion(): string
  /** The newest proposed block. */
  latest(): bigint
  /** Without it the block that is final while the chain advances. */
  finalized?(): bigint
  /** The first block with another state than that of the network; undefined if there is none. */
  divergedFrom?(): bigint | undefined
  /** Without it the chain has no staking precompile. */
  readonly staking?: Precompile
}

const finalizedOf = ({ latest, finalized }: Pick<View, 'latest' | 'finalized'>): bigint =>
  finalized?.() ?? latest() - FINAL_AFTER

/** Arbitrary; the node and its references must agree. */
export const CHAIN_ID = 31_143

type Reply = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } }

/** The response to one method. Like the node, it uses one error code for many errors. */
const answerRpc = (view: View, method: string, params: readonly unknown[]): Reply => {
  const row = METHODS[method]
  return row ? row(view, params) : { error: { code: -32601, message: 'Method not found' } }
}

const METHODS: Readonly<Record<string, (view: View, params: readonly unknown[]) => Reply>> = {
  eth_blockNumber: (view) => ({ result: hex(view.latest()) }),
  eth_chainId: () => ({ result: hex(CHAIN_ID) }),
  net_version: () => ({ result: String(CHAIN_ID) }),
  web3_clientVersion: ({ clientVersion }) => ({ result: clientVersion() }),
  eth_syncing: () => ({ result: false }),
  eth_getBlockByNumber: (view, [tag]) =>
    atBlock(view, tag, (chain, block) => renderBlock(chain, block, view.divergedFrom?.())),
  eth_getBlockReceipts: (view, [tag]) => atBlock(view, tag, renderReceipts),
  eth_call: (view, [call, tag]) => callContract(view, call, tag),
  eth_getBalance: (view, [address, tag]) =>
    withState(view, tag, (block) => ({
      result: hex(typeof address === 'string' ? (view.staking?.balanceOf(address, block) ?? 0n) : 0n),
    })),
  eth_getStorageAt: (view, [address, slot, tag]) =>
    withState(view, tag, () => {
      const isStaking = view.staking && address === STAKING_ADDRESS && typeof slot === 'string'
      return { result: `0x${isStaking ? view.staking.storageAt(slot) : '0'.repeat(64)}` }
    }),
  eth_getLogs: (view, [filter]) => (isObject(filter) ? getLogs(view, filter) : INVALID_PARAMS),
}

/** An address without code returns no bytes. */
const callContract = (view: View, call: unknown, tag: unknown): Reply =>
  withState(view, tag, (block) => {
    const { to, data } = isObject(call) ? call : {}
    if (!view.staking || to !== STAKING_ADDRESS || typeof data !== 'string') return { result: '0x' }
    const result = view.staking.call(data, block)
    return 'bytes' in result
      ? { result: `0x${result.bytes}` }
      : { error: { code: 3, message: `execution reverted: ${result.revert}` } }
  })

/** Answers from the state of a block that the endpoint has. */
const withState = (view: View, tag: unknown, answer: (block: bigint) => Reply): Reply => {
  const head = view.latest()
  const number = numberOf(tag, view)
  if (number === undefined) return INVALID_PARAMS
  return number > head ? rpcError('Block requested not found.') : answer(number)
}

/** Renders the block; null if the endpoint does not have it. */
const atBlock = (view: View, tag: unknown, render: (chain: Chain, block: Block) => unknown): Reply => {
  const number = numberOf(tag, view)
  if (number === undefined) return INVALID_PARAMS
  const block = number > view.latest() ? undefined : view.chain.block(number)
  return { result: block ? render(view.chain, block) : null }
}

const numberOf = (tag: unknown, view: Pick<View, 'latest' | 'finalized'>): bigint | undefined => {
  if (typeof tag !== 'string') return undefined
  if (/^0x(?:0|[1-9a-f][0-9a-f]{0,15})$/i.test(tag)) return BigInt(tag)
  const latest = view.latest()
  return { latest, pending: latest, safe: latest - 1n, finalized: finalizedOf(view), earliest: 0n }[tag]
}

/** The node's default: `toBlock` may be at most this many blocks after `fromBlock`. */
const MAX_RANGE = 1000n

type JsonObject = Readonly<Record<string, unknown>>

const getLogs = (view: View, filter: JsonObject): Reply => {
  const { chain } = view
  const matches = readMatch(filter)
  const [from, to] = readRange(view, filter)
  if (!matches || from === undefined || to === undefined) return INVALID_PARAMS
  if (from > to) return rpcError('invalid block range')
  if (to - from > MAX_RANGE) return rpcError('block range too large')
  const head = view.latest()
  const logs: unknown[] = []
  for (let block = from; block <= (to < head ? to : head); block += 1n) {
    // Only for a filter of its address: the receipts of a block are those of token events.
    const rendered = filter['address'] === STAKING_ADDRESS ? renderReward(chain, block) : renderLogs(chain.seed, block)
    logs.push(...rendered.filter(matches))
  }
  return { result: logs }
}

const rpcError = (message: string): Reply => ({ error: { code: -32602, message } })
const INVALID_PARAMS = rpcError('Invalid params')

const readRange = (view: View, { blockHash, fromBlock = 'latest', toBlock = 'latest' }: JsonObject) => {
  if (blockHash === undefined) return [numberOf(fromBlock, view), numberOf(toBlock, view)]
  const block = typeof blockHash === 'string' ? blockOfHash(view.chain.seed, blockHash) : undefined
  return [block, block]
}

type Matches = (log: Pick<RenderedLog, 'address' | 'topics'>) => boolean

/** Undefined if the filter is invalid. */
const readMatch = ({ address, topics = [] }: JsonObject): Matches | undefined => {
  const addresses = readValues(address)
  if (!addresses || !Array.isArray(topics) || topics.length > 4) return undefined
  const positions = topics.map(readValues)
  if (positions.includes(undefined)) return undefined
  return (log) =>
    isAmong(addresses, log.address) && positions.every((values = [], index) => isAmong(values, log.topics[index]))
}

/** An empty list matches any value. */
const isAmong = (values: readonly string[], value: string | undefined): boolean =>
  values.length === 0 || (value !== undefined && values.includes(value))

const readValues = (given: unknown): readonly string[] | undefined => {
  if (given === undefined || given === null) return []
  const values: readonly unknown[] = Array.isArray(given) ? given : [given]
  const texts = values.filter((value) => typeof value === 'string')
  return texts.length === values.length ? texts.map((text) => text.toLowerCase()) : undefined
}
