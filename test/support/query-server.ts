import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { z } from 'zod'
import { listening } from './http.ts'
import {
  type Answer,
  answerOf,
  createChain,
  matches,
  type ServedChain,
  type ServedLog,
  type Speech,
} from './query-chain.ts'

/** What one request meets in the place of a right answer. */
export type Fault =
  /** Any status, headers and body: 401, 413, 429 with its hints, 502 with HTML, a redirect, 200 with garbage. */
  | {
      readonly kind: 'reply'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string
    }
  /** The correct response, truncated after that number of bytes by a broken connection. */
  | { readonly kind: 'cut'; readonly bytes: number }
  /** The correct response, gzipped, without its last bytes, sent as if complete. */
  | { readonly kind: 'short-gzip' }
  /** The connection is closed without a word. */
  | { readonly kind: 'close' }
  /** Nothing is ever said. */
  | { readonly kind: 'hang' }
  /** The right answer, once the test lets it go. */
  | { readonly kind: 'held'; readonly until: Promise<void> }
  /** `next_block` is the `from_block` of the request, and there are no logs. */
  | { readonly kind: 'stall'; readonly archiveHeight?: number }
  /** 400, and the body holds all headers of the request: the key, too. */
  | { readonly kind: 'echo' }
  /** The right answer, changed: a wrong next_block, a log out of range, other words for a number. */
  | { readonly kind: 'alter'; readonly alter: (answer: Answer) => unknown }

/** One request as the server saw it. */
export interface Seen {
  readonly path: '/query' | '/height'
  /** How many of this path came before it: 0 is the first. */
  readonly nth: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Of a query: its first block, and its `to_block` as it was sent. */
  readonly from: number
  readonly to: number | null
  /** The body as it was sent. */
  readonly body: string
  /** Real time, in milliseconds. */
  readonly at: number
}

/** Decides what a request meets; undefined: the right answer. It may change the chain before that. */
export type Faults = (seen: Seen) => Fault | undefined

/** These faults for the first queries, one each, and right answers after that. */
export const inTurn =
  (...faults: readonly (Fault | undefined)[]): Faults =>
  ({ path, nth }) =>
    path === '/query' ? faults[nth] : undefined

/** This fault for each query; GET /height is answered as it should be. */
export const always =
  (fault: Fault): Faults =>
  ({ path }) =>
    path === '/query' ? fault : undefined

export const alter = (alteration: (answer: Answer) => unknown): Fault => ({
  kind: 'alter',
  alter: alteration,
})

/**
 * A query service over a chain in memory, on a real port.
 *
 *     const server = await startQueryServer({ logs, height: 1000, dialect: 'hosted', pageLogs: 50 })
 *     server.url                      // http://127.0.0.1:PORT, for `createQueryClient` or `--url`
 *     server.chain.setHeight(1001)    // the chain moves; see query-chain.ts
 *     server.seen                     // every request so far, in order; see `Seen`
 *     server.faults = inTurn({ kind: 'reply', status: 502 })   // the first query fails, the next does not
 *     await server.close()
 *
 * A reorg before the third query: `faults: ({ path, nth }) => { if (path === '/query' && nth === 2)
 * server.chain.reorg(990, freshLogs); return undefined }`.
 */
export interface QueryServerOptions extends Partial<Speech> {
  readonly logs?: readonly ServedLog[]
  /** Null: the service has nothing yet. By default the block of the last log. */
  readonly height?: number | null
  /** Without it every key is taken, and none, too. With it a request without it gets 401. */
  readonly apiKey?: string
  /** How a page is packed, where the client takes it; by default not at all. */
  readonly packing?: 'gzip' | 'br'
  /** A prefix before `/query` and `/height`. */
  readonly prefix?: string
  /**
   * The server is an RPC with `eth_queryLogs` and not a query service: a call for the newest block has the path `/height` in
   * `seen`, one for logs `/query`.
   */
  readonly rpc?: QueryLogsLimits
  /** The response of GET /height, if not the height of the chain. */
  readonly toldHeight?: () => unknown
  readonly faults?: Faults
}

