import { z } from 'zod'
import type { Block, BlockHeader, Filter, StoredLog } from '../../query/store/store.ts'
import { keeps } from '../support/memory-store.ts'
import { contract, diceOf, EVERYTHING, hexOf, oneOf, word } from '../support/store-cases.ts'

export const FIRST = 46_618_000
export const LAST = 46_618_599

const dice = diceOf(48)

/** 0 to 4 topics, data of 0 bytes, one, a word and 1000. */
const logAt = (logIndex: number): StoredLog => ({
  logIndex,
  // Two logs of each transaction.
  transactionIndex: logIndex >> 1,
  transactionHash: '',
  address: contract(dice(6)),
  topics: Array.from({ length: dice(5) }, () => word(dice(5))),
  data: hexOf(dice, oneOf(dice, [0, 1, 32, 1000])),
})

const blockWith = (parent: BlockHeader, logs: readonly StoredLog[]): Block => {
  const hashes = Array.from({ length: Math.ceil(logs.length / 2) }, () => hexOf(dice, 32))
  const number = parent.number + 1
  return {
    number,
    hash: hexOf(dice, 32),
    parentHash: parent.hash,
    timestamp: 1_760_000_000 + Math.floor((number - FIRST) / 2),
    logCount: logs.length,
    logs: logs.map((log) => ({ ...log, transactionHash: hashes[log.transactionIndex] ?? '' })),
  }
}

/** Blocks that follow the given one, with the given logs each. */
const chainFrom = (parent: BlockHeader, blocks: readonly (readonly StoredLog[])[]): readonly Block[] => {
  const chain: Block[] = []
  for (const logs of blocks) chain.push(blockWith(chain.at(-1) ?? parent, logs))
  return chain
}

const manyLogs = (count: number): readonly StoredLog[] => Array.from({ length: count }, (_, index) => logAt(index))

/** Blocks that follow the given one; every fourth one has no log. */
export const blocksAfter = (parent: BlockHeader, count: number): readonly Block[] =>
  chainFrom(
    parent,
    Array.from({ length: count }, (_, index) => ((parent.number + index) % 4 === 3 ? [] : manyLogs(1 + dice(15)))),
  )

const BEFORE = { number: FIRST - 1, hash: word(1), parentHash: word(0), timestamp: 0 }

/** 600 blocks. */
export const CHAIN = blocksAfter(BEFORE, 600)

/** The block of the chain. */
export const blockAt = (number: number): Block => {
  const block = CHAIN[number - FIRST]
  if (block === undefined) throw new Error(`the chain has no block ${number}`)
  return block
}

/** A field that a row does not have is null. */
const absent = z
  .string()
  .nullish()
  .transform((value) => value ?? null)

const LOG = z.strictObject({
  removed: z.boolean(),
  logIndex: z.int(),
  transactionIndex: z.int(),
  transactionHash: z.string(),
  blockHash: z.string(),
  blockNumber: z.int(),
  address: z.string(),
  data: z.string(),
  topics: z.array(absent),
})

export type Log = z.output<typeof LOG>

const PAGE = z.object({
  archiveHeight: z.int().optional(),
  nextBlock: z.int(),
  rollbackGuard: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  data: z.object({
    blocks: z.array(z.unknown()),
    transactions: z.array(z.unknown()),
    logs: z.array(LOG),
  }),
})

/** A page of `get`, `collect` or `stream`. */
export const pageOf = (value: unknown) => PAGE.parse(value)

export const logsOf = (pages: readonly unknown[]): readonly Log[] => pages.flatMap((page) => pageOf(page).data.logs)

interface Wanted {
  readonly blocks?: readonly Block[]
  readonly from?: number
  /** Exclusive. */
  readonly to?: number
  readonly filters?: readonly Filter[]
}

/** The logs that the official client must return: those of the blocks, by the naive filter. */
export const expectedLogs = ({
  blocks = CHAIN,
  from = 0,
  to = Infinity,
  filters = [EVERYTHING],
}: Wanted = {}): readonly Log[] =>
  blocks
    .filter(({ number }) => number >= from && number < to)
    .flatMap((block) =>
      block.logs
        .filter((log) => filters.some((filter) => keeps(filter, log)))
        .map(({ logIndex, transactionIndex, transactionHash, address, data, topics }) => ({
          removed: false,
          logIndex,
          transactionIndex,
          transactionHash,
          blockHash: block.hash,
          blockNumber: block.number,
          address,
          data,
          topics: Array.from({ length: 4 }, (_, at) => topics[at] ?? null),
        })),
    )

export const LOG_FIELDS = [
  'Removed',
  'LogIndex',
  'TransactionIndex',
  'TransactionHash',
  'BlockHash',
  'BlockNumber',
  'Address',
  'Data',
  'Topic0',
  'Topic1',
  'Topic2',
  'Topic3',
] as const

/** A query as a user writes it: all logs with all fields of the whole chain. */
export const queryOf = (changes: Readonly<Record<string, unknown>> = {}) => ({
  fromBlock: FIRST,
  toBlock: LAST + 1,
  logs: [{}],
  fieldSelection: { log: LOG_FIELDS },
  ...changes,
})
