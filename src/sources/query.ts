import type { Answer, Ask } from './http.ts'

/** The event query service, as far as the agent asks it: its height. */
export interface Query {
  /** Throws a SilenceError when there is no answer. */
  height(signal: AbortSignal): Promise<Answer>
}

/** `timeout` in milliseconds bounds each call. */
export const createQuery = (ask: Ask, url: string, timeout: number): Query => ({
  height: (signal) => ask({ url: `${url.replace(/\/+$/, '')}/height`, timeout, signal }),
})
