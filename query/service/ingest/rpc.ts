import { asError, ConfigError, errorCode, excerpt, SourceError } from '../../../src/core/errors.ts'
import { exceededLimit, isObject, parseInSteps } from '../../../src/core/json.ts'
import { LIMITS } from '../../../src/core/limits.ts'
import { redactUrl } from '../../../src/core/redaction/redact.ts'
import { IngestError, LimitExceededError, NodeRejectedError, NodeTimeoutError, TooLargeError } from './errors.ts'
import type { IncomingMessage } from 'node:http'
import { type Clock, withDeadline } from '../../../src/core/clock.ts'
import { BodyError, createAgent, describeTlsError, readBody, sendRequest } from '../../../src/sources/http-exchange.ts'

type RpcResponse = Awaited<ReturnType<ReturnType<typeof createTransport>>>

export interface RpcOptions {
  readonly rpcUrl: string
  readonly clock: Clock
  /** For the whole response, in milliseconds. */
  readonly timeout: number
}

/**
 * Sends one request and reads the whole response, of at most `maxBytes` after decompression, on one persistent connection,
 * since requests are sequential. Throws an IngestError on failure.
 */
export const createTransport = ({ rpcUrl, clock, timeout }: RpcOptions) => {
  const url = parseAddress(rpcUrl)
  const agent = createAgent(url.protocol, 1)
  return async (body: string, maxBytes: number, signal: AbortSignal) => {
    const doing = `call the node at ${redactUrl(rpcUrl)}`
    try {
      return await withDeadline({ clock, signal }, timeout, async ({ signal: cancel }) => {
        const headers = { 'accept-encoding': 'gzip' }
        const message = await sendRequest({ url, agent, headers, body, signal: cancel })
        const received = await readBody(message, { bytes: maxBytes, beyond: 'fail' })
        return {
          status: message.statusCode ?? 0,
          body: received,
          /** `Retry-After` in milliseconds. */
          wait: retryAfterOf(message),
        }
      })
    } catch (thrown) {
      const error = asError(thrown)
      if (error instanceof BodyError && error.problem === 'too large')
        throw new TooLargeError('refused', { doing, happened: 'the response is too large' })
      if (signal.aborted || (error instanceof SourceError && error.timeout))
        throw new NodeTimeoutError('unreachable', { doing, happened: 'request timed out' })
      const happened = describeTlsError(error) ?? `no connection (${errorCode(error, error.name)})`
      throw new IngestError('unreachable', { doing, happened })
    }
  }
}

const retryAfterOf = ({ headers }: IncomingMessage): number | null => {
  const retryAfter = headers['retry-after']
  return retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : null
}

const parseAddress = (text: string): URL => {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text)
  throw new ConfigError(
    `Invalid JSON-RPC address of the node: ${redactUrl(text)}\n  what to do: use the form http://host:port`,
  )
}

export interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

/** The result of one call, or its error. */
export type Reply = { readonly result: unknown } | { readonly error: IngestError }

export type Rpc = ReturnType<typeof createRpc>

/** Sends one batch; the replies are in the order of the calls. Throws an IngestError if the whole batch failed. */
type SendBatch = (calls: readonly Call[], signal: AbortSignal) => Promise<{ replies: readonly Reply[]; size: number }>

type ResponseLimits = Readonly<Record<'bytes' | 'values', number>>

/**
 * Responses with logs. The largest limit of a known node is 25 MB; a block of 200 million gas has room for 50 MB of data
 * in hex. The shortest log has 350 characters with 12 values.
 */
const LOGS: ResponseLimits = { bytes: 64 * 1024 * 1024, values: 2_500_000 }

const RESPONSES: Readonly<Record<string, ResponseLimits>> = {
  eth_chainId: { bytes: LIMITS.response.valueBytes, values: 1000 },
  eth_getBlockByNumber: { bytes: LIMITS.response.blockBytes, values: LIMITS.json.values },
}

/** The response to a batch may have the sum, up to what one response may have. */
const limitsOf = (calls: readonly Call[]): ResponseLimits => {
  const each = calls.map(({ method }) => RESPONSES[method] ?? LOGS)
  const bytes = each.reduce((sum, limits) => sum + limits.bytes, 0)
  const values = each.reduce((sum, limits) => sum + limits.values, 0)
  return { bytes: Math.min(LOGS.bytes, bytes), values: Math.min(LOGS.values, values) }
}

