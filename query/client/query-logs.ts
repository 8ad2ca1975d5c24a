import { z } from 'zod'
import { isObject, tryJson } from '../../src/core/json.ts'
import { LOG_FIELDS, type LogField, TOPICS } from '../log-fields.ts'
import type { Reply, Transport, TransportFailure } from './transport.ts'
import { PAGE_JSON, parseInteger } from './wire-format.ts'

/**
 * A transport that also reads from an RPC with `eth_queryLogs`, and returns its answers in the form of a query service.
 * The first answer to GET /height shows which of them the address is.
 */
export const createServiceTransport = (http: Transport): Transport => {
  const rpc = createQueryLogsTransport(http)
  let server: 'service' | 'rpc' | undefined
  return async (path, body, signal) => {
    if (server === 'rpc') return rpc(path, body, signal)
    const reply = await http(path, body, signal)
    if (server !== undefined || path !== 'height' || 'kind' in reply) return reply
    if (hasHeight(reply)) server = 'service'
    if (hasHeight(reply) || !NO_SUCH_PATH.has(reply.status)) return reply
    const answer = await rpc(path, body, signal)
    if ('kind' in answer) return answer === NOT_SERVED ? answer : reply
    if (hasHeight(answer)) server = 'rpc'
    return answer.status === 200 ? answer : reply
  }
}

/** What an RPC answers to GET /height. 200 is for those that report an error in the body. */
const NO_SUCH_PATH: ReadonlySet<number> = new Set([200, 400, 404, 405, 415])

const hasHeight = ({ status, body }: Reply): boolean => {
  const value = status === 200 ? tryJson(body) : undefined
  return isObject(value) && Object.hasOwn(value, 'height')
}

const NOT_SERVED: TransportFailure = {
  kind: 'fatal',
  happened: 'it is an RPC without eth_queryLogs, which a coming release of monad-bft serves with --chain-data-config',
}
const malformed = (happened: string): TransportFailure => ({ kind: 'protocol', happened })

/** JSON-RPC: method not found (or not supported, by the node), invalid params, limit exceeded. */
const [NOT_FOUND, INVALID_PARAMS, LIMIT_EXCEEDED] = [-32_601, -32_602, -32_005]
/** Texts of monad-bft: `ResolvedBlockWindow::resolve_block_numbers` and `serialize_with_size_limit`. */
const ABOVE_HEAD = 'starts above the published head'
const TOO_LARGE = 'response exceeds size limit'

/** A server with a lower limit rejects the first request, and reports its limits. */
const FIRST_LIMIT = 10_000
/** A server may report the limits of logs and of blocks one after the other. */
const MAX_ATTEMPTS = 3

const BODY = z.object({
  from_block: z.int(),
  to_block: z.int(),
  logs: z.tuple([
    z.object({ address: z.array(z.string()).optional(), topics: z.array(z.array(z.string())).optional() }),
  ]),
  field_selection: z.object({ log: z.array(z.enum(LOG_FIELDS)) }),
})

type JsonObject = Readonly<Record<string, unknown>>

type Limits = Readonly<Record<'logs' | 'blocks', number>>

const createQueryLogsTransport = (http: Transport): Transport => {
  let limits: Limits = { logs: FIRST_LIMIT, blocks: Number.MAX_SAFE_INTEGER }
  const call = async (method: 'eth_queryBlocks' | 'eth_queryLogs', params: JsonObject, signal: AbortSignal) => {
    const reply = await http('rpc', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [params] }), signal)
    const value = 'kind' in reply ? undefined : tryJson(reply.body, PAGE_JSON)
    const { result, error } = isObject(value) && value['jsonrpc'] === '2.0' ? value : {}
    return { reply, result: isObject(result) ? result : undefined, error: isObject(error) ? error : undefined }
  }
  const height = async (signal: AbortSignal): Promise<Reply | TransportFailure> => {
    // Descending and without a range, the query begins at the newest block that the server has.
    const params = { order: 'desc', limit: '0x1', fields: { blocks: ['number'] } }
    const { reply, result, error } = await call('eth_queryBlocks', params, signal)
    if ('kind' in reply || error !== undefined) return error?.['code'] === NOT_FOUND ? NOT_SERVED : reply
    const newest = referenceOf(result?.['fromBlock'])
    if (newest === undefined) return reply.status === 200 ? malformed('the response has no newest block') : reply
    return { ...reply, body: Buffer.from(JSON.stringify({ height: newest.number })) }
  }
  const query = async (body: string, signal: AbortSignal): Promise<Reply | TransportFailure> => {
    const range = rangeOf(body)
    // Without a block there is nothing to request: the response for the block before was too large.
    if (range.end < range.from) return { kind: 'shrink', happened: 'the range is empty' }
    for (let attempt = 1; ; attempt += 1) {
      const sent = { logs: limits.logs, blocks: Math.min(limits.blocks, range.end - range.from + 1) }
      const part = { ...range, end: range.from + sent.blocks - 1 }
      const { reply, result, error } = await call('eth_queryLogs', paramsOf(part, sent), signal)
      if ('kind' in reply) return reply
      if (error === undefined) {
        if (result !== undefined) return pageOf(reply, result, part)
        return reply.status === 200 ? malformed('the response is not JSON-RPC') : reply
      }
      const { code, message, data } = error
      if (code === LIMIT_EXCEEDED && attempt < MAX_ATTEMPTS) {
        limits = lower(limits, data)
        if (limits.logs < sent.logs || limits.blocks < sent.blocks) continue
      }
      return failureOf(code, String(message), range.from) ?? reply
    }
  }
  return async (path, body, signal) => (path === 'height' || body === null ? height(signal) : query(body, signal))
}

