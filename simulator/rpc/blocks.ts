import { keccak_256 } from '@noble/hashes/sha3.js'
import { proposedBlocksFilter } from '../../src/parsers/staking.ts'
import { type Block, type Chain, digest } from '../chain.ts'

/** Contracts of the simulated chain. Their events depend only on the block number. */
export const TOKENS = {
  erc20: '0x70ce000000000000000000000000000000000001',
  erc721: '0x70ce000000000000000000000000000000000002',
  erc1155: '0x70ce000000000000000000000000000000000003',
} as const

interface TokenEvent {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** Keccak-256 of Transfer(address,address,uint256). */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Keccak-256 of TransferSingle(address,address,address,uint256,uint256). */
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
/** Keccak-256 of TransferBatch(address,address,address,uint256[],uint256[]). */
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'

const NONE = 0n
const FIRST = BigInt(`0x${'a1'.repeat(20)}`)
const SECOND = BigInt(`0x${'b2'.repeat(20)}`)
const COIN = 10n ** 18n

/**
 * The token events of a block, in log order. No event moves what was not minted in the same block, so a ledger that
 * starts at any block has exact balances of what was minted since.
 *
 * - Block numbers divisible by 5: ERC-20, mint 10 to FIRST, transfer 4 to SECOND, burn 1 of SECOND.
 * - Divisible by 7: ERC-721, mint ids 3n, 3n + 1 and 3n + 2 of block n to FIRST, transfer 3n + 1 to SECOND, burn 3n + 2.
 * - Divisible by 11: ERC-1155, mint 10 of id 1 and 20 of id 2 to FIRST, transfer 4 of id 1 to SECOND, burn 1 of them.
 */
const tokenEventsIn = (block: bigint): readonly TokenEvent[] => [
  ...(block % 5n === 0n ? [erc20(NONE, FIRST, 10n), erc20(FIRST, SECOND, 4n), erc20(SECOND, NONE, 1n)] : []),
  ...(block % 7n === 0n
    ? [
        erc721(NONE, FIRST, 3n * block),
        erc721(NONE, FIRST, 3n * block + 1n),
        erc721(NONE, FIRST, 3n * block + 2n),
        erc721(FIRST, SECOND, 3n * block + 1n),
        erc721(FIRST, NONE, 3n * block + 2n),
      ]
    : []),
  ...(block % 11n === 0n
    ? [
        erc1155(
          { event: TRANSFER_BATCH, from: NONE, to: FIRST },
          // Two arrays: where each begins, then the length and the elements of each.
          [64n, 160n, 2n, 1n, 2n, 2n, 10n, 20n],
        ),
        erc1155({ event: TRANSFER_SINGLE, from: FIRST, to: SECOND }, [1n, 4n]),
        erc1155({ event: TRANSFER_SINGLE, from: SECOND, to: NONE }, [1n, 1n]),
      ]
    : []),
]

const erc20 = (from: bigint, to: bigint, coins: bigint): TokenEvent => ({
  address: TOKENS.erc20,
  topics: [TRANSFER, bytes32([from]), bytes32([to])],
  data: bytes32([coins * COIN]),
})

const erc721 = (from: bigint, to: bigint, id: bigint): TokenEvent => ({
  address: TOKENS.erc721,
  topics: [TRANSFER, bytes32([from]), bytes32([to]), bytes32([id])],
  data: '0x',
})

/** The operator is always FIRST. */
const erc1155 = (
  { event, from, to }: { readonly event: string; readonly from: bigint; readonly to: bigint },
  data: readonly bigint[],
): TokenEvent => ({
  address: TOKENS.erc1155,
  topics: [event, bytes32([FIRST]), bytes32([from]), bytes32([to])],
  data: bytes32(data),
})

/** Each value as 32 bytes, one after the other. */
const bytes32 = (values: readonly bigint[]): string =>
  `0x${values.map((value) => value.toString(16).padStart(64, '0')).join('')}`

/**
 * A block as `eth_getBlockByNumber` returns it, with the hashes of its transactions. From `divergedFrom` on the state,
 * and with it the hash of each block, is another one.
 */
export const renderBlock = ({ seed }: Chain, block: Block, divergedFrom?: bigint) => ({
  number: hex(block.seqNum),
  hash: hashOf(stateSeed(seed, block.seqNum, divergedFrom), block.seqNum),
  parentHash:
    block.seqNum === 0n
      ? `0x${'0'.repeat(64)}`
      : hashOf(stateSeed(seed, block.seqNum - 1n, divergedFrom), block.seqNum - 1n),
  timestamp: hex(Math.floor(block.timeMs / 1000)),
  miner: beneficiaryOf(block.leader.publicKey),
  stateRoot: `0x${digest(stateSeed(seed, block.seqNum, divergedFrom), 'state', block.seqNum)}`,
  transactionsRoot: `0x${digest(seed, 'transactions', block.seqNum)}`,
  receiptsRoot: `0x${digest(seed, 'receipts', block.seqNum)}`,
  // Keccak-256 of an empty list: there are no uncles.
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  logsBloom: logsBloomOf(tokenEventsIn(block.seqNum)),
  extraData: `0x${'0'.repeat(64)}`,
  mixHash: `0x${digest(seed, 'randao', block.seqNum)}`,
  nonce: '0x0000000000000000',
  difficulty: '0x0',
  totalDifficulty: '0x0',
  gasLimit: hex(200_000_000),
  gasUsed: hex(block.transactions * GAS),
  baseFeePerGas: hex(BASE_FEE),
  size: hex(820 + block.transactions * 190),
  transactions: Array.from({ length: block.transactions }, (_, index) => transactionHashOf(seed, block.seqNum, index)),
  uncles: [],
})

/** The `beneficiary` in node.toml of the validator with that public key. */
export const beneficiaryOf = (publicKey: string): string => `0x${publicKey.slice(-40)}`

const stateSeed = (seed: number, block: bigint, divergedFrom: bigint | undefined): number | string =>
  divergedFrom !== undefined && block >= divergedFrom ? `${seed} diverged` : seed

/** The receipts of a block: all of its logs belong to its first transaction. */
export const renderReceipts = ({ seed }: Chain, { seqNum, transactions }: Block) =>
  Array.from({ length: transactions }, (_, index) => ({
    blockHash: hashOf(seed, seqNum),
    blockNumber: hex(seqNum),
    transactionHash: transactionHashOf(seed, seqNum, index),
    transactionIndex: hex(index),
    status: '0x1',
    type: '0x2',
    gasUsed: hex(GAS),
    cumulativeGasUsed: hex((index + 1) * GAS),
    effectiveGasPrice: hex(BASE_FEE),
    contractAddress: null,
    logsBloom: logsBloomOf(index === 0 ? tokenEventsIn(seqNum) : []),
    logs: index === 0 ? renderLogs(seed, seqNum) : [],
  }))

/** The logs of a block, in order. */
export const renderLogs = (seed: number, block: bigint) =>
  tokenEventsIn(block).map((event, logIndex) => ({
    ...event,
    blockNumber: hex(block),
    blockHash: hashOf(seed, block),
    transactionHash: transactionHashOf(seed, block, 0),
    transactionIndex: '0x0',
    logIndex: hex(logIndex),
    removed: false,
  }))

export type RenderedLog = ReturnType<typeof renderLogs>[number]

/** The log of the staking precompile with which a block rewards its leader. */
export const renderReward = (chain: Chain, number: bigint) => {
  const block = chain.block(number)
  if (!block) return []
  const id = chain.validators.indexOf(block.leader) + 1
  return [
    {
      ...proposedBlocksFilter(BigInt(id)),
      data: `0x${(18n * 10n ** 18n).toString(16).padStart(64, '0')}${block.epoch.toString(16).padStart(64, '0')}`,
      blockNumber: hex(number),
      blockHash: hashOf(chain.seed, number),
      transactionHash: `0x${digest(chain.seed, 'reward', number)}`,
      transactionIndex: '0x0',
      logIndex: '0x0',
      removed: false,
    },
  ]
}

const GAS = 84_000
const BASE_FEE = 100_000_000_000

/** The last 16 digits are the block number: a block can be found by its hash. */
const hashOf = (seed: number | string, block: bigint): string =>
  `0x${digest(seed, 'hash', block).slice(0, 48)}${block.toString(16).padStart(16, '0')}`

/** The number of the block with that hash; undefined if there is none. */
export const blockOfHash = (seed: number, hash: string): bigint | undefined => {
  if (!/^0x[0-9a-f]{64}$/.test(hash)) return undefined
  const block = BigInt(`0x${hash.slice(-16)}`)
  return hashOf(seed, block) === hash ? block : undefined
}

const transactionHashOf = (seed: number, block: bigint, index: number): string =>
  `0x${digest(seed, 'transaction', block).slice(0, 60)}${index.toString(16).padStart(4, '0')}`

export const hex = (value: number | bigint): string => `0x${value.toString(16)}`

/** The logsBloom of a block header: three bits of 2,048 for each address and topic (Ethereum yellow paper, 4.4.3). */
const logsBloomOf = (events: readonly TokenEvent[]): string => {
  const bits = Buffer.alloc(256)
  const values = new Set(events.flatMap(({ address, topics }) => [address, ...topics]))
  for (const value of values) {
    const hash = Buffer.from(keccak_256(Buffer.from(value.slice(2), 'hex')))
    for (const at of [0, 2, 4]) {
      const bit = hash.readUInt16BE(at) % 2048
      const byte = bits.length - 1 - (bit >> 3)
      bits[byte] = (bits[byte] ?? 0) | (1 << (bit & 7))
    }
  }
  return `0x${bits.toString('hex')}`
}
