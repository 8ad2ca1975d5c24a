import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Readings } from '../../src/collectors/index.ts'
import { createSampleIndex, type Sample } from '../../src/core/metric.ts'
import type { HealthInput } from '../../src/health/finding.ts'
import { summarize } from '../../src/health/summary.ts'
import { evaluateHealth } from '../../src/health/verdict.ts'
import { blockAge, BOUNDARIES, NOW, type Series } from './boundaries.ts'

const S = NOW / 1000

/** The input of a healthy node, with changed series. */
const input = (series: readonly Series[], readings: Readings = {}): HealthInput => {
  const healthy: readonly Series[] = [
    ['chain_rpc_up', 1],
    ['chain_rpc_block_number', 1000, { tag: 'latest' }],
    ['chain_rpc_block_timestamp_seconds', S - 1, { tag: 'latest' }],
    ['chain_block_difference', 0],
    ['chain_blocks_per_second', 2],
  ]
  const key = ([name, , labels]: Series): string => `${name}${JSON.stringify(labels ?? {})}`
  const all = new Map([...healthy, ...series].map((one) => [key(one), one]))
  const samples = [...all.values()].map(([name, value, labels = {}]): Sample => ({
    name,
    value,
    labels,
  }))
  return { at: NOW, prefix: 'chain', known: createSampleIndex(samples), collectors: [], readings }
}

const found = (series: readonly Series[]): readonly string[] =>
  evaluateHealth(input(series)).findings.map(({ severity, says }) => `${severity}: ${says}`)

test('a healthy node', () => {
  expect(found([])).toEqual([])
  expect(evaluateHealth(input([]))).toMatchObject({ word: 'OK', exitCode: 0 })
})

describe.each(BOUNDARIES)('$name', ({ at, healthy, bad, says }) => {
  test(`no finding at ${healthy}`, () => {
    expect(found(at(healthy))).toEqual([])
  })
  test(`at ${bad}: ${says}`, () => {
    expect(found(at(bad))).toContain(says)
  })
})

describe('rounds that this node led and that timed out', () => {
  const turns = (blocks: number, timeouts: number, network: number): readonly Series[] => [
    ['chain_duty_slots', blocks, { result: 'block' }],
    ['chain_duty_slots', timeouts, { result: 'timeout' }],
    ['chain_duty_timeout_ratio', timeouts / (blocks + timeouts), { scope: 'own' }],
    ['chain_duty_timeout_ratio', network, { scope: 'network' }],
  ]
  test('are a finding if they exceed chance and the network has few', () => {
    // 8 of 21 are 38 %; the square roots differ by 0.46, and chance explains 1.5 / sqrt(21) = 0.33.
    expect(found(turns(13, 8, 0.025))).toEqual(['warning: 38% of the last 21 rounds that this node led timed out'])
  })
  test.each([
    ['too few rounds', turns(12, 7, 0.025)],
    ['a network that has many', turns(13, 8, 0.031)],
    // 2 of 25 are 8 %: 0.28 - 0.16 is less than 1.5 / sqrt(25).
    ['chance', turns(23, 2, 0.025)],
    ['an unknown share of the network', turns(13, 8, 0.025).slice(0, 3)],
  ])('are none with %s', (_, series) => {
    expect(found(series)).toEqual([])
  })
})

