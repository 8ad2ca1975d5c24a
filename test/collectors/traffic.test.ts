import { describe, expect, test } from 'vitest'
import { traffic } from '../../src/collectors/traffic/collector.ts'
import { NoResponseError } from '../../src/sources/http.ts'
import { manualClock } from '../support/manual-clock.ts'
import { runPolls } from './run-collector.ts'

const BEGIN = 1_780_000_000_000
const timing = { interval: 5000, timeout: 5000 }

interface Execution {
  readonly method: string
  /** Within 1 ms, 10 ms, 100 ms, 1 s, and all. */
  readonly within: readonly [number, number, number, number, number]
  readonly sum: number
}

/** The buckets are cumulative; `unit` is what a collector adds to the name. */
const execution = ({ method, within, sum }: Execution, unit = '_seconds'): readonly string[] => {
  const bounds = ['0.001', '0.01', '0.1', '1', '+Inf']
  const name = `zephyr_rpc_execution_duration${unit}`
  const labels = `job="crow",main="${method}",type="total"`
  return [
    ...bounds.map((bound, index) => `${name}_bucket{${labels},le="${bound}"} ${within[index]}`),
    `${name}_sum{${labels}} ${sum}`,
    `${name}_count{${labels}} ${within[4]}`,
    `${name}_sum{job="crow",main="${method}",type="wait"} 777`,
    `${name}_count{job="crow",main="${method}",type="wait"} ${within[4]}`,
    `${name}_count{job="crow",main="${method}",secondary="triedb",type="total"} 888`,
  ]
}

const CALLS: Execution = { method: 'eth_call', within: [10, 50, 60, 70, 100], sum: 60.5 }
const LINES = [
  ...execution(CALLS),
  ...execution({ method: 'eth_chainId', within: [5, 5, 5, 5, 5], sum: 0.001 }),
  ...execution({ method: 'eth_syncing', within: [1, 2, 2, 2, 2], sum: 0.008 }),
  // By nature they take long.
  ...execution({ method: 'eth_getLogs', within: [0, 0, 0, 1, 4], sum: 12 }),
  ...execution({ method: 'debug_traceCall', within: [0, 0, 0, 0, 1], sum: 3 }),
  ...execution({ method: 'debug_traceTransaction', within: [0, 0, 0, 0, 2], sum: 8 }),
  'zephyr_rpc_request_duration_seconds_count{server_address="a.example",server_port="8080",http_response_status_code="200"} 90',
  'zephyr_rpc_request_duration_seconds_count{server_address="evil",http_response_status_code="200"} 4',
  'zephyr_rpc_request_duration_seconds_count{server_address="evil",http_response_status_code="413"} 2',
  'zephyr_rpc_request_duration_seconds_sum{server_address="evil",http_response_status_code="413"} 9',
  'zephyr_rpc_active_requests{server_address="a.example",server_port="8080"} 3',
  'zephyr_rpc_active_requests{server_address="evil"} 1',
  'zephyr_ws_active_connections{job="crow"} 7',
  'zephyr_ws_active_topics{job="crow"} 9',
  'zephyr_total_uptime_us{job="devnet_crow"} 5',
]

/** The text of a collector that adds the time of the push to each line, or of one that does not. */
const text = (lines: readonly string[], pushedMs?: number): string =>
  lines.map((line) => `${line}${pushedMs === undefined ? '' : ` ${pushedMs}`}\n`).join('')

const start = async (first: string | Error, own?: string | number) => {
  const clock = manualClock(BEGIN)
  const answer = { value: first, own }
  let asked = 0
  /** A number is an HTTP status. */
  const respond = async (response: string | number | Error) => {
    if (response instanceof Error) throw response
    return Promise.resolve(
      typeof response === 'number' ? { status: response, text: '' } : { status: 200, text: response },
    )
  }
  const endpoint = {
    metrics: async () => {
      asked += 1
      return respond(answer.value)
    },
  }
  const rpc = { metrics: async () => respond(answer.own ?? '') }
  const collector = traffic({
    url: null,
    rpcUrl: 'http://rpc:8080',
    isRpcOfNode: own !== undefined,
    nativeAt: (url) => (url === 'http://rpc:8080/metrics' ? rpc : endpoint),
    clock,
    timing,
  })
  const polls = await runPolls(collector, clock, 'chain_traffic_')
  return { ...polls, answer, clock, asked: () => asked }
}

