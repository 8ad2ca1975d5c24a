import { keccak_256 } from '@noble/hashes/sha3.js'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { type Block, type StoredLog } from '../../query/store/store.ts'
import { listening } from './http.ts'

export interface Call {
  readonly method: string
  readonly params: readonly unknown[]
  /** Which one of its method, from 0 on. */
  readonly nth: number
  /** With how many calls it came in one request. */
  readonly of: number
}

/** What the node does instead of the correct response; `reply` and `hang` apply to the complete request. */
export type RpcFault =
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'result'; readonly change: (right: unknown) => unknown }
  | {
      readonly kind: 'reply'
      readonly status: number
      readonly body: string
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly kind: 'hang' }
  | { readonly kind: 'cut' }

export type RpcFaults = (call: Call) => RpcFault | undefined

export interface RpcNodeOptions extends RpcChainOptions {
  readonly chainId?: number
  readonly faults?: RpcFaults
}

const callSchema = z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) })
type RpcCall = z.infer<typeof callSchema>

/** A node's JSON-RPC over a chain that can be worked out, on a real port. */
export const startRpcNode = async (options: RpcNodeOptions = {}) => {
  const chain = createRpcChain(options)
  /** Every call so far, in order. */
  const seen: Call[] = []
  const counts = new Map<string, number>()
  const nothing: RpcFaults = () => undefined
  const state = { faults: options.faults ?? nothing, open: 0, most: 0 }

  const answer = ({ id, method, params }: RpcCall, _index: number, { length }: readonly RpcCall[]) => {
    const nth = counts.get(method) ?? 0
    counts.set(method, nth + 1)
    const call = { method, params, nth, of: length }
    seen.push(call)
    const fault = state.faults(call)
    if (fault?.kind === 'error') {
      const { code, message } = fault
      return { fault: undefined, body: { jsonrpc: '2.0', id, error: { code, message } } }
    }
    const right = resultOf(chain, { method, params, chainId: options.chainId ?? 143 })
    const result = fault?.kind === 'result' ? fault.change(right) : right
    return { fault, body: { jsonrpc: '2.0', id, result } }
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const requested: unknown = JSON.parse(await textOf(request))
    const calls = z.array(callSchema).parse(Array.isArray(requested) ? requested : [requested])
    const answers = calls.map(answer)
    const whole = answers.find(({ fault }) => fault !== undefined && fault.kind !== 'result')?.fault
    if (whole?.kind === 'hang') return
    if (whole?.kind === 'reply') {
      response.writeHead(whole.status, whole.headers).end(whole.body)
      return
    }
    const bodies = answers.map(({ body }) => body)
    const reply = JSON.stringify(Array.isArray(requested) ? bodies : bodies[0])
    if (whole?.kind === 'cut') {
      response.writeHead(200, { 'content-length': String(reply.length) })
      response.write(reply.slice(0, 20), () => response.destroy())
      return
    }
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    response.writeHead(200, headers).end(gzipSync(reply))
  }

  const server = createServer((request, response) => {
    state.open += 1
    state.most = Math.max(state.most, state.open)
    response.once('close', () => {
      state.open -= 1
    })
    serve(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  const { url, close } = await listening(server)
  return {
    url,
    chain,
    seen,
    /** How many requests were open at a time, at most. */
    get most() {
      return state.most
    },
    get faults() {
      return state.faults
    },
    set faults(faults) {
      state.faults = faults
    },
    close,
  }
}

export type RpcNode = Awaited<ReturnType<typeof startRpcNode>>

const rangeSchema = z.object({ fromBlock: z.string(), toBlock: z.string() })
const hashSchema = z.object({ blockHash: z.string() })

const resultOf = (
  chain: RpcChain,
  { method, params, chainId }: Pick<Call, 'method' | 'params'> & { readonly chainId: number },
): unknown => {
  const [first] = params
  const all = Array.from({ length: chain.height + 1 }, (_, block) => block)
  if (method === 'eth_chainId') return hex(chainId)
  if (method === 'eth_getBlockByNumber') {
    const block = first === 'finalized' || first === 'latest' ? chain.height : Number(first)
    return block > chain.height ? null : chain.header(block)
  }
  if (method === 'eth_getLogs') {
    const byHash = hashSchema.safeParse(first).data
    if (byHash !== undefined) {
      return all.filter((block) => chain.hash(block) === byHash.blockHash).flatMap(chain.rpcLogs)
    }
    const { fromBlock, toBlock } = rangeSchema.parse(first)
    return all.filter((block) => block >= Number(fromBlock) && block <= Number(toBlock)).flatMap(chain.rpcLogs)
  }
  if (method === 'eth_getBlockReceipts') return chain.receipts(Number(first))
  if (method === 'eth_getTransactionReceipt') {
    const block = all.find((each) => chain.transactions(each).includes(String(first))) ?? 0
    return chain.receipts(block).find(({ transactionHash }) => transactionHash === first) ?? null
  }
  throw new Error(`the test node does not know ${method}`)
}

/** A log in JSON-RPC format. */
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

interface RpcChainOptions {
  readonly height?: number
  /** How many logs a block has; by default 0, 1, 2, 3 and again. */
  readonly logsIn?: (block: number) => number
  /** Seconds since the epoch; by default one a block, and later than what the clocks of tests show. */
  readonly timeOf?: (block: number) => number
}

/** Two logs a transaction, and one transaction without; three contracts, and as many kinds of events. */
const LOGS_IN_TRANSACTION = 2
const KINDS = 3

/** A chain in which every block follows from its number, in JSON-RPC format and in the agent's. */
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
        topics: kind === 1 ? [] : [topic(kind), word('01', block), ...(kind === 2 ? [topic(7), topic(8)] : [])],
        data: kind === 0 ? '0x' : word('da', logIndex),
      }
    })
  const transactions = (block: number): readonly string[] =>
    Array.from({ length: Math.ceil(logsIn(block) / LOGS_IN_TRANSACTION) + 1 }, (_, at) => transaction(block, at))
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

type RpcChain = ReturnType<typeof createRpcChain>

export const hex = (value: number): string => `0x${value.toString(16)}`

const word = (prefix: string, value: number): string => `0x${prefix}${value.toString(16).padStart(62, '0')}`

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