export const startQueryServer = async (options: QueryServerOptions = {}) => {
  const { logs = [], prefix = '' } = options
  const height = options.height === undefined ? highest(logs) : options.height
  const chain = createChain(logs, height)
  const seen: Seen[] = []
  const nothing: Faults = () => undefined
  const state = { faults: options.faults ?? nothing }
  const speech = speechOf(options)
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request)
    const path = options.rpc === undefined ? pathOf(request, prefix) : calledPathOf(request, body, prefix)
    if (path === undefined) {
      reply(response, 404, 'no such page')
      return
    }
    const one = record(path, { seen, headers: request.headers, body })
    seen.push(one)
    const fault = state.faults(one)
    if (fault?.kind !== 'echo' && !isAllowed(request, options.apiKey)) {
      reply(response, 401, 'no valid token')
      return
    }
    const right = (): unknown =>
      options.rpc !== undefined
        ? answerCall(chain, options.rpc, parseCall(body))
        : path === '/height'
          ? { height: options.toldHeight === undefined ? chain.height : options.toldHeight() }
          : answerOf(chain, speech, REQUEST.parse(JSON.parse(body)))
    const accepted = request.headers['accept-encoding'] ?? ''
    const { packing } = options
    const isTaken = packing !== undefined && accepted.includes(packing)
    await answer({ response, one, fault, right, packing: isTaken ? packing : undefined })
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      reply(response, 400, String(error))
    })
  })
  const { url, close } = await listening(server)
  return {
    url: `${url}${prefix}`,
    chain,
    seen,
    get faults(): Faults {
      return state.faults
    },
    set faults(faults: Faults) {
      state.faults = faults
    },
    close,
  }
}

export type QueryServer = Awaited<ReturnType<typeof startQueryServer>>

const highest = (logs: readonly ServedLog[]): number => logs.reduce((most, { block }) => Math.max(most, block), 0)

const speechOf = (options: QueryServerOptions): Speech => ({
  dialect: options.dialect ?? 'hosted',
  pageLogs: options.pageLogs ?? 1000,
  pageBlocks: options.pageBlocks ?? Number.POSITIVE_INFINITY,
  numbers: options.numbers ?? 'number',
  absentTopic: options.absentTopic ?? 'null',
  batchBlocks: options.batchBlocks ?? (options.dialect === 'spec' ? 1 : 10),
  guard: options.guard ?? true,
})

const HEX = z.string().regex(/^0x[0-9a-f]+$/i)
const REQUEST = z.strictObject({
  from_block: z.int().nonnegative(),
  to_block: z.int().nullish(),
  logs: z.array(
    z.strictObject({
      address: z.array(HEX).optional(),
      topics: z.array(z.array(HEX)).max(4).optional(),
    }),
  ),
  field_selection: z.strictObject({ log: z.array(z.string()).min(1) }),
})

const pathOf = ({ method, url }: IncomingMessage, prefix: string): Seen['path'] | undefined => {
  if (method === 'POST' && url === `${prefix}/query`) return '/query'
  return method === 'GET' && url === `${prefix}/height` ? '/height' : undefined
}

/** Undefined unless it is a call. */
const calledPathOf = ({ method, url }: IncomingMessage, body: string, prefix: string): Seen['path'] | undefined => {
  if (method !== 'POST' || url !== (prefix || '/')) return undefined
  return parseCall(body).method === 'eth_queryLogs' ? '/query' : '/height'
}

interface Recording {
  readonly seen: readonly Seen[]
  readonly headers: Seen['headers']
  readonly body: string
}

const record = (path: Seen['path'], { seen, headers, body }: Recording): Seen => {
  const nth = seen.filter((other) => other.path === path).length
  const query = path === '/query' ? blocksOf(body) : undefined
  const blocks = { from: query?.from ?? -1, to: query?.to ?? null }
  return { path, nth, headers, body, at: performance.now(), ...blocks }
}

