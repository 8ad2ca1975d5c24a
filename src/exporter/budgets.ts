/** What a request may cost: CPU time of the agent in ms on a core at 2.6 GHz, and the response in KiB, not compressed. */
interface Budget {
  readonly cpuMs: number
  readonly kib: number
}

/**
 * Of each path, for a validator with 950 series, an hour of history and 1,000 state changes. All responses are computed
 * on the event loop: what costs more is computed once for all clients (`shared`).
 */
export const ROUTE_BUDGETS: Readonly<Record<string, Budget>> = {
  '/': { cpuMs: 60, kib: 128 },
  '/events': { cpuMs: 40, kib: 256 },
  '/metrics-help': { cpuMs: 20, kib: 128 },
  '/runbooks': { cpuMs: 20, kib: 128 },
  '/runbooks/:name': { cpuMs: 10, kib: 64 },
  'page and API description': { cpuMs: 5, kib: 256 },
  '/metrics': { cpuMs: 30, kib: 256 },
  '/-/healthy': { cpuMs: 5, kib: 1 },
  '/-/ready': { cpuMs: 5, kib: 4 },
  '/api/v1/overview': { cpuMs: 40, kib: 256 },
  '/api/v1/stream': { cpuMs: 40, kib: 256 },
  '/api/v1/status': { cpuMs: 20, kib: 256 },
  '/api/v1/health': { cpuMs: 25, kib: 64 },
  '/api/v1/events': { cpuMs: 40, kib: 512 },
  '/api/v1/heartbeat': { cpuMs: 5, kib: 1 },
  '/api/v1/metrics-help': { cpuMs: 10, kib: 128 },
  '/api/v1/runbooks': { cpuMs: 5, kib: 16 },
  '/api/v1/runbooks/:name': { cpuMs: 10, kib: 64 },
}
