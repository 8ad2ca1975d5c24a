import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { z } from 'zod'
import { createRpcChain, hex, type RpcChain, type RpcChainOptions } from './rpc-chain.ts'

export interface Call {
  readonly method: string
  readonly params: readonly unknown[]
  /** Which one of its method, from 0 on. */
  readonly nth: number
  /** With how many calls it came in one request. */
  readonly of: number
}

/** What the node does in the place of the right answer; `reply` and `hang` take the whole request. */
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

export interface RpcNode {
  readonly url: string
  readonly chain: RpcChain
  /** Every call so far, in order. */
  readonly seen: readonly Call[]
  /** How many requests were open at a time, at most. */
  readonly most: number
  faults: RpcFaults
  close(): Promise<void>
}

const callSchema = z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) })
type Asked = z.infer<typeof callSchema>

/** A node's JSON-RPC over a chain that can be worked out, on a real port. */
export const startRpcNode = async (options: RpcNodeOptions = {}): Promise<RpcNode> => {
  const chain = createRpcChain(options)
  const seen: Call[] = []
  const counts = new Map<string, number>()
  const nothing: RpcFaults = () => undefined
  const state = { faults: options.faults ?? nothing, open: 0, most: 0 }

  const answer = ({ id, method, params }: Asked, _index: number, { length }: readonly Asked[]) => {
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
    const asked: unknown = JSON.parse(await textOf(request))
    const calls = z.array(callSchema).parse(Array.isArray(asked) ? asked : [asked])
    const answers = calls.map(answer)
    const whole = answers.find(({ fault }) => fault !== undefined && fault.kind !== 'result')?.fault
    if (whole?.kind === 'hang') return
    if (whole?.kind === 'reply') {
      response.writeHead(whole.status, whole.headers).end(whole.body)
      return
    }
    const bodies = answers.map(({ body }) => body)
    const text = JSON.stringify(Array.isArray(asked) ? bodies : bodies[0])
    if (whole?.kind === 'cut') {
      response.writeHead(200, { 'content-length': String(text.length) })
      response.write(text.slice(0, 20), () => response.destroy())
      return
    }
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    response.writeHead(200, headers).end(gzipSync(text))
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = z.object({ port: z.number() }).parse(server.address())
  return {
    url: `http://127.0.0.1:${port}`,
    chain,
    seen,
    get most() {
      return state.most
    },
    get faults() {
      return state.faults
    },
    set faults(faults) {
      state.faults = faults
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  const stream: AsyncIterable<Buffer> = request
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const rangeSchema = z.object({ fromBlock: z.string(), toBlock: z.string() })
const hashSchema = z.object({ blockHash: z.string() })

const resultOf = (
  chain: RpcChain,
  { method, params, chainId }: Pick<Call, 'method' | 'params'> & { readonly chainId: number },
): unknown => {
  const [first] = params
  const all = Array.from({ length: chain.height + 1 }, (_, block) => block)
  if (method === 'eth_chainId') return hex(chainId)
  if (method === 'eth_syncing') return false
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
    return all
      .filter((block) => block >= Number(fromBlock) && block <= Number(toBlock))
      .flatMap(chain.rpcLogs)
  }
  if (method === 'eth_getBlockReceipts') return chain.receipts(Number(first))
  if (method === 'eth_getTransactionReceipt') {
    const block = all.find((each) => chain.transactions(each).includes(String(first))) ?? 0
    return chain.receipts(block).find(({ transactionHash }) => transactionHash === first) ?? null
  }
  throw new Error(`the test node does not know ${method}`)
}
