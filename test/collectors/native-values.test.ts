import { expect, test } from 'vitest'
import { currentNames } from '../../src/collectors/native/series.ts'
import { refused, start, text, UNPARSED } from './run-native.ts'

test.each([
  [0, 'legacy'],
  [1, 'dual'],
  [2, 'page_encoded'],
  [3, 'promoted'],
])('phase %i of the migration is %s', async (value, phase) => {
  const { shown, total, states } = await start({ native: text({ triedb_migration_phase: value }), otel: refused })
  const current = Object.entries(shown()).filter(([name, one]) => name.startsWith('migration_phase') && one === 1)
  expect(current).toEqual([[`migration_phase{${phase}}`, 1]])
  expect(total(UNPARSED)).toBe(0)
  expect(Object.keys(states()).join(' ')).not.toContain('unknown value')
})

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

test('0 until consensus has read the statistics of execution: unknown', async () => {
  const figures = { triedb_nodes_created_or_updated: 0, triedb_compaction_reads: 0, triedb_expire_reads: 0 }
  const { shown } = await start({ native: text(figures), otel: refused })
  expect(shown()).toEqual({ 'up{native}': 1, 'info{devnet,0.16.4}': 1 })
})

test('with the names of OpenTelemetry, in quotation marks', async () => {
  const dotted = '{"zephyr.total_uptime_us","service.version"="0.16.4",network="devnet"} 5e6\n'
  const { shown, total } = await start({ native: dotted, otel: refused })
  expect(shown()).toEqual({ 'up{native}': 1, 'info{devnet,0.16.4}': 1, uptime_seconds: 5 })
  expect(total(UNPARSED)).toBe(0)
})

test('a metric that was renamed is found by each of its names', () => {
  expect([...currentNames([{ name: 'peers', formerNames: ['num_peers', 'peer_count'] }, { name: 'votes' }])]).toEqual([
    ['peers', 'peers'],
    ['num_peers', 'peers'],
    ['peer_count', 'peers'],
    ['votes', 'votes'],
  ])
})
