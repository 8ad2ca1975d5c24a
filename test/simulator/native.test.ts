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

  test('healthy: each block is committed, entered and voted for, and timeouts are those of the network', async () => {
    const by = await grown('healthy', 30, 90)
    expect([by('commit_block'), by('created_vote'), by('enter_new_round_qc')]).toEqual([BLOCKS, BLOCKS, BLOCKS])
    expect(by('local_timeout')).toBe(by('enter_new_round_tc'))
    // 60 s are some four strides, each with one timeout.
    expect([4, 5]).toContain(by('enter_new_round_tc'))
    expect(by('rx_execution_lagging')).toBe(0)
  })

  test('deadlock: no upstream validators, then no commits and about 0.9 local timeouts a second', async () => {
    const { node, to } = await play('deadlock')
    const upstream: number[] = []
    for (const second of [29, 31, 36]) {
      await to(second)
      upstream.push(own(node, 'peer_disc_num_upstream_validators'))
    }
    expect(upstream).toEqual([3, 1, 0])
    const by = await grown('deadlock', 41, 101)
    expect(by('commit_block')).toBe(0)
    // 163.8 rounds of the network, every third of them; the head may stand a second before either end.
    expect([53, 54, 55, 56]).toContain(by('local_timeout'))
  })

  test('not-voting: votes stop, also in the log, and everything else continues', async () => {
    const by = await grown('not-voting', 30, 90)
    expect([by('created_vote'), by('commit_block')]).toEqual([0, BLOCKS])
    const { node, to } = await play('not-voting')
    await to(160)
    const votes = saying(consensusLog(node), 'sending vote').map(secondsOf)
    expect(votes.some((second) => second < 30)).toBe(true)
    expect(votes.filter((second) => second > 30 && second < 150)).toEqual([])
    expect(votes.some((second) => second > 150)).toBe(true)
  })

  test('execution-lagging, bad-state-root: one a second, one in five seconds', async () => {
    expect((await grown('execution-lagging', 31, 91))('rx_execution_lagging')).toBe(60)
    expect((await grown('bad-state-root', 30, 90))('rx_bad_state_root')).toBe(12)
  })

  test('healthy-busy: a wrong block is checked four times, and four a minute time out', async () => {
    const by = await grown('healthy-busy', 30, 90)
    expect([by('rx_bad_state_root'), by('failed_ts_validation'), by('commit_block')]).toEqual([16, 4, BLOCKS])
    expect((await grown('healthy', 30, 90))('rx_bad_state_root')).toBe(0)
  })

  test('left-active-set: no stake, and votes that are counted all the same; late-votes: the slowest in a hundred', async () => {
    const { node, to } = await play('left-active-set')
    await to(29)
    expect(own(node, 'state_node_state_self_stake_bps')).toBe(480)
    await to(31)
    expect(own(node, 'state_node_state_self_stake_bps')).toBe(0)
    expect((await grown('left-active-set', 30, 90))('created_vote')).toBe(BLOCKS)
    const late = await play('late-votes')
    await late.to(31)
    const delay = (of: string): number => own(late.node, `state_vote_delay_ready_after_timer_start_${of}_ms`)
    expect([delay('p50'), delay('p90'), delay('p99')]).toEqual([270, 630, 900])
  })

  test('isolated: two sessions, and the usual number of peers', async () => {
    const { node, to } = await play('isolated')
    await to(31)
    expect(own(node, 'wireauth_udp_state_transport_sessions')).toBe(2)
    expect(own(node, 'peer_disc_num_peers')).toBeGreaterThanOrEqual(340)
  })

  test('a restarted process counts from 0', async () => {
    const { node, to } = playLines('10s bft crashes SIGABRT', '20s bft starts')
    await to(21)
    expect(own(node, 'total_uptime_us')).toBe(1_000_000)
    expect(own(node, `${EVENT}commit_block`)).toBeLessThan(5)
  })

  test('statesync: 0 of 0 without one; its blocks are not commits', async () => {
    const { node, to } = await play('healthy')
    await to(1)
    expect([own(node, 'statesync_last_target'), own(node, 'statesync_syncing')]).toEqual([0, 0])
    const syncing = await play('statesync')
    await syncing.to(90)
    const target = Number(chain.headAt(BEGIN).seqNum)
    expect(own(syncing.node, 'statesync_progress_estimate')).toBe(Math.floor(target / 2))
    expect(own(syncing.node, `${EVENT}commit_block`)).toBe(0)
    await syncing.to(181)
    expect(own(syncing.node, `${EVENT}commit_block`)).toBeLessThan(5)
    expect(own(syncing.node, `${EVENT}trigger_state_sync`)).toBe(1)
  })

  test('start-hangs: not live, without a target, and requests that no peer answers', async () => {
    const { node, to } = await play('start-hangs')
    await to(90)
    expect([own(node, 'statesync_last_target'), own(node, 'statesync_syncing')]).toEqual([0, 1])
    expect(own(node, 'state_node_state_self_stake_bps')).toBe(0)
    expect(own(node, `${EVENT}trigger_state_sync`)).toBe(0)
    expect(own(node, 'state_blocksync_events_request_timeout')).toBe(60)
    await to(271)
    expect([own(node, 'statesync_syncing'), own(node, 'state_node_state_self_stake_bps')]).toEqual([0, 480])
    expect(node.heights.consensus(node.now())).toBe(chain.headAt(node.now()).seqNum)
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

test('format drift: every name changes', async () => {
  const { node, to } = await play('format-drift')
  await to(31)
  const names = [...renderNative(node).matchAll(/^zephyr_(\w+)\{/gm)].map(([, name = '']) => name)
  const usual = (await play('healthy')).node
  const before = [...renderNative(usual).matchAll(/^zephyr_(\w+)\{/gm)].map(([, name = '']) => name)
  expect(names).toHaveLength(before.length)
  expect(names.filter((name) => before.includes(name))).toEqual([])
})
