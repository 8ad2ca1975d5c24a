import { SourceError } from '../core/errors.ts'
import type { HttpResponse, SendRequest } from './http.ts'
import { readSecretFile } from './credential-file.ts'

/** A JSON-RPC endpoint. Responses are not interpreted. */
export interface RpcEndpoint {
  /** Throws a NoResponseError when there is no answer. */
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<HttpResponse>
}

/** `timeout` limits each call, in milliseconds. The node needs an `id`: without one it returns "Parse error". */
export const createRpcEndpoint = (ask: SendRequest, url: string, timeout: number): RpcEndpoint => ({
  call: (method, params, signal) =>
    ask({
      url,
      init: { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) },
      timeout,
      signal,
    }),
})

/** The event query service: only its height is requested. */
export interface QueryEndpoint {
  /** Throws a NoResponseError if there is no response, and a SourceError if the key cannot be read. */
  height(signal: AbortSignal): Promise<HttpResponse>
}

interface QueryService {
  readonly url: string
  /** Read for each request, so that the key can be changed. */
  readonly apiKeyFile: string | null
}

/** `timeout` in milliseconds bounds each call. */
export const createQueryEndpoint = (
  ask: SendRequest,
  { url, apiKeyFile }: QueryService,
  timeout: number,
): QueryEndpoint => ({
  height: async (signal) =>
    ask({
      url: `${url.replace(/\/+$/, '')}/height`,
      ...(apiKeyFile !== null && { bearer: await readSecretFile(apiKeyFile, 'API key') }),
      timeout,
      signal,
    }),
})

/** An endpoint with metrics in the Prometheus text format. */
export interface MetricsEndpoint {
  /** Throws a NoResponseError when there is no answer. */
  metrics(signal: AbortSignal): Promise<HttpResponse>
}

/** Not OpenMetrics: with it the OpenTelemetry collector prints timestamps in seconds. */
const ACCEPT = 'text/plain;version=0.0.4, text/plain;q=0.5, */*;q=0.1'

/** If the URL has no path, `/metrics` is requested. `timeout` limits each call, in milliseconds. */
export const createMetricsEndpoint = (ask: SendRequest, url: string, timeout: number): MetricsEndpoint => {
  const address = new URL(url)
  if (address.pathname === '/') address.pathname = '/metrics'
  return { metrics: (signal) => ask({ url: address.href, accept: ACCEPT, timeout, signal }) }
}

/** Sends a heartbeat document. Throws a SourceError if there is no response. */
export type SendHeartbeat = (document: unknown, signal: AbortSignal) => Promise<HttpResponse>

interface HeartbeatOptions {
  readonly ask: SendRequest
  /** The file with the URL, which is a secret. */
  readonly urlFile: string
  /** In milliseconds. */
  readonly timeout: number
}

export const createHeartbeat =
  ({ ask, urlFile, timeout }: HeartbeatOptions): SendHeartbeat =>
  async (document, signal) => {
    const url = await readSecretFile(urlFile)
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
      throw new SourceError({
        doing: `read the address in ${urlFile}`,
        happened: 'it is not an http or https address',
        advice: 'write one address into it, and nothing else',
      })
    }
    return ask({
      url,
      init: { method: 'POST', body: JSON.stringify(document) },
      timeout,
      signal,
    })
  }
