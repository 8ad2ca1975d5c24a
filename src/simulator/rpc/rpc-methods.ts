import { type Chain, FINAL_AFTER } from '../chain/chain.ts'
import type { Block } from '../chain/happening.ts'
import { hex, renderBlock, renderReceipts } from './block.ts'
import { getLogs } from './get-logs.ts'

/** The chain as one RPC endpoint shows it now. */
export interface View {
  readonly chain: Chain
  /** `Name/version`. */
  clientVersion(): string
  /** The newest proposed block that it tells of. */
  latest(): bigint
}

/** Any number will do, as long as node and references agree on it. */
export const CHAIN_ID = 31_143

export type Reply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }

/** The answer to one method, in the manner of the node: errors of many kinds carry one code. */
export const answer = (view: View, method: string, params: readonly unknown[]): Reply => {
  const row = METHODS[method]
  return row ? row(view, params) : { error: { code: -32601, message: 'Method not found' } }
}

const METHODS: Readonly<Record<string, (view: View, params: readonly unknown[]) => Reply>> = {
  eth_blockNumber: (view) => ({ result: hex(view.latest()) }),
  eth_chainId: () => ({ result: hex(CHAIN_ID) }),
  net_version: () => ({ result: String(CHAIN_ID) }),
  web3_clientVersion: ({ clientVersion }) => ({ result: clientVersion() }),
  eth_syncing: () => ({ result: false }),
  eth_getBlockByNumber: (view, [tag]) => atBlock(view, tag, renderBlock),
  eth_getBlockReceipts: (view, [tag]) => atBlock(view, tag, renderReceipts),
  eth_getLogs: (view, [filter]) => getLogs(view, filter, (tag) => numberOf(tag, view.latest())),
}

/** What is rendered of that block; null where the endpoint does not have it. */
const atBlock = (
  { chain, latest }: View,
  tag: unknown,
  render: (chain: Chain, block: Block) => unknown,
): Reply => {
  const head = latest()
  const number = numberOf(tag, head)
  if (number === undefined) return { error: { code: -32602, message: 'Invalid params' } }
  const block = number > head ? undefined : chain.block(number)
  return { result: block ? render(chain, block) : null }
}

const numberOf = (tag: unknown, latest: bigint): bigint | undefined => {
  if (typeof tag !== 'string') return undefined
  if (/^0x(?:0|[1-9a-f][0-9a-f]{0,15})$/i.test(tag)) return BigInt(tag)
  return {
    latest,
    pending: latest,
    safe: latest - 1n,
    finalized: latest - FINAL_AFTER,
    earliest: 0n,
  }[tag]
}
