import { describe, expect, test } from 'vitest'
import { native } from '../../src/collectors/native/collector.ts'
import { NoResponseError } from '../../src/sources/http.ts'
import { manualClock } from '../support/manual-clock.ts'
import { recording } from './recording.ts'
import { runPolls } from './run-collector.ts'

const BEGIN = 1_780_000_000_000
const timing = { interval: 10_000, timeout: 5000 }
const refused = new NoResponseError('refused', 'http://u:pw@h.example/KEY?token=T', 'ECONNREFUSED')
const labels = 'network="devnet",service_name="devnet_crow",service_version="0.16.4"'

/** Metrics as consensus serves them or, with a timestamp, as an OpenTelemetry collector does. */
const text = (values: Readonly<Record<string, number>>, timestampMs?: number): string =>
  Object.entries(values)
    .map(([name, value]) => `zephyr_${name}{${labels}} ${value}${time(timestampMs)}\n`)
    .join('')
const time = (ms?: number): string => (ms === undefined ? '' : ` ${ms}`)
const up = (seconds: number) => ({ total_uptime_us: seconds * 1e6 })

type HttpResponse = string | number | Error
interface Answers {
  native: HttpResponse
  otel: HttpResponse
}

const start = async (answers: Answers, namePrefix: string | null = null) => {
  const clock = manualClock(BEGIN)
  const record = recording()
  const requests: string[] = []
  const collector = native({
    url: 'native',
    fallbackUrl: 'otel',
    namePrefix,
    readPrefix: () => Promise.resolve({ word: 'zephyr', from: 'systemd' }),
    nativeAt: (url) => ({
      metrics: () => {
        requests.push(url)
        const answer = answers[url === 'otel' ? 'otel' : 'native']
        if (answer instanceof Error) return Promise.reject(answer)
        if (typeof answer === 'number') return Promise.resolve({ status: answer, text: 'no' })
        return Promise.resolve({ status: 200, text: answer })
      },
    }),
    recorder: record.recorder,
    clock,
    timing,
  })
  return { ...record, requests, clock, ...(await runPolls(collector, clock, 'chain_native_')) }
}

const FALLBACK = { 'up{native}': 0, 'up{otel}': 1, frozen: 0 }
const UNPARSED = 'chain_agent_lines_total{format=prometheus,result=unparsed}'

/** Metrics of the node with a value, the series that it is exported as, if it is, and the value of that, if it is another. */
const METRICS: readonly (readonly [name: string, value: number, series?: string, exported?: number])[] = [
  ['peer_disc_num_peers', 351, 'peers'],
  ['peer_disc_num_upstream_validators', 3, 'upstream_validators'],
  ['peer_disc_num_downstream_fullnodes', 5, 'downstream_nodes'],
  ['wireauth_udp_state_total_sessions', 29],
  ['wireauth_udp_state_transport_sessions', 27, 'sessions{transport}'],
  ['wireauth_udp_state_initiating_sessions', 2, 'sessions{initiating}'],
  ['wireauth_tcp_state_total_sessions', 4],
  ['statesync_syncing', 1, 'statesync_active'],
  ['statesync_progress_estimate', 7_300_000, 'statesync_progress_block'],
  ['statesync_last_target', 7_400_000, 'statesync_target_block'],
  ['state_vote_delay_ready_after_timer_start_p50_ms', 40, 'vote_delay_seconds{50}', 0.04],
  ['state_vote_delay_ready_after_timer_start_p90_ms', 95, 'vote_delay_seconds{90}', 0.095],
  ['state_vote_delay_ready_after_timer_start_p99_ms', 812, 'vote_delay_seconds{99}', 0.812],
  ['state_node_state_self_stake_bps', 480],
  ['triedb_migration_phase', 1, 'migration_phase{dual}'],
  ['state_consensus_events_commit_block', 11, 'events_total{committed_block}'],
  ['state_consensus_events_local_timeout', 12, 'events_total{local_timeout}'],
  ['state_consensus_events_created_vote', 13, 'events_total{vote_created}'],
  ['state_consensus_events_enter_new_round_qc', 14, 'events_total{round_entered_by_qc}'],
  ['state_consensus_events_enter_new_round_tc', 15, 'events_total{round_entered_by_tc}'],
  ['state_consensus_events_rx_execution_lagging', 16, 'events_total{execution_lagging}'],
  ['state_consensus_events_rx_bad_state_root', 17, 'events_total{bad_state_root}'],
  ['state_consensus_events_rx_base_fee_error', 18, 'events_total{base_fee_error}'],
  ['state_consensus_events_trigger_state_sync', 19, 'events_total{statesync_target_set}'],
  ['state_consensus_events_created_qc', 20],
  ['state_consensus_events_created_tc', 21],
  ['state_consensus_events_created_nec', 22],
  ['state_consensus_events_creating_proposal', 23, 'events_total{proposal_created}'],
  ['state_consensus_events_handle_proposal', 24],
  ['state_consensus_events_vote_received', 25, 'events_total{vote_received}'],
  ['state_consensus_events_remote_timeout_msg', 26, 'events_total{remote_timeout}'],
  ['state_consensus_events_failed_ts_validation', 27, 'events_total{timestamp_rejected}'],
  ['state_consensus_events_failed_txn_validation', 28, 'events_total{transactions_rejected}'],
  ['state_validation_errors_invalid_version', 29, 'events_total{version_rejected}'],
  ['state_blocksync_events_self_headers_request', 30, 'events_total{blocksync_requested}'],
  ['state_blocksync_events_request_timeout', 31, 'events_total{blocksync_timeout}'],
  ['state_blocksync_events_request_failed_no_peers', 32, 'events_total{blocksync_no_peers}'],
  ['state_blocksync_events_headers_validation_failed', 33, 'events_total{blocksync_invalid_headers}'],
  ['triedb_disk_used_bytes', 1_400_000_000_000, 'database_used_bytes'],
  ['bft_txpool_pool_tracked_txs', 1234, 'pool_transactions'],
  ['bft_raptorcast_udp_primary_broadcast_latency_p99_ms', 85, 'broadcast_latency_seconds{primary}', 0.085],
  ['bft_raptorcast_udp_secondary_broadcast_latency_p99_ms', 140, 'broadcast_latency_seconds{secondary}', 0.14],
  ['executor_ledger_total_exec_us', 2_500_000, 'executor_seconds_total{ledger}', 2.5],
  ['state_total_update_us', 7_000_000, 'executor_seconds_total{state}', 7],
]

