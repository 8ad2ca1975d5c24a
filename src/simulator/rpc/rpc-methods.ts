import { type Chain, FINAL_AFTER } from '../chain/chain.ts'
import type { Block } from '../chain/happening.ts'
import { digest } from '../chain/random.ts'

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
  eth_getBlockByNumber: (view, [tag]) => {
    const latest = view.latest()
    const number = typeof tag === 'string' ? numberOf(tag, latest) : undefined
    if (number === undefined) return { error: { code: -32602, message: 'Invalid params' } }
    const block = number > latest ? undefined : view.chain.block(number)
    return { result: block ? renderBlock(view.chain, block) : null }
  },
}

const numberOf = (tag: string, latest: bigint): bigint | undefined => {
  if (/^0x(?:0|[1-9a-f][0-9a-f]{0,15})$/i.test(tag)) return BigInt(tag)
  return {
    latest,
    pending: latest,
    safe: latest - 1n,
    finalized: latest - FINAL_AFTER,
    earliest: 0n,
  }[tag]
}

const renderBlock = ({ seed, validators }: Chain, block: Block) => ({
  number: hex(block.seqNum),
  hash: hashOf(seed, block.seqNum),
  parentHash: block.seqNum === 0n ? `0x${'0'.repeat(64)}` : hashOf(seed, block.seqNum - 1n),
  timestamp: hex(Math.floor(block.timeMs / 1000)),
  miner: `0x${digest(seed, 'beneficiary', validators.indexOf(block.leader)).slice(0, 40)}`,
  stateRoot: `0x${digest(seed, 'state', block.seqNum)}`,
  transactionsRoot: `0x${digest(seed, 'transactions', block.seqNum)}`,
  receiptsRoot: `0x${digest(seed, 'receipts', block.seqNum)}`,
  // Keccak-256 of an empty list: there are no uncles.
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  logsBloom: `0x${'0'.repeat(512)}`,
  extraData: `0x${'0'.repeat(64)}`,
  mixHash: `0x${digest(seed, 'randao', block.seqNum)}`,
  nonce: '0x0000000000000000',
  difficulty: '0x0',
  totalDifficulty: '0x0',
  gasLimit: hex(200_000_000),
  gasUsed: hex(block.transactions * 84_000),
  baseFeePerGas: hex(100_000_000_000),
  size: hex(820 + block.transactions * 190),
  transactions: [],
  uncles: [],
})

const hashOf = (seed: number, number: bigint): string => `0x${digest(seed, 'hash', number)}`

const hex = (value: number | bigint): string => `0x${value.toString(16)}`