const blocksOf = (body: string) => {
  const json: unknown = JSON.parse(body)
  const { data } = REQUEST.safeParse(json)
  if (data) return { from: data.from_block, to: data.to_block }
  const call = z.object({ params: z.tuple([z.object({ fromBlock: z.string(), toBlock: z.string() })]) }).safeParse(json)
  const [range] = call.data?.params ?? []
  return range && { from: Number(range.fromBlock), to: Number(range.toBlock) }
}

/** The key may be in any header that the client is configured to use. */
const isAllowed = ({ headers }: IncomingMessage, apiKey: string | undefined): boolean =>
  apiKey === undefined ||
  headers.authorization === `Bearer ${apiKey}` ||
  Object.entries(headers).some(([name, value]) => name !== 'authorization' && value === apiKey)

interface Answering {
  readonly response: ServerResponse
  readonly one: Seen
  readonly fault: Fault | undefined
  readonly right: () => unknown
  readonly packing: 'gzip' | 'br' | undefined
}

const answer = async ({ response, one, fault, right, packing }: Answering): Promise<void> => {
  switch (fault?.kind) {
    case undefined: {
      send(response, JSON.stringify(right()), packing)
      break
    }
    case 'reply': {
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '')
      break
    }
    case 'cut': {
      const bytes = Buffer.from(JSON.stringify(right()))
      response.writeHead(200, { 'content-length': bytes.length })
      response.write(bytes.subarray(0, fault.bytes), () => response.destroy())
      break
    }
    case 'short-gzip': {
      const packed = gzipSync(JSON.stringify(right()))
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed.subarray(0, -10))
      break
    }
    case 'close': {
      response.destroy()
      break
    }
    case 'hang': {
      break
    }
    case 'held': {
      await fault.until
      send(response, JSON.stringify(right()), packing)
      break
    }
    case 'stall': {
      const archive = fault.archiveHeight ?? one.from
      send(response, JSON.stringify({ data: [], archive_height: archive, next_block: one.from }))
      break
    }
    case 'echo': {
      reply(response, 400, JSON.stringify({ error: one.headers }))
      break
    }
    case 'alter': {
      send(response, JSON.stringify(fault.alter(OBJECT.parse(right()))), packing)
      break
    }
  }
}

const OBJECT = z.record(z.string(), z.unknown())

const send = (response: ServerResponse, text: string, packing?: 'gzip' | 'br'): void => {
  const pack = packing === 'gzip' ? gzipSync : brotliCompressSync
  const bytes = packing === undefined ? Buffer.from(text) : pack(text)
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...(packing !== undefined && { 'content-encoding': packing }),
  })
  response.end(bytes)
}

const reply = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(text)
}

/** The limits of an RPC with `eth_queryLogs`; by default those of the node. */
interface QueryLogsLimits {
  readonly maxLimit?: number
  readonly maxBlockRange?: number
}

const QUANTITY = z
  .string()
  .regex(/^0x(?:0|[1-9a-f][0-9a-f]*)$/)
  .transform(Number)
const LOWER_CASE_HEX = z.string().regex(/^0x[0-9a-f]+$/)
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
          address: z.array(LOWER_CASE_HEX).min(1).optional(),
          topics: z.array(z.array(LOWER_CASE_HEX).min(1).nullable()).max(4).optional(),
        }),
        fields: z.strictObject({
          logs: z.array(LOG_FIELD),
          transactions: z.array(z.enum(['hash', 'blockNumber', 'transactionIndex'])).optional(),
        }),
      }),
    ]),
  }),
])

type QueryLogsCall = z.infer<typeof CALL>

const parseCall = (body: string): QueryLogsCall => CALL.parse(JSON.parse(body))

/** The answer of an RPC, as specified in monad-bft (`monad-rpc/src/handlers/chaindata`). */
const answerCall = (chain: ServedChain, limits: QueryLogsLimits, call: QueryLogsCall): Answer => {
  const result = call.method === 'eth_queryBlocks' ? newestOf(chain) : logsOf(chain, limits, call.params[0])
  return { jsonrpc: '2.0', id: call.id, ...result }
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
