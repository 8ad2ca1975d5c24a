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

const start = async (first: string | Error) => {
  const clock = manualClock(BEGIN)
  const answer = { value: first }
  const collector = traffic({
    endpoint: {
      metrics: () =>
        answer.value instanceof Error
          ? Promise.reject(answer.value)
          : Promise.resolve({ status: 200, text: answer.value }),
    },
    clock,
    timing,
  })
  const polls = await runPolls(collector, clock, 'chain_traffic_')
  return { ...polls, answer, clock }
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

  test('without timestamps, what two processes have is unknown, also if only one of them has the method', async () => {
    const old = [...execution({ method: 'eth_getLogs', within: [1, 1, 1, 1, 5_000_000], sum: 9 }), ...LINES.slice(-9)]
    const first = old.map((line) => line.replace('{', '{service_version="0.16.4",'))
    const running = (calls: number) =>
      execution({ ...CALLS, within: [1, 1, 1, 1, calls] }).map((line) =>
        line.replace('{', '{service_version="0.17.0",'),
      )
    const { shown, states, next, answer } = await start(text([...first, ...running(131)]))
    answer.value = text([...first, ...running(132)])
    await next()
    // The number of executions is of both, and all else of one process.
    expect(shown()).toEqual({
      up: 1,
      'responses_total{2xx}': 94,
      'responses_total{4xx}': 2,
      'responses_total{5xx}': 0,
      active_requests: 4,
      websockets: 7,
    })
    expect(states()['metrics of the RPC']).toMatch(/more than one process/)
  })

  test('the same series twice is unknown', async () => {
    const { shown } = await start(text([...LINES, 'zephyr_ws_active_connections{job="crow"} 8'], BEGIN))
    const { websockets: _, ...others } = SHOWN
    expect(shown()).toEqual(others)
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
    const { shown } = await start(text([...LINES, `zephyr_ws_active_connections{job="b"} ${value}`], BEGIN))
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
    const { shown, states, next, answer } = await start(
      new NoResponseError('refused', 'http://h.example', 'ECONNREFUSED'),
    )
    expect(shown()).toEqual({ up: 0 })
    expect(states()['metrics of the RPC']).toMatch(/^refused: /)
    answer.value = text(['zephyr_total_uptime_us{job="devnet_crow"} 5'], BEGIN)
    await next()
    expect(shown()).toEqual({ up: 0 })
    expect(states()).toEqual({ 'metrics of the RPC': 'answering, with no metrics of the RPC' })
  })
})