export const createRpc = (options: RpcOptions, transport = createTransport(options)) => {
  const { clock } = options
  const address = redactUrl(options.rpcUrl)
  const doingOf = ({ method }: Call, more = ''): string => `call ${method}${more} at ${address}`
  const body = (call: Call, id: number): string => JSON.stringify({ jsonrpc: '2.0', id, ...call })
  /** Consecutive batches that were rejected although single calls succeeded. */
  let rejectedBatches = 0
  /** How long the node has worked: from each request to the end of its response or failure. */
  let busyMs = 0

  const send: typeof transport = async (...request) => {
    const startedAt = clock.elapsed()
    try {
      return await transport(...request)
    } finally {
      busyMs += clock.elapsed() - startedAt
    }
  }

  /** A single call is not sent as a list. */
  const sendBatch: SendBatch = async (calls, signal) => {
    const [first = NO_CALL] = calls
    const limits = limitsOf(calls)
    const texts = calls.map((call, at) => body(call, at + 1))
    const response = await send(texts.length === 1 ? texts.join() : `[${texts.join()}]`, limits.bytes, signal)
    const doing = doingOf(first, calls.length === 1 ? '' : ` and ${calls.length - 1} more`)
    const value = await bodyOf(response, doing, limits)
    const size = response.body.length
    if (calls.length === 1) return { replies: [replyOf(value, doing)], size }
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    const byId = new Map(list.map((each) => [isObject(each) ? each['id'] : undefined, each]))
    // A single response without the id of a call applies to all calls.
    if (byId.size === 1 && !byId.has(1)) {
      const reply = replyOf(list[0], doing)
      throw 'error' in reply ? reply.error : invalidResponse(doing, 'a list of responses', beginningOf(response))
    }
    return { replies: calls.map((call, at) => replyOf(byId.get(at + 1), doingOf(call))), size }
  }

  /** Returns the result and the size of the response in bytes. Throws an IngestError. */
  const one = async (call: Call, signal: AbortSignal) => {
    const { replies, size } = await sendBatch([call], signal)
    const [reply = replyOf(undefined, doingOf(call))] = replies
    if ('error' in reply) throw reply.error
    return { result: reply.result, size }
  }

  const sendEach: SendBatch = async (calls, signal) => {
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

  const many: SendBatch = async (calls, signal) => {
    if (calls.length === 0) return { replies: [], size: 0 }
    if (rejectedBatches < MAX_REJECTED_BATCHES) {
      try {
        const batchResult = await sendBatch(calls, signal)
        if (calls.length > 1) rejectedBatches = 0
        return batchResult
      } catch (error) {
        const isFew = calls.length <= SMALL_BATCH && error instanceof TooLargeError
        if (!isFew && !(error instanceof NodeRejectedError)) throw error
      }
    }
    const batchResult = await sendEach(calls, signal)
    if (batchResult.replies.some((reply) => 'result' in reply)) rejectedBatches += 1
    return batchResult
  }
  return { one, many, busyMs: () => busyMs }
}

const NO_CALL: Call = { method: 'nothing', params: [] }
/** If a batch of this size is too large, one of its calls is too large. */
const SMALL_BATCH = 3
/** After this number of rejected batches, calls are sent one by one. */
const MAX_REJECTED_BATCHES = 3

const beginningOf = ({ body }: RpcResponse): string => body.toString('utf8', 0, 4096)

/** The JSON body of a response, successful or not. Throws an IngestError for other failures. */
const bodyOf = async (response: RpcResponse, doing: string, { values }: ResponseLimits): Promise<unknown> => {
  const { status, body, wait } = response
  const evidence = status === 200 ? undefined : beginningOf(response)
  if (status === 429 || status === 503) {
    const happened = `the node is overloaded (${status})`
    throw new IngestError('overload', { doing, happened, evidence }, wait)
  }
  if (status === 413 || status === 504) {
    throw new TooLargeError('refused', { doing, happened: `the request is too large (${status})`, evidence })
  }
  const limits = { depth: LIMITS.json.depth, values }
  const value = await parseInSteps(body, limits)
  // Some nodes send JSON-RPC errors with status 400 or 500.
  if (value !== undefined && (status === 200 || isObject(value))) return value
  if (status !== 200) {
    const happened = `the node responded with status ${status}`
    throw new IngestError(status >= 500 ? 'unreachable' : 'refused', { doing, happened, evidence })
  }
  if (exceededLimit(body, limits) === 'values')
    throw new TooLargeError('refused', {
      doing,
      happened: `the response has more than ${values} values`,
      evidence: beginningOf(response),
    })
  throw invalidResponse(doing, 'JSON', beginningOf(response))
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
  return { error: errorFor(doing, nodeMessage, code) }
}

const errorFor = (doing: string, nodeMessage: string, code: number | null): IngestError => {
  const kind = classifyRpcError(code, nodeMessage)
  const message = excerpt(nodeMessage)
  if (kind === 'overload') {
    return new IngestError('overload', { doing, happened: `the node is overloaded: ${message}` })
  }
  if (kind === 'limit')
    return new LimitExceededError('overload', {
      doing,
      happened: `the node reports that a limit is exceeded: ${message}`,
    })
  if (kind === 'too large')
    return new TooLargeError('refused', { doing, happened: `the request is too large for the node: ${message}` })
  const happened = `the node returned an error: ${message}`
  return new NodeRejectedError({ doing, happened }, message, code)
}

export const invalidResponse = (doing: string, expected: string, evidence: string): IngestError =>
  new IngestError('invalid', { doing, happened: `invalid response: expected ${expected}`, evidence })

/**
 * Class of a JSON-RPC error. Error codes differ between versions and vendors (-32005 means both "slower" and "less"),
 * so the message decides, and the code only if the message is not conclusive.
 */
type RpcErrorClass = 'overload' | 'limit' | 'too large' | 'unknown tag' | 'no'

export const classifyRpcError = (code: number | null, message: string): RpcErrorClass => {
  if (OVERLOAD.test(message)) return 'overload'
  if (TOO_LARGE.some((pattern) => pattern.test(message))) return 'too large'
  if (code === 429) return 'overload'
  if (code === LIMIT_EXCEEDED) return 'limit'
  return UNKNOWN_TAG.test(message) ? 'unknown tag' : 'no'
}

const LIMIT_EXCEEDED = -32_005

const OVERLOAD =
  /overload|slow down|try again later|too many (?:requests|connections)|rate.?limit|requests? (?:count|rate|limit)|limit of requests|requests? per|throttl|capacity|busy|compute units/i

const THING = String.raw`(?:range|blocks?|results?|logs?|response|answer|body|payload|content|size|entit(?:y|ies)|query|batch|items)`
const MUCH = String.raw`(?:too (?:large|big|wide|long|many|high)|exceed\w*|limit(?:ed|s)?|(?:more|greater|larger|bigger|wider|longer) than|max(?:imum)?|up to)`

const TOO_LARGE = [
  new RegExp(String.raw`\b${THING}\b.*\b${MUCH}\b`, 'is'),
  new RegExp(String.raw`\b${MUCH}\b.*\b${THING}\b`, 'is'),
  /time.{0,2}out|timed out|deadline exceeded|took too long/i,
]

/** "Not found" is different: the tag is known, and there is no such block yet. */
const UNKNOWN_TAG =
  /invalid|unknown (?:block )?tag|unsupported|not supported|cannot unmarshal|without 0x|hex string|parse/i

/** Successful requests after a reduction before the batch grows again. */
const GROWTH_PAUSE = 8

/**
 * Adapts the number of items per request. Doubles until the first reduction, which halves the batch; then it grows
 * slowly. Responses are kept below a number of characters.
 */
export const createBatchSizer = ({
  first,
  most,
  characters,
}: Readonly<Record<'first' | 'most' | 'characters', number>>) => {
  let size = first
  let successes = GROWTH_PAUSE
  let growth = 2
  return {
    size: () => size,
    /** A request for this number of items was too large or too slow. */
    reduce: (requested: number): void => {
      size = Math.max(1, Math.floor(requested / 2))
      successes = 0
      growth = 1.25
    },
    /** Records how many characters the last batch took. */
    record: (requested: number, received: number): void => {
      successes += 1
      const fitting = Math.max(1, Math.floor((requested * characters) / Math.max(received, 1)))
      // Near the chain head requests are smaller than allowed, which says nothing about larger ones.
      const wanted = requested >= size && successes >= GROWTH_PAUSE ? Math.ceil(size * growth) : size
      size = Math.min(most, fitting, wanted)
    },
  }
}
