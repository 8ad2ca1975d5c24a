import type { Answer, Ask } from './http.ts'

/** A JSON-RPC endpoint: the bytes of an answer, whatever they mean. */
export interface Rpc {
  /** Throws a SilenceError when there is no answer. */
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<Answer>
}

/** `timeout` in milliseconds bounds each call. The node wants an `id`: without one it answers "Parse error". */
export const createRpc = (ask: Ask, url: string, timeout: number): Rpc => ({
  call: (method, params, signal) =>
    ask({
      url,
      init: { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) },
      timeout,
      signal,
    }),
})