describe('metrics of consensus, in base units', () => {
  test('peers, votes, stake, statesync, database and events', async () => {
    const figures = Object.fromEntries(METRICS.map(([name, value]) => [name, value]))
    const { shown } = await start({ native: text({ ...up(90_061.5), ...figures }), otel: refused })
    expect(shown()).toEqual({
      ...Object.fromEntries(
        METRICS.flatMap(([, value, series, exported = value]) => (series === undefined ? [] : [[series, exported]])),
      ),
      'up{native}': 1,
      'info{devnet,0.16.4}': 1,
      uptime_seconds: 90_061.5,
      start_active: 0,
      'migration_phase{legacy}': 0,
      'migration_phase{page_encoded}': 0,
      'migration_phase{promoted}': 0,
    })
  })

  test('0 of 0 is not a statesync; the sentinel and NaN are unknown', async () => {
    const zeros = { statesync_syncing: 0, statesync_progress_estimate: 0, statesync_last_target: 0 }
    const nan = 'zephyr_state_node_state_self_stake_bps NaN\n'
    const { shown } = await start({ native: text({ ...zeros, peer_disc_num_peers: 2 ** 64 }) + nan, otel: refused })
    expect(shown()).toEqual({ 'up{native}': 1, 'info{devnet,0.16.4}': 1, start_active: 0, statesync_active: 0 })
  })

  test.each([
    ['a start has no target', 1, 0, { start_active: 1, statesync_active: 0 }],
    ['a statesync has one', 1, 9, { start_active: 0, statesync_active: 1 }],
    ['a live node keeps its last one', 0, 9, { start_active: 0, statesync_active: 0, stake_ratio: 0.048 }],
    ['without a target it is unknown which of both', 1, undefined, {}],
  ])('%s; the stake is 0 until consensus is live', async (...[, statesync_syncing, target, expected]) => {
    const known = { statesync_syncing, ...(target !== undefined && { statesync_last_target: target }) }
    const { shown } = await start({ native: text({ ...known, state_node_state_self_stake_bps: 480 }), otel: refused })
    const states = Object.entries(shown()).filter(([name]) => /_active$|^stake/.test(name))
    expect(Object.fromEntries(states)).toEqual(expected)
  })

  test('with the configured prefix of metric names', async () => {
    const { shown } = await start({ native: 'other_total_uptime_us 5e6\n', otel: refused }, 'other')
    expect(shown()).toEqual({ 'up{native}': 1, uptime_seconds: 5 })
  })
})

describe('hostile values', () => {
  test('an integer that a double does not represent exactly is absent', async () => {
    const inexact = 'zephyr_total_uptime_us 1e6\nzephyr_state_peers 9007199254740993\nzephyr_bft_x 1\n'
    const { shown } = await start({ native: inexact, otel: 404 })
    expect(Object.entries(shown()).filter(([, value]) => !Number.isSafeInteger(value))).toEqual([])
  })

  test('labels are short, and without control characters', async () => {
    const version = String.raw`1.2\n` + `\u001B[31m3${'x'.repeat(300)}`
    const { shown } = await start({ native: `zephyr_total_uptime_us{service_version="${version}"} 1\n`, otel: 404 })
    expect(shown()).toHaveProperty([`info{,1.2 3${'x'.repeat(95)}}`], 1)
  })
})