describe('causes and consequences', () => {
  const down = (service: string): readonly Series[] => [
    ['chain_service_expected', 1, { service }],
    ['chain_service_active', 0, { service }],
  ]
  test('a service that is down explains missing blocks and an RPC that does not answer', () => {
    const series = [...down('bft'), blockAge(500), ['chain_rpc_up', 0]] as const
    expect(found(series)).toEqual(['critical: chain-bft does not run'])
  })
  test('an auxiliary service is a warning and explains nothing', () => {
    expect(found([...down('otelcol'), blockAge(500)])).toEqual([
      'critical: no new block for 8 min',
      'warning: chain-otelcol does not run',
    ])
  })
  test('statesync explains the rest and is only a warning', () => {
    const series: readonly Series[] = [
      ['chain_native_statesync_active', 1],
      ['chain_rpc_up', 0],
      ['chain_blocksync_window_remaining_blocks', 0],
      ['chain_status_statesync_progress_ratio', 0.5],
      blockAge(50_000),
    ]
    expect(found(series)).toEqual([
      'warning: statesync is under way, about 50% done; the node answers no requests until it ends',
    ])
  })
  const heard: Series = ['chain_agent_journal_last_entry_timestamp_seconds', S - 1, { service: 'ledger-tail' }]
  const old: readonly Series[] = [blockAge(45), ['chain_block_difference', 120]]
  const isBehind = 'critical: the node is about 120 blocks behind the network'
  const stalled = 'critical: no new block for 45 s'
  test.each<readonly [string, readonly Series[], string]>([
    ['the RPC grew', [['chain_rpc_last_advance_timestamp_seconds', S - 2]], isBehind],
    ['the ledger continues, and blocks are committed', [heard, ['chain_consensus_committing', 1]], isBehind],
    // ledger-tail was restarted, and logs old blocks.
    ['the ledger stream has entries, and nothing is committed', [heard, ['chain_consensus_committing', 0]], stalled],
    ['the RPC height increased a minute ago', [['chain_rpc_last_advance_timestamp_seconds', S - 60]], stalled],
    ['no source reports a new one', [], stalled],
  ])('old blocks, %s', (_, series, says) => {
    expect(found([...old, ...series])).toEqual([says])
  })
  test('height and age are from one block', () => {
    const series: readonly Series[] = [
      blockAge(60),
      ['chain_ledger_seq_num', 1200, { event: 'proposed' }],
      ['chain_ledger_block_timestamp_seconds', S - 2, { event: 'proposed' }],
    ]
    const facts = summarize(input(series))
    expect(facts.find(({ label }) => label === 'chain')?.value).toBe('block 1,200, 2 s old, level with the network')
  })
  test('a single RPC timeout is a warning', () => {
    const rpc = { up: false, reason: 'timeout', detail: 'none within 3s' } as const
    const { findings } = evaluateHealth(input([['chain_rpc_up', 0]], { rpc }))
    expect(findings.map(({ severity, says }) => `${severity}: ${says}`)).toContain(
      'warning: the RPC did not answer in time',
    )
  })
  test('an RPC that does not answer while services run', () => {
    const says = 'critical: the RPC does not answer'
    expect(found([['chain_rpc_up', 0]])).toContain(says)
    const runs: Series = ['chain_service_active', 1, { service: 'rpc' }]
    expect(found([['chain_rpc_up', 0], runs])).toContain(`${says}, though its service runs`)
  })
  test('neither systemd nor an RPC: no node, whatever else is missing', () => {
    const nowhere: HealthInput = {
      at: NOW,
      prefix: null,
      collectors: [],
      readings: {},
      known: createSampleIndex([
        { name: 'chain_rpc_up', value: 0, labels: {} },
        {
          name: 'chain_key_file_state',
          value: 1,
          labels: { key: 'secp', kind: 'keystore', state: 'missing' },
        },
      ]),
    }
    expect(evaluateHealth(nowhere).findings.map(({ says }) => says)).toEqual([
      'there is no node on this host, or none that this user can see',
    ])
  })
  test('no source of blocks: unknown, not healthy', () => {
    const nothing: HealthInput = {
      at: NOW,
      prefix: null,
      known: createSampleIndex([]),
      collectors: [],
      readings: {},
    }
    expect(evaluateHealth(nothing)).toMatchObject({
      word: 'UNKNOWN',
      sentence: 'whether the chain advances is unknown.',
      exitCode: 2,
    })
  })
})

describe('maintenance', () => {
  const announced = (until: number): Readings => ({
    maintenance: { reason: 'upgrade', until: new Date(until).toISOString(), note: null },
  })
  const exposed: Series = ['chain_host_port_exposed', 1, { port: '8080' }]

  test('explains findings about the work of the node', () => {
    expect(evaluateHealth(input([blockAge(90)], announced(NOW + 300_000)))).toMatchObject({
      word: 'MAINTENANCE',
      sentence: 'upgrade, 5 min left; no new block for 1 min.',
      exitCode: 0,
    })
  })
  test('does not explain an open port', () => {
    expect(evaluateHealth(input([blockAge(90), exposed], announced(NOW + 300_000)))).toMatchObject({
      word: 'WARNING',
      sentence: 'port 8080 listens on every address.',
      exitCode: 1,
    })
  })
  test('ends by itself', () => {
    expect(evaluateHealth(input([blockAge(90)], announced(NOW - 1)))).toMatchObject({
      word: 'CRITICAL',
    })
  })
})

test('a finding named after an alert has its runbook', () => {
  const pages = new Set(readdirSync(new URL('../../docs/runbooks', import.meta.url)).map((file) => file.slice(0, -3)))
  const names = BOUNDARIES.flatMap(({ at, bad }) => evaluateHealth(input(at(bad))).findings.map(({ name }) => name))
  expect(names.length).toBeGreaterThanOrEqual(BOUNDARIES.length)
  expect(names.filter((name) => !pages.has(name))).toEqual([])
})
