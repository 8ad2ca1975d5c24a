import { AGREEMENT_WINDOW } from '../../domain/agreement.ts'
import { parseRpcHeader } from '../../parsers/rpc.ts'
import type { RpcEndpoint } from '../../sources/endpoints.ts'
import { request } from '../shared/request.ts'

/** The block of a reference and the block of the node, at one height. */
export interface BlockComparison {
  readonly height: bigint
  /** Whether hash and state root are the same. */
  readonly matches: boolean
  /** Whether the hash of the parent is the same: the comparison at the height before. */
  readonly parentMatches: boolean
}

export interface ComparedReference {
  readonly name: string
  /** Its newest block. */
  readonly latest: bigint
  readonly source: RpcEndpoint
}

interface ComparedNode {
  readonly node: RpcEndpoint
  /** The newest block that the node has finalized; null if unknown. */
  readonly finalized: bigint | null
  readonly references: readonly ComparedReference[]
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
export const compareBlocks = async (
  { node, finalized, references }: ComparedNode,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, BlockComparison>> => {
  const compared = references.filter(({ latest }) => finalized !== null && latest + AGREEMENT_WINDOW >= finalized)
  const height = [finalized, ...compared.map(({ latest }) => latest - FINAL_DEPTH)].reduce(lower)
  if (compared.length === 0 || height === null || height < 0n) return new Map()
  const headerOf = async (source: RpcEndpoint) => {
    const reply = await request(
      source.call('eth_getBlockByNumber', [`0x${height.toString(16)}`, false], signal),
      parseRpcHeader,
    )
    return reply.ok && reply.value?.number === height ? reply.value : null
  }
  const [own, ...others] = await Promise.all([headerOf(node), ...compared.map(({ source }) => headerOf(source))])
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

const lower = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a < b ? a : b)
