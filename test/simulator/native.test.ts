import { afterEach, describe, expect, test } from 'vitest'
import { createEndpoints, serveEndpoint } from '../../simulator/endpoints.ts'
import { renderNative, renderOtel } from '../../simulator/native.ts'
import type { SimulatedNode } from '../../simulator/subject.ts'
import { progressAt } from '../../simulator/consensus/statesync.ts'
import { eventually } from '../support/eventually.ts'
import { BEGIN, chain, consensusLog, play, playLines, saying, secondsOf } from './play.ts'

/** The value of the metric, without the name prefix; undefined if there is none. */
const valueIn = (text: string, name: string): number | undefined => {
  const found = new RegExp(`^zephyr_${name}\\{[^}]*\\} (\\S+)`, 'm').exec(text)
  return found ? Number(found[1]) : undefined
}
const EVENT = 'state_consensus_events_'
const own = (node: SimulatedNode, name: string): number => valueIn(renderNative(node), name) ?? -1
const otel = (node: SimulatedNode, name: string): number | undefined => valueIn(renderOtel(node), name)

/** The increase between two seconds of a scenario, by event. */
const grown = async (name: string, from: number, to: number) => {
  const { node, to: go } = await play(name)
  await go(from)
  const before = renderNative(node)
  await go(to)
  const after = renderNative(node)
  return (event: string): number => (valueIn(after, EVENT + event) ?? 0) - (valueIn(before, EVENT + event) ?? 0)
}

const MINUTE = [...chain.between(BEGIN + 30_000, BEGIN + 90_000)]
const BLOCKS = MINUTE.filter(({ kind }) => kind === 'block').length

describe('the metrics endpoint of consensus', () => {
  test('plain integers without timestamps, and three labels', async () => {
    const { node, to } = await play('healthy')
    await to(60)
    const { startedMs } = node.condition().services.bft
    const text = renderNative(node)
    expect(text).toContain(
      `# TYPE zephyr_total_uptime_us gauge\nzephyr_total_uptime_us{network="simulated",service_name="simulated_simulated",service_version="0.16.1"} ${(BEGIN + 60_000 - startedMs) * 1000}\n`,
    )
    expect(own(node, 'execution_ledger_block_num')).toBe(Number(chain.headAt(BEGIN + 60_000).seqNum))
    expect(own(node, 'triedb_migration_phase')).toBe(2)
    expect(text.split('\n').filter((line) => /[eE]\+|\d \d+$/.test(line))).toEqual([])
  })

  test.each([
    ['healthy', 30, { commit_block: BLOCKS, created_vote: BLOCKS, enter_new_round_qc: BLOCKS, rx_bad_state_root: 0 }],
    ['deadlock', 41, { commit_block: 0 }],
    ['not-voting', 30, { created_vote: 0, commit_block: BLOCKS }],
    ['execution-lagging', 31, { rx_execution_lagging: 60 }],
    ['bad-state-root', 30, { rx_bad_state_root: 12 }],
    // A wrong block is checked four times, and four rounds a minute time out.
    ['healthy-busy', 30, { rx_bad_state_root: 16, failed_ts_validation: 4, commit_block: BLOCKS }],
    // Votes are counted, although they are not sent.
    ['left-active-set', 30, { created_vote: BLOCKS }],
  ])('%s: events in the minute after second %i: %o', async (name, from, expected) => {
    const by = await grown(name, from, from + 60)
    expect(Object.fromEntries(Object.keys(expected).map((event) => [event, by(event)]))).toEqual(expected)
  })

  test('timeouts are those of the network, and while it is stalled about 0.9 a second', async () => {
    const healthy = await grown('healthy', 30, 90)
    expect(healthy('local_timeout')).toBe(healthy('enter_new_round_tc'))
    // 60 s are some four strides, each with one timeout.
    expect([4, 5]).toContain(healthy('enter_new_round_tc'))
    // 163.8 rounds of the network, every third of them; the head may stand a second before either end.
    expect([53, 54, 55, 56]).toContain((await grown('deadlock', 41, 101))('local_timeout'))
  })

  const DELAY = 'state_vote_delay_ready_after_timer_start'
  const TARGET = Number(chain.headAt(BEGIN).seqNum)
  test.each([
    ['deadlock', 29, { peer_disc_num_upstream_validators: 3 }],
    ['deadlock', 31, { peer_disc_num_upstream_validators: 1 }],
    ['deadlock', 36, { peer_disc_num_upstream_validators: 0 }],
    ['left-active-set', 29, { state_node_state_self_stake_bps: 480 }],
    ['left-active-set', 31, { state_node_state_self_stake_bps: 0 }],
    ['late-votes', 31, { [`${DELAY}_p50_ms`]: 270, [`${DELAY}_p90_ms`]: 630, [`${DELAY}_p99_ms`]: 900 }],
    ['isolated', 31, { wireauth_udp_state_transport_sessions: 2 }],
    ['healthy', 1, { statesync_last_target: 0, statesync_syncing: 0 }],
    // The blocks of a statesync are not commits.
    ['statesync', 90, { statesync_progress_estimate: Math.floor(TARGET / 2), [`${EVENT}commit_block`]: 0 }],
    ['statesync', 181, { [`${EVENT}trigger_state_sync`]: 1 }],
    // Not live, without a target, and requests that no peer answers.
    ['start-hangs', 90, { statesync_last_target: 0, statesync_syncing: 1, state_node_state_self_stake_bps: 0 }],
    ['start-hangs', 90, { state_blocksync_events_request_timeout: 60, [`${EVENT}trigger_state_sync`]: 0 }],
    ['start-hangs', 271, { statesync_syncing: 0, state_node_state_self_stake_bps: 480 }],
  ])('%s, second %i: %o', async (name, second, expected) => {
    const { node, to } = await play(name)
    await to(second)
    expect(Object.fromEntries(Object.keys(expected).map((metric) => [metric, own(node, metric)]))).toEqual(expected)
  })

  test('not-voting: votes stop in the log, too', async () => {
    const { node, to } = await play('not-voting')
    await to(160)
    const votes = saying(consensusLog(node), 'sending vote').map(secondsOf)
    expect(votes.some((second) => second < 30)).toBe(true)
    expect(votes.filter((second) => second > 30 && second < 150)).toEqual([])
    expect(votes.some((second) => second > 150)).toBe(true)
  })

  test('a restarted process counts from 0', async () => {
    const { node, to } = playLines('10s bft crashes SIGABRT', '20s bft starts')
    await to(21)
    expect(own(node, 'total_uptime_us')).toBe(1_000_000)
    expect(own(node, `${EVENT}commit_block`)).toBeLessThan(5)
  })
})