/** Undefined for an error that a query service might report, too. */
const failureOf = (code: unknown, message: string, from: number): Reply | TransportFailure | undefined => {
  if (code === NOT_FOUND) return NOT_SERVED
  if (message.includes(TOO_LARGE)) return { kind: 'shrink', happened: 'the response exceeds its size limit' }
  // An instance that is behind: the page has no block.
  return code === INVALID_PARAMS && message.includes(ABOVE_HEAD)
    ? { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ data: [], next_block: from })) }
    : undefined
}

const lower = (limits: Limits, reported: unknown): Limits => {
  const { maxLimit, maxBlockRange } = isObject(reported) ? reported : {}
  return { logs: lowest(limits.logs, maxLimit), blocks: lowest(limits.blocks, maxBlockRange) }
}

const lowest = (limit: number, reported: unknown): number =>
  Math.min(limit, Math.max(1, parseInteger(reported) ?? limit))

type QueryRange = ReturnType<typeof rangeOf>

/** Inclusive at both ends. Block 0 has no logs, and no record at the node: a query from 0 begins at 1. */
const rangeOf = (body: string) => {
  const { from_block: from, to_block: to, logs, field_selection: selection } = BODY.parse(JSON.parse(body))
  return { ...logs[0], from: Math.max(1, from), end: from === 0 ? Math.max(1, to - 1) : to - 1, fields: selection.log }
}

const hex = (number: number): string => `0x${number.toString(16)}`

/** The name at the node, whose logs have no `transaction_hash`: the transaction at that index is joined. */
const nameOf = (field: LogField): string => {
  if (field === 'transaction_hash') return 'transactionIndex'
  return field.startsWith('topic') ? 'topics' : field.replace(/_(\w)/, (_, letter: string) => letter.toUpperCase())
}

const paramsOf = ({ from, end, fields, address, topics }: QueryRange, { logs }: Limits): JsonObject => ({
  fromBlock: hex(from),
  toBlock: hex(end),
  order: 'asc',
  limit: hex(logs),
  filter: {
    ...(address && { address }),
    // An empty list would match no topic.
    ...(topics && { topics: topics.map((alternatives) => (alternatives.length === 0 ? null : alternatives)) }),
  },
  fields: {
    logs: [...new Set(fields.filter((field) => field !== 'removed').map(nameOf))],
    ...(fields.includes('transaction_hash') && { transactions: ['hash', 'blockNumber', 'transactionIndex'] }),
  },
})

const HASH = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/i)
  .toLowerCase()

const REFERENCE = z.object({
  number: z.unknown().transform(parseInteger).pipe(z.number()),
  hash: HASH,
  parentHash: HASH,
})

type BlockReference = z.infer<typeof REFERENCE>

const referenceOf = (value: unknown) => REFERENCE.safeParse(value).data

/** The page as a query service returns it: the hashes of its first and last block link it to the pages next to it. */
const pageOf = (
  { headers }: Reply,
  result: JsonObject,
  { from, end, fields }: QueryRange,
): Reply | TransportFailure => {
  const [first, last, cursor] = ['fromBlock', 'toBlock', 'cursorBlock'].map((key) => referenceOf(result[key]))
  if (!first || !last || !cursor) return malformed('its fromBlock, toBlock or cursorBlock is not a block with hashes')
  const isInRange = first.number === from && from <= cursor.number && cursor.number <= last.number && last.number <= end
  if (!isInRange) return malformed('its fromBlock, toBlock and cursorBlock are not within the requested blocks')
  if (!isLinked(first, cursor)) return malformed('its fromBlock and cursorBlock are of different chains')
  const logs = logsOf(result['data'], fields)
  if (logs === undefined) return malformed('its logs are not a list of objects')
  const page = {
    data: logs.length === 0 ? [] : [{ logs }],
    next_block: cursor.number + 1,
    ...(last.number < end && { archive_height: last.number }),
    rollback_guard: {
      block_number: cursor.number,
      hash: cursor.hash,
      first_block_number: first.number,
      first_parent_hash: first.parentHash,
    },
  }
  return { status: 200, headers, body: Buffer.from(JSON.stringify(page)) }
}

const isLinked = (first: BlockReference, cursor: BlockReference): boolean =>
  cursor.number === first.number
    ? cursor.hash === first.hash
    : cursor.number > first.number + 1 || cursor.parentHash === first.hash

const logsOf = (data: unknown, fields: readonly LogField[]): readonly JsonObject[] | undefined => {
  const { logs, transactions } = isObject(data) ? data : {}
  if (!Array.isArray(logs)) return undefined
  const objects = objectsIn(logs)
  const hashes = new Map(objectsIn(transactions).map((transaction) => [positionOf(transaction), transaction['hash']]))
  if (objects.length < logs.length) return undefined
  return objects.map((log) => Object.fromEntries(fields.map((field) => [field, readField(log, field, hashes)])))
}

const objectsIn = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

const positionOf = (value: JsonObject): string =>
  `${parseInteger(value['blockNumber'])}/${parseInteger(value['transactionIndex'])}`

const readField = (log: JsonObject, field: LogField, hashes: ReadonlyMap<string, unknown>): unknown => {
  // The logs are those of finalized blocks.
  if (field === 'removed') return false
  if (field === 'transaction_hash') return hashes.get(positionOf(log))
  const value = log[nameOf(field)]
  const topic = TOPICS.findIndex((name) => name === field)
  if (topic === -1) return /_(?:number|index)$/.test(field) ? parseInteger(value) : value
  const topics: readonly unknown[] = Array.isArray(value) ? value : []
  return topics[topic] ?? null
}
