import { keccak_256 } from '@noble/hashes/sha3.js'
import { type Block, type StoredLog } from '../../src/query/store/store.ts'

/** A log as JSON-RPC tells it. */
export interface RpcLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly transactionHash: string
  readonly transactionIndex: string
  readonly logIndex: string
  readonly removed: boolean
}

export interface RpcChainOptions {
  readonly height?: number
  /** How many logs a block has; by default 0, 1, 2, 3 and again. */
  readonly logsIn?: (block: number) => number
  /** Seconds since the epoch; by default one a block, and later than what the clocks of tests show. */
  readonly timeOf?: (block: number) => number
}

/** Two logs a transaction, and one transaction without; three contracts, and as many kinds of events. */
const LOGS_IN_TRANSACTION = 2
const KINDS = 3

/** A chain whose every block can be told from its number, in the words of JSON-RPC and in ours. */
export const createRpcChain = (options: RpcChainOptions = {}) => {
  const { logsIn = (block) => block % 4, timeOf = (block) => 1_700_100_000 + block } = options
  let height = options.height ?? 10
  /** From which block on which fork holds, newest last. */
  const forks: number[] = []
  const hash = (block: number): string =>
    block < 0 ? word('00', 0) : word(`b${forks.filter((from) => from <= block).length}`, block)
  const transaction = (block: number, at: number): string => word('cc', block * 100_000 + at)
  const logs = (block: number): readonly StoredLog[] =>
    Array.from({ length: logsIn(block) }, (_, logIndex) => {
      const transactionIndex = Math.floor(logIndex / LOGS_IN_TRANSACTION)
      const kind = (block + logIndex) % KINDS
      return {
        logIndex,
        transactionIndex,
        transactionHash: transaction(block, transactionIndex),
        address: contract(kind),
        // Of the third kind with all four topics, of the second without any.
        topics:
          kind === 1
            ? []
            : [topic(kind), word('01', block), ...(kind === 2 ? [topic(7), topic(8)] : [])],
        data: kind === 0 ? '0x' : word('da', logIndex),
      }
    })
  const transactions = (block: number): readonly string[] =>
    Array.from({ length: Math.ceil(logsIn(block) / LOGS_IN_TRANSACTION) + 1 }, (_, at) =>
      transaction(block, at),
    )
  const rpcLogs = (block: number): readonly RpcLog[] =>
    logs(block).map((log) => ({
      address: log.address,
      topics: log.topics,
      data: log.data,
      blockNumber: hex(block),
      blockHash: hash(block),
      transactionHash: log.transactionHash,
      transactionIndex: hex(log.transactionIndex),
      logIndex: hex(log.logIndex),
      removed: false,
    }))
  return {
    get height(): number {
      return height
    },
    setHeight: (block: number): void => {
      height = block
    },
    /** From `from` on every block is another. */
    fork: (from: number): void => {
      forks.push(from)
    },
    hash,
    rpcLogs,
    transactions,
    header: (block: number) => ({
      number: hex(block),
      hash: hash(block),
      parentHash: hash(block - 1),
      timestamp: hex(timeOf(block)),
      logsBloom: bloomOf(logs(block)),
      transactions: transactions(block),
    }),
    receipts: (block: number) =>
      transactions(block).map((transactionHash, at) => ({
        blockHash: hash(block),
        transactionHash,
        transactionIndex: hex(at),
        logs: rpcLogs(block).filter((log) => log.transactionHash === transactionHash),
      })),
    /** What the store must hold of it where all is kept. */
    block: (number: number): Block => ({
      number,
      hash: hash(number),
      parentHash: hash(number - 1),
      timestamp: timeOf(number),
      logCount: logsIn(number),
      logs: logs(number),
    }),
  }
}

export type RpcChain = ReturnType<typeof createRpcChain>

export const hex = (value: number): string => `0x${value.toString(16)}`

const word = (prefix: string, value: number): string =>
  `0x${prefix}${value.toString(16).padStart(62, '0')}`

export const contract = (kind: number): string => `0x${`a${kind}`.repeat(20)}`
export const topic = (kind: number): string => word('ee', kind)

/** As the yellow paper has it: of each address and topic, three times eleven bits of its hash. */
const bloomOf = (logs: readonly StoredLog[]): string => {
  let bits = 0n
  for (const value of logs.flatMap(({ address, topics }) => [address, ...topics])) {
    const digest = Buffer.from(keccak_256(Buffer.from(value.slice(2), 'hex')))
    for (const at of [0, 2, 4]) bits |= 1n << BigInt(digest.readUInt16BE(at) % 2048)
  }
  return `0x${bits.toString(16).padStart(512, '0')}`
}
