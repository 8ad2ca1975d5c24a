import { LIMITS } from '../core/limits.ts'
import { posted, type SendRequest } from './http.ts'

export type AlertmanagerEndpoint = ReturnType<typeof createAlertmanagerEndpoint>

/**
 * The API of an Alertmanager, version 2: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml.
 * `timeout` limits each request, in milliseconds.
 */
export const createAlertmanagerEndpoint = (ask: SendRequest, url: string, timeout: number) => {
  const base = url.replace(/\/+$/, '')
  const limits = { timeout, maxBytes: LIMITS.response.metricsBytes }
  return {
    /** Host and port: a path may contain a key. */
    name: new URL(url).host,
    /** Posts alerts. Throws a NoResponseError if there is no response. */
    send: async (alerts: readonly unknown[], signal: AbortSignal) =>
      ask({ url: `${base}/api/v2/alerts`, ...posted(alerts), ...limits, signal }),
    get: async (path: string, signal: AbortSignal) => ask({ url: `${base}${path}`, accept: '*/*', ...limits, signal }),
  }
}