describe('the endpoint', () => {
  test('of consensus is read first: the other is not read', async () => {
    const { shown, requests, states } = await start({ native: text(up(1)), otel: text(up(9)) })
    expect(shown()).toMatchObject({ 'up{native}': 1, uptime_seconds: 1 })
    expect(requests).toEqual(['native'])
    expect(states()).toEqual({ 'metrics at native': 'answering' })
  })

  test.each([
    ['refused', refused, 'refused: could not request http://h.example/…: no connection (ECONNREFUSED)'],
    ['404', 404, 'http: HTTP status 404 (no)'],
    ['500', 500, 'http: HTTP status 500 (no)'],
    ['a page', '<html><body>Sign in</body></html>\n', /^invalid: could not parse /],
    ['a text that is too long', 'a 1\n'.repeat(60_000), /^invalid: .*60000 lines at most/],
    ['nothing', '', 'answering, with no metrics of consensus'],
    ['others', 'zephyr_rpc_active_requests 1\n', 'answering, with no metrics of consensus'],
    ['another prefix', 'other_total_uptime_us 1\n', /^no metric names with the prefix zephyr, but with other: set nat/],
  ])('%s: the fallback is read', async (_, answer, state) => {
    const answers: Answers = { native: answer, otel: text(up(7), BEGIN) }
    const { shown, states, next } = await start(answers)
    expect(shown()).toEqual({ ...FALLBACK, 'info{devnet,0.16.4}': 1, uptime_seconds: 7 })
    expect(states()['metrics at native']).toMatch(state)
    expect(states()['metrics at otel']).toBe('answering')
    answers.otel = ''
    await next()
    expect(shown()).toEqual({ 'up{native}': 0, 'up{otel}': 0 })
    expect(JSON.stringify(states())).not.toMatch(/pw|KEY|token/)
  })
})

describe('values that do not change are absent', () => {
  test('by the uptime: after three seconds, until it increases again', async () => {
    const answers: Answers = { native: text(up(5)), otel: refused }
    const { shown, next, states } = await start(answers)
    expect(shown()).not.toHaveProperty('frozen')
    await next()
    expect(shown()).toEqual({ 'up{native}': 1, frozen: 1 })
    expect(states()).toMatchObject({ 'metrics of consensus': 'not changing' })
    answers.native = text(up(15))
    await next()
    expect(shown()).toMatchObject({ frozen: 0, uptime_seconds: 15 })
  })

  test('by the work of the main loop: an uptime that another thread computes proves nothing', async () => {
    const answers: Answers = { native: text({ ...up(5), state_total_update_us: 40_000 }), otel: refused }
    const { shown, next } = await start(answers)
    answers.native = text({ ...up(15), state_total_update_us: 40_000 })
    await next()
    expect(shown()).toEqual({ 'up{native}': 1, frozen: 1 })
    answers.native = text({ ...up(25), state_total_update_us: 40_001 })
    await next()
    expect(shown()).toMatchObject({ frozen: 0, uptime_seconds: 25 })
  })

  test('the values of a restarted process change, with counters from 0', async () => {
    const event = 'state_consensus_events_commit_block'
    const answers: Answers = { native: text({ ...up(900), [event]: 2000 }), otel: refused }
    const { shown, next } = await start(answers)
    answers.native = text({ ...up(3), [event]: 1 })
    await next()
    expect(shown()).toMatchObject({ frozen: 0, 'events_total{committed_block}': 1 })
  })

  test('by the timestamps: at more than 30 seconds, whatever the uptime is', async () => {
    const answers: Answers = { native: refused, otel: text(up(5), BEGIN) }
    const { shown, next } = await start(answers)
    expect(shown()).toMatchObject({ frozen: 0, uptime_seconds: 5 })
    answers.otel = text(up(6), BEGIN - 20_000) // 30 s old at the next poll
    await next()
    expect(shown()).toMatchObject({ frozen: 0, uptime_seconds: 6 })
    answers.otel = text(up(7), BEGIN - 10_001)
    await next()
    expect(shown()).toEqual({ 'up{native}': 0, 'up{otel}': 1, frozen: 1 })
  })

  test('a time in the year 9999 is no proof that a value is current, and does not make the others old', async () => {
    const never = Date.UTC(9999, 11, 31)
    const { shown, next } = await start({ native: refused, otel: text(up(5), never) })
    expect(shown()).toEqual({ 'up{native}': 0, 'up{otel}': 1 })
    await next()
    expect(shown()).toEqual({ 'up{native}': 0, 'up{otel}': 1, frozen: 1 })
    const both = await start({ native: refused, otel: text(up(5), BEGIN) + text({ peer_disc_num_peers: 8 }, never) })
    expect(both.shown()).toMatchObject({ frozen: 0, uptime_seconds: 5 })
  })

  test.each([
    ['an uptime since 1970', { total_uptime_us: 1_780_000_000e6 }, 'uptime_seconds'],
    ['a stake of more than all', { ...up(5), state_node_state_self_stake_bps: 10_001 }, 'stake_ratio'],
    ['a stake that was never set', { ...up(5), state_node_state_self_stake_bps: 2 ** 64 }, 'stake_ratio'],
  ])('%s is unknown', async (_, figures, name) => {
    const { shown } = await start({ native: text({ ...figures, peer_disc_num_peers: 8 }), otel: refused })
    expect(shown()).not.toHaveProperty(name)
    expect(shown()).toMatchObject({ 'up{native}': 1, peers: 8 })
  })

  test('a collector without timestamps: absent until the values have changed', async () => {
    const answers: Answers = { native: refused, otel: text(up(5)) }
    const { shown, next } = await start(answers)
    expect(shown()).toEqual({ 'up{native}': 0, 'up{otel}': 1 })
    answers.otel = text(up(15))
    await next()
    expect(shown()).toMatchObject({ frozen: 0, uptime_seconds: 15 })
    answers.native = text(up(25))
    await next()
    // Values from before a poll that did not read it do not prove a change.
    answers.native = refused
    answers.otel = text(up(26))
    await next()
    expect(shown()).toEqual({ 'up{native}': 0, 'up{otel}': 1 })
  })

  test('of two versions at one collector the newest is used, and what only the old one had is absent', async () => {
    const old = text({ ...up(900), peer_disc_num_peers: 8 }, BEGIN - 31_000)
    const now = text(up(4), BEGIN).replaceAll('0.16.4', '0.17.0')
    const { shown } = await start({ native: refused, otel: old + now })
    expect(shown()).toEqual({ ...FALLBACK, 'info{devnet,0.17.0}': 1, uptime_seconds: 4 })
  })

  test('the version is unknown if there are two without a timestamp', async () => {
    const { shown } = await start({ native: text(up(4)) + text(up(4)).replaceAll('0.16.4', '0.17.0'), otel: refused })
    expect(shown()).toMatchObject({ 'info{devnet,}': 1 })
  })

  test('two different values with the same timestamp are unknown', async () => {
    const { shown } = await start({ native: text(up(4)) + text(up(5)), otel: refused })
    expect(shown()).toEqual({ 'up{native}': 1, 'info{devnet,0.16.4}': 1 })
  })
})

