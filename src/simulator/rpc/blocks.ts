import { keccak_256 } from '@noble/hashes/sha3.js'
import type { Block, Chain } from '../chain/chain.ts'
import { digest } from '../chain/random.ts'
import { type TokenEvent, tokenEventsIn } from '../chain/token-events.ts'

/** A block as `eth_getBlockByNumber` returns it, with the hashes of its transactions. */
export const renderBlock = ({ seed, validators }: Chain, block: Block) => ({
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

const GAS = 84_000
const BASE_FEE = 100_000_000_000

/** The last 16 digits are the block number: a block can be found by its hash. */
const hashOf = (seed: number, block: bigint): string =>
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
