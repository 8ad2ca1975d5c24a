import type { Reply } from './rpc-methods.ts'

type Answer = (method: string, params: readonly unknown[]) => Reply

/** The body that answers a body: one call or a batch of them, always JSON-RPC 2.0. */
export const respond = (body: string, answer: Answer): string => {
  let calls: unknown
  try {
    calls = JSON.parse(body)
  } catch {
    return JSON.stringify(PARSE_ERROR)
  }
  return JSON.stringify(
    Array.isArray(calls)
      ? calls.map((call: unknown) => respondToCall(call, answer))
      : respondToCall(calls, answer),
  )
}

const respondToCall = (call: unknown, answer: Answer): unknown => {
  if (typeof call !== 'object' || call === null) return PARSE_ERROR
  const { id, method, params }: Call = call
  // The node takes a call without an id for one that it cannot read.
  if (!isId(id)) return PARSE_ERROR
  const reply =
    typeof method === 'string'
      ? answer(method, Array.isArray(params) ? params : [])
      : { error: { code: -32601, message: 'Invalid request' } }
  return { jsonrpc: '2.0', ...reply, id }
}

interface Call {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: unknown
}

const isId = (id: unknown): boolean =>
  id === null || typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id))

const PARSE_ERROR = {
  jsonrpc: '2.0',
  error: { code: -32601, message: 'Parse error' },
  id: null,
} as const
