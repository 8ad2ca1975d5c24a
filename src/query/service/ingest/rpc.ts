import { excerpt } from '../../../core/errors.ts'
import { redactUrl } from '../../../core/redact.ts'
import { IngestError, RefusedError, TooLargeError } from './errors.ts'
import { isRecord } from './fields.ts'
import { refusalOf } from './refusal.ts'
import { type Answer, type Post } from './transport.ts'

export interface Call {
  readonly method: string
  readonly params: readonly unknown[]
}

/** What came of one call: its result, or why there is none. */
export type Reply = { readonly result: unknown } | { readonly error: IngestError }

export interface Rpc {
  /** The result, and how many characters it came in. Throws an IngestError. */
  one(call: Call, signal: AbortSignal): Promise<{ readonly result: unknown; readonly size: number }>
  /** All in one request, in the order of the calls. Throws an IngestError where the request as a whole came to nothing. */
  many(
    calls: readonly Call[],
    signal: AbortSignal,
  ): Promise<{ readonly replies: readonly Reply[]; readonly size: number }>
}

export const createRpc = (post: Post, rpcUrl: string): Rpc => {
  const shown = redactUrl(rpcUrl)
  const doingOf = ({ method }: Call, more = ''): string => `ask ${shown} for ${method}${more}`
  const body = (call: Call, id: number): string => JSON.stringify({ jsonrpc: '2.0', id, ...call })
  /** How often several calls were refused that were answered one by one. */
  let refusals = 0

  const one: Rpc['one'] = async (call, signal) => {
    const answer = await post(body(call, 1), signal)
    const doing = doingOf(call)
    const value = valueOf(answer, doing)
    const reply = replyOf(value, doing)
    if ('error' in reply) throw reply.error
    return { result: reply.result, size: answer.text.length }
  }

  const together: Rpc['many'] = async (calls, signal) => {
    const [first = NOTHING] = calls
    const answer = await post(`[${calls.map((call, at) => body(call, at + 1)).join()}]`, signal)
    const doing = doingOf(first, calls.length === 1 ? '' : ` and ${calls.length - 1} more`)
    const value = valueOf(answer, doing)
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    const byId = new Map(list.map((each) => [isRecord(each) ? each['id'] : undefined, each]))
    // An answer that is of no call is of all of them.
    if (byId.size === 1 && !byId.has(1)) {
      const reply = replyOf(list[0], doing)
      throw 'error' in reply ? reply.error : nonsense(doing, 'a list of answers', answer.text)
    }
    const replies = calls.map((call, at) => replyOf(byId.get(at + 1), doingOf(call)))
    return { replies, size: answer.text.length }
  }

  const eachAlone: Rpc['many'] = async (calls, signal) => {
    const replies: Reply[] = []
    let size = 0
    for (const call of calls) {
      try {
        const { result, size: more } = await one(call, signal)
        replies.push({ result })
        size += more
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error
        replies.push({ error })
      }
    }
    return { replies, size }
  }

  return {
    one,
    many: async (calls, signal) => {
      if (calls.length === 0) return { replies: [], size: 0 }
      if (refusals < REFUSALS) {
        try {
          const answered = await together(calls, signal)
          refusals = 0
          return answered
        } catch (error) {
          const isFew = calls.length <= FEW && error instanceof TooLargeError
          if (!isFew && !(error instanceof RefusedError)) throw error
        }
      }
      const answered = await eachAlone(calls, signal)
      if (answered.replies.some((reply) => 'result' in reply)) refusals += 1
      return answered
    },
  }
}

const NOTHING: Call = { method: 'nothing', params: [] }
/** Where so few at a time are too much, it is one that is taken. */
const FEW = 3
/** After so many, nothing is asked for together any more. */
const REFUSALS = 3

/** What the answer holds, whatever that means. */
const valueOf = ({ status, text, wait }: Answer, doing: string): unknown => {
  const evidence = status === 200 ? undefined : text
  if (status === 429 || status === 503) {
    const happened = `it is overloaded (${status})`
    throw new IngestError('overload', { doing, happened, evidence }, wait)
  }
  if (status === 413 || status === 504) {
    throw new TooLargeError('refused', { doing, happened: `it is too much (${status})`, evidence })
  }
  const value = parsed(text)
  // Some answer errors of JSON-RPC with 400 or 500.
  if (value !== undefined && (status === 200 || isRecord(value))) return value
  if (status !== 200) {
    throw new IngestError(status >= 500 ? 'unreachable' : 'refused', {
      doing,
      happened: `it answers ${status}`,
      evidence,
    })
  }
  throw nonsense(doing, 'JSON', text)
}

const parsed = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

const replyOf = (value: unknown, doing: string): Reply => {
  if (!isRecord(value)) return { error: nonsense(doing, 'an answer for each call', '') }
  const { error, result } = value
  if (error === undefined || error === null) {
    return result === undefined
      ? { error: nonsense(doing, '"result" or "error"', JSON.stringify(value)) }
      : { result }
  }
  const said = isRecord(error) ? error : {}
  const words = typeof said['message'] === 'string' ? said['message'] : JSON.stringify(error)
  const code = typeof said['code'] === 'number' ? said['code'] : null
  return { error: refused({ doing, words, code }) }
}

const refused = ({ doing, words, code }: { doing: string; words: string; code: number | null }) => {
  const account = { doing, happened: `the node says no: ${excerpt(words)}` }
  const kind = refusalOf(code, words)
  if (kind === 'overload')
    return new IngestError('overload', {
      ...account,
      happened: 'it is overloaded',
      evidence: words,
    })
  if (kind === 'too large') {
    return new TooLargeError('refused', {
      ...account,
      happened: 'it is too much at a time',
      evidence: words,
    })
  }
  return new RefusedError(account, excerpt(words))
}

export const nonsense = (doing: string, expected: string, came: string): IngestError =>
  new IngestError('nonsense', {
    doing,
    happened: `the answer is not understood: expected ${expected}`,
    evidence: came,
  })
