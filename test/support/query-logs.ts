import { z } from 'zod'
import { type Answer, matches, type ServedChain, type ServedLog } from './query-chain.ts'

/** The limits of an RPC with `eth_queryLogs`; by default those of the node. */
export interface QueryLogsLimits {
  readonly maxLimit?: number
  readonly maxBlockRange?: number
}

const QUANTITY = z
  .string()
  .regex(/^0x(?:0|[1-9a-f][0-9a-f]*)$/)
  .transform(Number)
const HEX = z.string().regex(/^0x[0-9a-f]+$/)
const LOG_FIELD = z.enum(['blockNumber', 'blockHash', 'transactionIndex', 'logIndex', 'address', 'topics', 'data'])
/** Strict, as the node is. */
const CALL = z.discriminatedUnion('method', [
  z.object({
    id: z.int(),
    method: z.literal('eth_queryBlocks'),
    params: z.tuple([
      z.strictObject({
        order: z.literal('desc'),
        limit: z.literal('0x1'),
        fields: z.strictObject({ blocks: z.array(z.literal('number')) }),
      }),
    ]),
  }),
  z.object({
    id: z.int(),
    method: z.literal('eth_queryLogs'),
    params: z.tuple([
      z.strictObject({
        fromBlock: QUANTITY,
        toBlock: QUANTITY,
        order: z.literal('asc'),
        limit: QUANTITY,
        filter: z.strictObject({
          address: z.array(HEX).min(1).optional(),
          topics: z.array(z.array(HEX).min(1).nullable()).max(4).optional(),
        }),
        fields: z.strictObject({
          logs: z.array(LOG_FIELD),
          transactions: z.array(z.enum(['hash', 'blockNumber', 'transactionIndex'])).optional(),
        }),
      }),
    ]),
  }),
])

export type QueryLogsCall = z.infer<typeof CALL>

export const parseCall = (body: string): QueryLogsCall => CALL.parse(JSON.parse(body))

/** The answer of an RPC, as specified in monad-bft (`monad-rpc/src/handlers/chaindata`). */
export const answerCall = (chain: ServedChain, limits: QueryLogsLimits, call: QueryLogsCall): Answer => {
  const answer = call.method === 'eth_queryBlocks' ? newestOf(chain) : logsOf(chain, limits, call.params[0])
  return { jsonrpc: '2.0', id: call.id, ...answer }
}

const newestOf = (chain: ServedChain): Answer => {
  const newest = referenceOf(chain, chain.height ?? 0)
  const data = { blocks: [{ number: newest.number }] }
  return { result: { data, fromBlock: newest, toBlock: newest, cursorBlock: newest } }
}

const hex = (number: number): string => `0x${number.toString(16)}`

const referenceOf = (chain: ServedChain, block: number) => ({
  number: hex(block),
  hash: chain.hash(block),
  parentHash: chain.hash(block - 1),
})

type LogsRequest = Extract<QueryLogsCall, { method: 'eth_queryLogs' }>['params'][0]

const logsOf = (
  chain: ServedChain,
  { maxLimit = 1000, maxBlockRange = 10_000 }: QueryLogsLimits,
  { fromBlock: from, toBlock, limit, filter, fields }: LogsRequest,
): Answer => {
  const head = chain.height ?? 0
  if (from > head) return { error: { code: -32_602, message: 'block range starts above the published head' } }
  const last = Math.min(toBlock, head)
  if (limit > maxLimit || last - from + 1 > maxBlockRange) {
    const data = { maxLimit: hex(maxLimit), maxBlockRange: hex(maxBlockRange) }
    return { error: { code: -32_005, message: 'limit exceeded', data } }
  }
  const { address, topics = [] } = filter
  const wanted = { address, topics: topics.map((alternatives) => alternatives ?? []) }
  const all = chain.logs().filter((log) => log.block >= from && log.block <= last && matches(wanted, log))
  const full = all[limit - 1]?.block ?? last
  const cursor = all.some(({ block }) => block > full) ? full : last
  const found = all.filter(({ block }) => block <= cursor)
  const data = {
    logs: found.map((log) => written(log, fields.logs, chain)),
    ...(fields.transactions && { transactions: found.map(transactionOf) }),
  }
  const [fromBlock, to, cursorBlock] = [from, last, cursor].map((block) => referenceOf(chain, block))
  return { result: { data, fromBlock, toBlock: to, cursorBlock } }
}

const written = (log: ServedLog, names: readonly string[], chain: ServedChain): Answer => {
  const all = {
    blockNumber: hex(log.block),
    blockHash: chain.hash(log.block),
    transactionIndex: hex(log.index),
    logIndex: hex(log.index),
    address: log.address,
    topics: log.topics.filter((topic) => topic !== null),
    data: log.data,
  }
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}

/** Each log has a transaction of its own, with the hash that the query service of the tests writes. */
const transactionOf = ({ block, index }: ServedLog) => ({
  hash: `0x${block.toString(16).padStart(64, '0')}`,
  blockNumber: hex(block),
  transactionIndex: hex(index),
})