const SHOWN = {
  up: 1,
  'requests_total{eth_call}': 100,
  'requests_total{eth_getLogs}': 4,
  'requests_total{trace}': 3,
  // eth_chainId and eth_syncing
  'requests_total{other}': 7,
  'execution_seconds_total{eth_call}': 60.5,
  'execution_seconds_total{eth_getLogs}': 12,
  'execution_seconds_total{trace}': 11,
  'execution_seconds_total{other}': 0.009000000000000001,
  // Of the 107 calls and other requests: 50 + 5 + 2 within 10 ms, 10 more within 100 ms, 10 more within 1 s.
  'bounded_requests_total{10ms}': 57,
  'bounded_requests_total{100ms}': 10,
  'bounded_requests_total{1s}': 10,
  'bounded_requests_total{longer}': 30,
  'responses_total{2xx}': 94,
  'responses_total{4xx}': 2,
  'responses_total{5xx}': 0,
  active_requests: 4,
  websockets: 7,
}

describe('requests of the users of the RPC', () => {
  test('by method, duration and status, whatever host the clients name', async () => {
    const { shown, states } = await start(text(LINES, BEGIN - 2000))
    expect(shown()).toEqual(SHOWN)
    expect(states()).toEqual({ 'metrics of the RPC': 'answering' })
  })

  test('a collector that adds no unit and no time, and keeps the dots of OpenTelemetry', async () => {
    const { shown, next, answer } = await start(text(execution({ ...CALLS, within: [1, 1, 1, 1, 1] }, '')))
    answer.value = text([
      ...execution(CALLS, ''),
      '{"zephyr.rpc.request_duration_count","http.response.status_code"="503"} 6',
      '{"zephyr.ws.active_connections",job="crow"} 7',
    ])
    await next()
    expect(shown()).toEqual({
      up: 1,
      'requests_total{eth_call}': 100,
      'execution_seconds_total{eth_call}': 60.5,
      'bounded_requests_total{10ms}': 50,
      'bounded_requests_total{100ms}': 10,
      'bounded_requests_total{1s}': 10,
      'bounded_requests_total{longer}': 30,
      'responses_total{2xx}': 0,
      'responses_total{4xx}': 0,
      'responses_total{5xx}': 6,
      websockets: 7,
    })
  })

  test('series that the process before left behind are not added to those of the new one', async () => {
    const { shown } = await start(
      text(execution({ ...CALLS, method: 'eth_getLogs' }), BEGIN - 10_000) +
        text(execution({ method: 'eth_call', within: [1, 1, 1, 1, 1], sum: 0.5 }), BEGIN),
    )
    expect(shown()).toMatchObject({ 'requests_total{eth_call}': 1 })
    expect(shown()).not.toHaveProperty('requests_total{eth_getLogs}')
  })

  test('series of two processes without a time of each are not added', async () => {
    const [before, now] = ['1', '2'].map((version) =>
      execution(CALLS).map((line) => line.replace('{', `{service_version="${version}",`)),
    )
    const polls = await start(text(before ?? []))
    polls.answer.value = text([...(before ?? []), ...(now ?? [])])
    await polls.next()
    expect(polls.shown()).toEqual({})
    expect(polls.states()['metrics of the RPC']).toMatch(/^answering, with the metrics of several processes; set/)
    // The series of the process before have expired.
    polls.answer.value = text(now ?? [])
    await polls.next()
    polls.answer.value = text(execution({ ...CALLS, within: [10, 50, 60, 70, 132] }))
    await polls.next()
    expect(polls.shown()).toMatchObject({ up: 1, 'requests_total{eth_call}': 132 })
  })

  test('a sum that is not possible is unknown, also if each part is possible', async () => {
    const at = (address: string, value: number) => `zephyr_rpc_active_requests{server_address="${address}"} ${value}`
    const most = Number.MAX_SAFE_INTEGER
    const values = async (...parts: readonly number[]) => {
      const series = parts.map((part, index) => at(`${index}`, part))
      return (await start(text([...LINES.slice(0, 10), ...series], BEGIN))).shown()
    }
    expect((await values(most - 1, 1))['active_requests']).toBe(most)
    expect(await values(most, 1)).not.toHaveProperty('active_requests')
  })

  test('an empty label is no label', async () => {
    const lines = execution(CALLS).map((line) => line.replace('{', '{secondary="",'))
    const { shown } = await start(text(lines, BEGIN))
    expect(shown()).toMatchObject({ up: 1, 'requests_total{eth_call}': 100 })
  })

  test('series of one push that comes while the text is read are kept', async () => {
    const { shown } = await start(text(execution(CALLS), BEGIN - 2500) + text(LINES.slice(-3), BEGIN))
    expect(shown()).toMatchObject({ 'requests_total{eth_call}': 100, websockets: 7 })
  })
})

