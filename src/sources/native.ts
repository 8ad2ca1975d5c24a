import type { Answer, Ask } from './http.ts'

/** An endpoint with metrics in the text format of Prometheus. */
export interface Native {
  /** Throws a SilenceError when there is no answer. */
  metrics(signal: AbortSignal): Promise<Answer>
}

/** Not OpenMetrics, of which the OpenTelemetry collector makes times in seconds. */
const ACCEPT = 'text/plain;version=0.0.4, text/plain;q=0.5, */*;q=0.1'

/** `/metrics` is asked where the address names no path. `timeout` in milliseconds bounds each call. */
export const createNative = (ask: Ask, url: string, timeout: number): Native => {
  const address = new URL(url)
  if (address.pathname === '/') address.pathname = '/metrics'
  return { metrics: (signal) => ask({ url: address.href, accept: ACCEPT, timeout, signal }) }
}
