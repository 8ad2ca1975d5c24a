import type { RpcEndpoint, QueryEndpoint } from '../../sources/endpoints.ts'
import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import type { Context } from '../../core/clock.ts'
import { sample, sampleIfKnown } from '../../core/metric.ts'
import { smaller } from '../../core/units.ts'
import { type Block, parseHeight, parseRpcBlock, parseRpcHeader, parseRpcQuantity } from '../../parsers/rpc.ts'
import { compareWithQuorum, type Agreement, AGREEMENT_WINDOW } from '../../domain/agreement.ts'
import { type Reply, request, failureState, requestTimeout, valueOf } from '../shared/request.ts'
import type { Uses } from '../dependencies.ts'
import { definition } from './definition.ts'

/** An RPC endpoint is compared on `latest`, a query service on `finalized`, the height up to which it indexes. */
type Reference = { readonly name: string } & (
  | { readonly kind: 'rpc'; readonly source: RpcEndpoint }
  | { readonly kind: 'query'; readonly source: QueryEndpoint }
)

interface ReferenceResult {
  readonly name: string
  readonly up: boolean
  /** Null if the request failed, or the reference is of another chain. */
  readonly blockNumber: bigint | null
  /** `answering`, `another chain`, or the reason of the failure. */
  readonly state: string
  /** With the block of the node; null if unknown, and for a query service, which has no block headers. */
  readonly comparison: BlockComparison | null
}

/** A reference before its block is compared. */
interface ReferenceHeight extends Omit<ReferenceResult, 'comparison'> {
  /** Its endpoint, if its chain id is known to be that of the node: its blocks are compared. */
  readonly source: RpcEndpoint | null
}

export type ReferenceReading = Agreement & { readonly references: readonly ReferenceResult[] }

type ReferenceUses = Uses<'references' | 'rpcUrl' | 'isRpcOfNode' | 'rpcAt' | 'queryAt'>

/** References for the height of the chain, and how far the node is behind the height that they agree on. */
export const reference = (uses: ReferenceUses): Collector<ReferenceReading> => {
  const { rpcAt, queryAt, timing } = uses
  // Of a watcher the heights are not those of the node, and are not compared.
  const isOfNode = uses.isRpcOfNode
  // The heights, then the blocks.
  const timeout = requestTimeout(timing, 2)
  const node = rpcAt(uses.rpcUrl, timeout)
  const references = uses.references.map(({ name, url, kind, apiKeyFile }): Reference =>
    kind === 'rpc'
      ? { name, kind, source: rpcAt(url, timeout) }
      : { name, kind, source: queryAt({ url, apiKeyFile }, timeout) },
  )
  const height = (source: RpcEndpoint, signal: AbortSignal): Promise<Reply<bigint>> =>
    request(source.call('eth_blockNumber', [], signal), parseRpcQuantity)
  const chainId = (source: RpcEndpoint, signal: AbortSignal): Promise<Reply<bigint>> =>
    request(source.call('eth_chainId', [], signal), parseRpcQuantity)

  /** A node does not change its chain: the chain id is kept while the node is down. */
  let knownChain: bigint | undefined

  const readReference = async (
    { name, kind, source }: Reference,
    { signal, ownChain }: { readonly signal: AbortSignal; readonly ownChain: Promise<Reply<bigint>> },
  ): Promise<ReferenceHeight> => {
    if (kind === 'query') return { ...resultOf(name, await request(source.height(signal), parseHeight)), source: null }
    const [reply, chain, own] = await Promise.all([height(source, signal), chainId(source, signal), ownChain])
    if (own.ok) knownChain = own.value
    if (chain.ok && knownChain !== undefined && chain.value !== knownChain) {
      return { name, up: false, blockNumber: null, state: 'another chain', source: null }
    }
    return { ...resultOf(name, reply), source: chain.ok && knownChain !== undefined ? source : null }
  }

  const read = async ({ signal }: Context): Promise<ReferenceReading> => {
    const ownChain = chainId(node, signal)
    // All at the same time, because their heights are compared.
    const [latest, finalized, ...all] = await Promise.all([
      isOfNode ? height(node, signal) : null,
      isOfNode ? finalizedOf(node, signal) : null,
      ...references.map((one) => readReference(one, { signal, ownChain })),
    ])
    const own = { rpc: valueOf(latest), query: valueOf(finalized)?.number ?? null }
    const views = all.flatMap(({ blockNumber }, at) => {
      const kind = references[at]?.kind
      return blockNumber === null || kind === undefined ? [] : [{ height: blockNumber, own: own[kind] }]
    })
    const newest = own.query === null ? null : { source: node, finalized: own.query }
    const comparisons = newest && (await compareBlocks(newest, all, signal))
    return {
      references: all.map(({ source: _source, ...one }) => ({
        ...one,
        comparison: comparisons?.get(one.name) ?? null,
      })),
      ...compareWithQuorum(views, { configured: references.length, window: AGREEMENT_WINDOW }),
    }
  }

  return {
    ...metadataOf(definition, timing),
    run: poll(timing, read),
    samples: ({ references: all, agreeing, difference }) => [
      ...all.flatMap(({ name, up, blockNumber, comparison }) => [
        sample('chain_reference_up', up, { reference: name }),
        ...sampleIfKnown('chain_reference_block_number', blockNumber, { reference: name }),
        ...sampleIfKnown('chain_reference_hash_matches', comparison?.matches, { reference: name }),
      ]),
      sample('chain_reference_agreeing', agreeing),
      ...sampleIfKnown('chain_block_difference', difference),
    ],
    states: ({ references: all }) =>
      Object.fromEntries(
        all.flatMap(({ name, state, comparison }): readonly (readonly [string, string])[] => [
          [`reference ${name}`, state],
          ...(comparison ? [[`block of ${name}`, comparison.matches ? SAME_BLOCK : OTHER_BLOCK] as const] : []),
        ]),
      ),
  }
}