test.each(['18446744073709551615', '+Inf', '-1'])(
  'a series of %s is unknown, and the others are known',
  async (value) => {
    const { shown } = await start(
      text([...LINES, `zephyr_ws_active_connections{job="crow",server_address="b"} ${value}`], BEGIN),
    )
    const { websockets: _, ...others } = SHOWN
    expect(shown()).toEqual(others)
  },
)

describe('a collector that serves old metrics is not alive', () => {
  test('with timestamps: after 30 s', async () => {
    const { shown, states, next } = await start(text(LINES, BEGIN))
    await next(30_000)
    expect(shown()).toEqual(SHOWN)
    await next(5000)
    expect(shown()).toEqual({ up: 0 })
    expect(states()).toEqual({ 'metrics of the RPC': 'answering, with old metrics of the RPC' })
  })

  test('a time in the year 9999 is no proof that a value is current', async () => {
    const { shown, next } = await start(text(LINES, Date.UTC(9999, 11, 31)))
    expect(shown()).toEqual({})
    await next(35_000)
    expect(shown()).toEqual({})
  })

  test('without: after 30 s without a request, not even of the agent', async () => {
    const { shown, states, next, answer } = await start(text(execution({ ...CALLS, within: [1, 1, 1, 1, 1] })))
    // They may be those of an RPC that has stopped.
    expect(shown()).toEqual({})
    expect(states()).toEqual({ 'metrics of the RPC': 'answering; the metrics of the RPC have not changed yet' })
    answer.value = text(LINES)
    await next(5000)
    expect(shown()).toEqual(SHOWN)
    await next(30_000)
    expect(shown()).toEqual(SHOWN)
    await next(5000)
    expect(shown()).toEqual({ up: 0 })
    answer.value = text([...LINES, ...execution({ method: 'eth_blockNumber', within: [1, 1, 1, 1, 1], sum: 0.5 })])
    await next(5000)
    expect(shown()).toMatchObject({ up: 1, 'requests_total{eth_blockNumber}': 1 })
  })

  test('no collector, or no RPC that pushes to it: the rest is absent', async () => {
    const refused = new NoResponseError('refused', 'http://h.example', 'ECONNREFUSED')
    const { shown, states, next, answer } = await start(refused)
    expect(shown()).toEqual({ up: 0 })
    expect(states()['metrics of the RPC']).toMatch(/^refused: /)
    answer.value = text(['zephyr_total_uptime_us{job="devnet_crow"} 5'], BEGIN)
    await next()
    expect(shown()).toEqual({ up: 0 })
    expect(states()).toEqual({ 'metrics of the RPC': 'answering, with no metrics of the RPC' })
  })
})

describe('the RPC serves its own metrics', () => {
  /** As the exporter of the node's branch writes them. */
  const own = text(LINES.map((line) => line.replace('{', '{otel_scope_name="opentelemetry",')))

  test('they are current at the first reading, and the collector receives no request', async () => {
    const { shown, states, next, asked } = await start(text(['zephyr_ws_active_connections 99'], BEGIN), own)
    expect(shown()).toEqual(SHOWN)
    expect(states()).toEqual({ 'metrics of the RPC': 'answering' })
    // Nothing has changed for a minute.
    await next(60_000)
    expect(shown()).toEqual(SHOWN)
    expect(asked()).toBe(0)
  })

  test('an RPC without them: those of the collector, with its age; after an upgrade the own ones', async () => {
    const { shown, states, next, answer } = await start(text(LINES, BEGIN), 404)
    expect(shown()).toEqual(SHOWN)
    await next(35_000)
    expect(shown()).toEqual({ up: 0 })
    expect(states()).toEqual({ 'metrics of the RPC': 'answering, with old metrics of the RPC' })
    answer.own = own
    await next(5000)
    expect(shown()).toEqual(SHOWN)
  })

  test('a page of another program at the port of the RPC has no metrics of the RPC', async () => {
    const { shown, asked } = await start(text(LINES, BEGIN), 'zephyr_total_uptime_us 5\n')
    expect(shown()).toEqual(SHOWN)
    expect(asked()).toBe(1)
  })
})
