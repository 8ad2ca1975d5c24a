import { isObject, tryJson } from '../../../core/json.ts'
import { excerpt } from '../../../core/errors.ts'
import { redactUrl } from '../../../core/redact.ts'
import { classifyRpcError, IngestError, NodeRejectedError, TooLargeError } from './errors.ts'
import type { RpcResponse, SendRequest } from './transport.ts'

export interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The result of one call, or its error. */
export type Reply = { readonly result: unknown } | { readonly error: IngestError }

export interface Rpc {
  /** Returns the result and the size of the response in characters. Throws an IngestError. */
  one(call: Call, signal: AbortSignal): Promise<{ readonly result: unknown; readonly size: number }>
  /** Sends one batch; the replies are in the order of the calls. Throws an IngestError if the whole batch failed. */
  many(
    calls: readonly Call[],
    signal: AbortSignal,
  ): Promise<{ readonly replies: readonly Reply[]; readonly size: number }>
}

export const createRpc = (send: SendRequest, rpcUrl: string): Rpc => {
  const address = redactUrl(rpcUrl)
  const doingOf = ({ method }: Call, more = ''): string => `call ${method}${more} at ${address}`
  const body = (call: Call, id: number): string => JSON.stringify({ jsonrpc: '2.0', id, ...call })
  /** Consecutive batches that were rejected although single calls succeeded. */
  let rejectedBatches = 0

  const one: Rpc['one'] = async (call, signal) => {
    const response = await send(body(call, 1), signal)
    const doing = doingOf(call)
    const value = bodyOf(response, doing)
    const reply = replyOf(value, doing)
    if ('error' in reply) throw reply.error
    return { result: reply.result, size: response.text.length }
  }

  const sendBatch: Rpc['many'] = async (calls, signal) => {
    const [first = NO_CALL] = calls
    const response = await send(`[${calls.map((call, at) => body(call, at + 1)).join()}]`, signal)
    const doing = doingOf(first, calls.length === 1 ? '' : ` and ${calls.length - 1} more`)
    const value = bodyOf(response, doing)
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    const byId = new Map(list.map((each) => [isObject(each) ? each['id'] : undefined, each]))
    // A single response without the id of a call applies to all calls.
    if (byId.size === 1 && !byId.has(1)) {
      const reply = replyOf(list[0], doing)
      throw 'error' in reply ? reply.error : invalidResponse(doing, 'a list of responses', response.text)
    }
    const replies = calls.map((call, at) => replyOf(byId.get(at + 1), doingOf(call)))
    return { replies, size: response.text.length }
  }

  const sendEach: Rpc['many'] = async (calls, signal) => {
    const replies: Reply[] = []
    let size = 0
    for (const call of calls) {
      try {
        const { result, size: more } = await one(call, signal)
        replies.push({ result })
        size += more
      } catch (error) {
        if (!(error instanceof NodeRejectedError)) throw error
        replies.push({ error })
      }
    }
    return { replies, size }
  }

  return {
    one,
    many: async (calls, signal) => {
      if (calls.length === 0) return { replies: [], size: 0 }
      if (rejectedBatches < MAX_REJECTED_BATCHES) {
        try {
          const batchResult = await sendBatch(calls, signal)
          rejectedBatches = 0
          return batchResult
        } catch (error) {
          const isFew = calls.length <= SMALL_BATCH && error instanceof TooLargeError
          if (!isFew && !(error instanceof NodeRejectedError)) throw error
        }
      }
      const batchResult = await sendEach(calls, signal)
      if (batchResult.replies.some((reply) => 'result' in reply)) rejectedBatches += 1
      return batchResult
    },
  }
}

const NO_CALL: Call = { method: 'nothing', params: [] }
/** If a batch of this size is too large, one of its calls is too large. */
const SMALL_BATCH = 3
/** After this number of rejected batches, calls are sent one by one. */
const MAX_REJECTED_BATCHES = 3

/** The JSON body of a response, successful or not. Throws an IngestError for other failures. */
const bodyOf = ({ status, text, wait }: RpcResponse, doing: string): unknown => {
  const evidence = status === 200 ? undefined : text
  if (status === 429 || status === 503) {
    const happened = `the node is overloaded (${status})`
    throw new IngestError('overload', { doing, happened, evidence }, wait)
  }
  if (status === 413 || status === 504) {
    throw new TooLargeError('refused', {
      doing,
      happened: `the request is too large (${status})`,
      evidence,
    })
  }
  const value = tryJson(text)
  // Some nodes send JSON-RPC errors with status 400 or 500.
  if (value !== undefined && (status === 200 || isObject(value))) return value
  if (status !== 200) {
    throw new IngestError(status >= 500 ? 'unreachable' : 'refused', {
      doing,
      happened: `the node responded with status ${status}`,
      evidence,
    })
  }
  throw invalidResponse(doing, 'JSON', text)
}

const replyOf = (value: unknown, doing: string): Reply => {
  if (!isObject(value)) return { error: invalidResponse(doing, 'a response for each call', '') }
  const { error, result } = value
  if (error === undefined || error === null) {
    return result === undefined
      ? { error: invalidResponse(doing, '"result" or "error"', JSON.stringify(value)) }
      : { result }
  }
  const details = isObject(error) ? error : {}
  const nodeMessage = typeof details['message'] === 'string' ? details['message'] : JSON.stringify(error)
  const code = typeof details['code'] === 'number' ? details['code'] : null
  return { error: errorFor({ doing, nodeMessage, code }) }
}

const errorFor = ({ doing, nodeMessage, code }: { doing: string; nodeMessage: string; code: number | null }) => {
  const account = { doing, happened: `the node returned an error: ${excerpt(nodeMessage)}` }
  const kind = classifyRpcError(code, nodeMessage)
  if (kind === 'overload')
    return new IngestError('overload', {
      ...account,
      happened: 'the node is overloaded',
      evidence: nodeMessage,
    })
  if (kind === 'too large') {
    return new TooLargeError('refused', {
      ...account,
      happened: 'the request is too large',
      evidence: nodeMessage,
    })
  }
  return new NodeRejectedError(account, excerpt(nodeMessage))
}

export const invalidResponse = (doing: string, expected: string, evidence: string): IngestError =>
  new IngestError('nonsense', {
    doing,
    happened: `invalid response: expected ${expected}`,
    evidence,
  })
