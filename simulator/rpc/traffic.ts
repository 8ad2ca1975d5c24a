import { directiveTable, set } from '../scenario/directives.ts'
import { intervals } from '../scenario/timeline.ts'
import type { SimulatedNode } from '../subject.ts'

/** Directives for the users of the RPC. */
export const trafficDirectives = directiveTable({
  'users rush': ['users send ten times as many requests, and calls wait for seconds', set({ rpcOverloaded: true })],
  'users leave': ['users send as many requests as usual', set({ rpcOverloaded: false })],
})

/** Requests a second by method; the agent's own are those of the first two. */
const USUAL = {
  eth_blockNumber: 2.5,
  eth_getBlockByNumber: 3.5,
  eth_call: 12,
  eth_getLogs: 1,
  eth_chainId: 1,
  debug_traceTransaction: 0.1,
} as const

const RUSH = 10
/** Requests a second that get the status 413. */
const TOO_LARGE = 0.02

/** The parts of the requests that are executed within each bound, in seconds. */
const SHARES = {
  usual: { '0.001': 0.6, '0.01': 0.95, '0.1': 0.999, '1': 1, '+Inf': 1 },
  waiting: { '0.001': 0.1, '0.01': 0.2, '0.1': 0.3, '1': 0.4, '+Inf': 1 },
} as const
const MEAN_S = { usual: 0.002, waiting: 1.3 } as const

/** The RPC pushes its values to the OpenTelemetry collector every 2.5 s. */
const PUSH_INTERVAL_MS = 2500

/** The metrics of the RPC, as the collector serves them. */
export const renderTraffic = (node: SimulatedNode): string => {
  const { prefix } = node
  const atMs = Math.floor(node.now() / PUSH_INTERVAL_MS) * PUSH_INTERVAL_MS
  const { startedMs } = node.condition().services.rpc
  const resource = 'job="simulated",service_name="simulated"'
  const line = (name: string, labels: string, value: number): string =>
    `${prefix}_${name}{${resource}${labels}} ${float(value)} ${atMs}`
  const seconds = { usual: 0, rush: 0 }
  for (const { condition, from, to } of intervals(node.timeline, startedMs, atMs))
    seconds[condition.rpcOverloaded ? 'rush' : 'usual'] += (to - from) / 1000
  const all = seconds.usual + RUSH * seconds.rush

  const durations = Object.entries(USUAL).flatMap(([method, perSecond]) => {
    const isCall = method === 'eth_call'
    const late = isCall ? Math.floor(perSecond * RUSH * seconds.rush) : 0
    const count = Math.floor(perSecond * all)
    const name = 'rpc_execution_duration_seconds'
    const labels = `,main="${method}",type="total"`
    const usual = Object.entries(SHARES.usual)
    const waiting: Readonly<Record<string, number>> = SHARES.waiting
    return [
      ...usual.map(([bound, share]) => {
        const within = Math.floor((count - late) * share + late * (waiting[bound] ?? 0))
        return line(`${name}_bucket`, `${labels},le="${bound}"`, within)
      }),
      line(`${name}_sum`, labels, (count - late) * MEAN_S.usual + late * MEAN_S.waiting),
      line(`${name}_count`, labels, count),
      line(`${name}_count`, `,main="${method}",type="wait"`, count),
    ]
  })
  const answered = Math.floor(Object.values(USUAL).reduce((a, b) => a + b, 0) * all)
  const response = (status: number, count: number): string =>
    line(
      'rpc_request_duration_seconds_count',
      `,http_response_status_code="${status}",server_address="localhost",server_port="8080"`,
      count,
    )
  const isRush = node.timeline.conditionAt(atMs).rpcOverloaded
  return [
    `# TYPE ${prefix}_rpc_active_requests gauge`,
    line('rpc_active_requests', ',server_address="localhost",server_port="8080"', isRush ? 180 : 0),
    `# TYPE ${prefix}_rpc_execution_duration_seconds histogram`,
    ...durations,
    `# TYPE ${prefix}_rpc_request_duration_seconds histogram`,
    response(200, answered),
    response(413, Math.floor(TOO_LARGE * all)),
    `# TYPE ${prefix}_ws_active_connections gauge`,
    line('ws_active_connections', '', isRush ? 40 : 4),
    '# TYPE target_info gauge',
    line('target_info', '', 1).replace(`${prefix}_`, ''),
    '',
  ].join('\n')
}

/** Go's float format: an exponent of two digits from a million on. */
export const float = (value: number): string => {
  if (Math.abs(value) < 1e6) return String(value)
  const [digits = '', exponent = ''] = value.toExponential().split('e+')
  return `${digits}e+${exponent.padStart(2, '0')}`
}
