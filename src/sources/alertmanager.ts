import { LIMITS } from '../core/limits.ts'
import type { HttpResponse, SendRequest } from './http.ts'

/** The API of an Alertmanager, version 2: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml. */
export interface AlertmanagerEndpoint {
  /** Host and port: a path may contain a key. */
  readonly name: string
  /** Posts alerts. Throws a NoResponseError if there is no response. */
  send(alerts: readonly unknown[], signal: AbortSignal): Promise<HttpResponse>
  get(path: string, signal: AbortSignal): Promise<HttpResponse>
}

/** `timeout` limits each request, in milliseconds. */
export const createAlertmanagerEndpoint = (ask: SendRequest, url: string, timeout: number): AlertmanagerEndpoint => {
  const base = url.replace(/\/+$/, '')
  const limits = { timeout, maxBytes: LIMITS.response.metricsBytes }
  return {
    name: new URL(url).host,
    send: async (alerts, signal) =>
      ask({
        url: `${base}/api/v2/alerts`,
        init: { method: 'POST', body: JSON.stringify(alerts) },
        ...limits,
        signal,
      }),
    get: async (path, signal) => ask({ url: `${base}${path}`, accept: '*/*', ...limits, signal }),
  }
}