test('unparsed lines are counted, and reported once an hour', async () => {
  const answers: Answers = { native: text(up(1)), otel: refused }
  const { total, states, next } = await start(answers)
  expect(total(UNPARSED)).toBe(0)
  answers.native = `${text(up(11))}zephyr_peers many\nzephyr_more more\n`
  await next()
  expect(total(UNPARSED)).toBe(2)
  expect(states()['metrics, unparsed']).toContain('input: zephyr_peers many')
})

test.each([...['legacy', 'dual', 'page_encoded', 'promoted'].entries()])(
  'phase %i of the migration is %s',
  async (value, phase) => {
    const { shown, total, states } = await start({ native: text({ triedb_migration_phase: value }), otel: refused })
    const current = Object.entries(shown()).filter(([name, one]) => name.startsWith('migration_phase') && one === 1)
    expect(current).toEqual([[`migration_phase{${phase}}`, 1]])
    expect(total(UNPARSED)).toBe(0)
    expect(Object.keys(states()).join(' ')).not.toContain('unknown value')
  },
)

test('a new phase is absent, logged once and counted at each poll', async () => {
  const figures = { triedb_migration_phase: 4, statesync_syncing: 2 }
  const { shown, total, states, next } = await start({ native: text(figures), otel: refused })
  expect(shown()).toEqual({ 'up{native}': 1, 'info{devnet,0.16.4}': 1 })
  const unknown = {
    'unknown value, migration phase': '4 (expected 0, 1, 2, 3)',
    'unknown value, statesync active': '2 (expected 0, 1)',
  }
  expect(states()).toMatchObject(unknown)
  await next()
  expect(states()).toMatchObject(unknown)
  expect(total(UNPARSED)).toBe(4)
})

test('with the names of OpenTelemetry, in quotation marks', async () => {
  const dotted = '{"zephyr.total_uptime_us","service.version"="0.16.4",network="devnet"} 5e6\n'
  const { shown, total } = await start({ native: dotted, otel: refused })
  expect(shown()).toEqual({ 'up{native}': 1, 'info{devnet,0.16.4}': 1, uptime_seconds: 5 })
  expect(total(UNPARSED)).toBe(0)
})