const SAME_BLOCK = 'the same as that of the node'
const OTHER_BLOCK = 'another hash or state root than that of the node'

/** The block of a reference and the block of the node, at one height. */
interface BlockComparison {
  readonly height: bigint
  /** Whether hash and state root are the same. */
  readonly matches: boolean
  /** Whether the hash of the parent is the same: the comparison at the height before. */
  readonly parentMatches: boolean
}

/** A block with this number of blocks on top is finalized: on the chains of such nodes two are enough. */
const FINAL_DEPTH = 10n

/**
 * Compares the blocks of the node with those of the references, at the newest height that all have finalized; by name,
 * without those that do not answer or are too far behind. One request to each.
 *
 * The RPC of the node (category-labs/monad-bft, monad-rpc/src/data/mod.rs, `get_block` and `parse_block_content`)
 * returns the header that execution of this host stored for that block, and the Keccak-256 of it: the state root is
 * that of the block itself, not the delayed one in the header of consensus. The header contains the hash of its parent
 * (category-labs/monad, category/execution/runloop/runloop_monad.cpp, `propose_block`), so that after one wrong block
 * each later hash differs, too.
 */
const compareBlocks = async (
  node: { readonly source: RpcEndpoint; readonly finalized: bigint },
  references: readonly ReferenceHeight[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, BlockComparison>> => {
  const { finalized } = node
  const compared = references.flatMap(({ name, blockNumber: latest, source }) =>
    source === null || latest === null || latest + AGREEMENT_WINDOW < finalized ? [] : [{ name, latest, source }],
  )
  const height = compared.reduce((least, { latest }) => smaller(least, latest - FINAL_DEPTH), finalized)
  if (compared.length === 0 || height < 0n) return new Map()
  const headerOf = async (source: RpcEndpoint) => {
    const reply = await request(
      source.call('eth_getBlockByNumber', [`0x${height.toString(16)}`, false], signal),
      parseRpcHeader,
    )
    return reply.ok && reply.value?.number === height ? reply.value : null
  }
  const [own, ...others] = await Promise.all([headerOf(node.source), ...compared.map(({ source }) => headerOf(source))])
  if (!own) return new Map()
  return new Map(
    others.flatMap((other, at) => {
      const name = compared[at]?.name
      if (!other || name === undefined) return []
      const isRootKnown = typeof own.stateRoot === 'string' && typeof other.stateRoot === 'string'
      const matches = own.hash === other.hash && (!isRootKnown || own.stateRoot === other.stateRoot)
      return [[name, { height, matches, parentMatches: own.parentHash === other.parentHash }] as const]
    }),
  )
}

const resultOf = (name: string, reply: Reply<bigint>): Omit<ReferenceHeight, 'source'> =>
  reply.ok
    ? { name, up: true, blockNumber: reply.value, state: 'answering' }
    : { name, up: false, blockNumber: null, state: failureState(reply) }

const finalizedOf = (node: RpcEndpoint, signal: AbortSignal): Promise<Reply<Block | null>> =>
  request(node.call('eth_getBlockByNumber', ['finalized', false], signal), parseRpcBlock)