test('statesync-frozen: progress stops, resumes there, and ends later by the same time', async () => {
  const { node, to } = await play('statesync-frozen')
  const target = chain.headAt(BEGIN).seqNum
  const done = async (second: number): Promise<bigint> => {
    await to(second)
    return progressAt(chain, node.condition().statesync, node.now()).progress
  }
  const tenth = target / 10n
  expect([await done(30), await done(90), await done(149)]).toEqual([tenth, tenth, tenth])
  expect(await done(285)).toBe((target * 550n) / 1000n) // 30 and 135 of 300 seconds
  expect(node.heights.rpc(node.now())).toBe(target - 40_000n)
  await to(421)
  expect(node.heights.rpc(node.now())).toBe(chain.headAt(node.now()).seqNum)
  const log = consensusLog(node)
  expect(saying(log, 'starting up, syncing').map(secondsOf)).toEqual([1])
  expect(saying(log, 'done syncing').map(secondsOf).map(Math.round)).toEqual([420])
  const applied = saying(log, 'statesync client thread applied response').map(secondsOf)
  expect(applied.filter((second) => second > 30 && second < 150)).toEqual([])
  expect(applied.some((second) => second > 150)).toBe(true)
})

describe('the metrics endpoint of the OpenTelemetry collector', () => {
  test('floats with timestamps, and the metrics of the RPC', async () => {
    const { node, to } = await play('healthy')
    await to(60)
    const told = Math.floor((BEGIN + 60_000) / 1000) * 1000
    const { seqNum } = chain.headAt(told)
    const [first = '', ...rest] = String(seqNum).replace(/0+$/, '')
    expect(renderOtel(node)).toContain(
      `otel_scope_name="opentelemetry",otel_scope_version="",service_name="simulated_simulated",service_version="0.16.1"} ${first}.${rest.join('')}e+07 ${told}\n`,
    )
    expect(renderOtel(node)).toContain('\nzephyr_rpc_active_requests{')
  })

  test('the last values for a minute after consensus stops, then none', async () => {
    const { node, to } = await play('panic')
    await to(85)
    expect(otel(node, 'execution_ledger_block_num')).toBe(Number(chain.headAt(BEGIN + 30_000).seqNum))
    await to(91)
    expect(otel(node, 'execution_ledger_block_num')).toBeUndefined()
    expect(otel(node, 'rpc_active_requests')).toBe(0)
  })

  test('zombie-metrics: for hours if configured; frozen values change again', async () => {
    const { node, to } = await play('zombie-metrics')
    await to(31)
    const frozen = otel(node, 'total_uptime_us')
    await to(179)
    expect([otel(node, 'total_uptime_us'), own(node, 'total_uptime_us')]).toEqual([frozen, frozen])
    await to(182)
    expect((otel(node, 'total_uptime_us') ?? 0) - (frozen ?? 0)).toBe(152e6)
  })

  test('a collector started after consensus stopped has no values of it', async () => {
    const { node, to } = playLines('10s bft stops', '12s otelcol stops', '14s otelcol starts')
    await to(15)
    expect(otel(node, 'total_uptime_us')).toBeUndefined()
  })
})

describe('ports', () => {
  const stop = new AbortController()
  let shut = async (): Promise<void> => Promise.resolve()
  afterEach(async () => {
    stop.abort()
    await shut()
  })

  test('each is open while its service runs', async () => {
    const { node, clock, to } = playLines(
      '10s native vanishes',
      '20s otelcol stops',
      '30s otelcol starts',
      '30s native returns',
      '40s bft stops',
    )
    const endpoints = createEndpoints(node)
    const consensus = await serveEndpoint(endpoints.native, 0)
    const collector = await serveEndpoint(endpoints.otel, 0)
    const by = { clock, signal: stop.signal }
    const kept = Promise.all([consensus.keep(by), collector.keep(by)])
    shut = async () => {
      await kept
      await Promise.all([consensus.shut(), collector.shut()])
    }
    const open = async () => Promise.all([consensus.url, collector.url].map(status))
    for (const [second, expected] of [
      [1, [200, 200]],
      [11, ['refused', 200]],
      [21, ['refused', 'refused']],
      [31, [200, 200]],
      [41, ['refused', 200]],
    ] as const) {
      await to(second)
      await eventually(open, (seen) => seen.join() === expected.join())
    }
    expect((await fetch(`${collector.url}/`)).status).toBe(404)
  })

  const status = async (url: string): Promise<number | 'refused'> =>
    fetch(`${url}/metrics`).then(
      async (response) => {
        await response.text()
        return response.status
      },
      () => 'refused' as const,
    )
})
