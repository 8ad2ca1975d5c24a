import { describe, expect, test } from 'vitest'
import { createOwnKey } from '../../src/collectors/shared/node-state.ts'
import { status } from '../../src/collectors/status/collector.ts'
import { manualClock } from '../support/manual-clock.ts'
import { recording } from './recording.ts'
import { runPolls } from './run-collector.ts'

const KEY = `02${'5e'.repeat(32)}`
const report = (consensus: string, more = ''): string => `### Chain Node Status
hostname: node-7
date: Sun Mar  1 10:00:00 AM UTC 2026
uptime: 1d 02h 03m 04s
version: 0.13.1
config:
  network: testnet
  chain: chain_testnet
  chainId: 10143
  secpPublicKey: ${KEY}
services:
  chain-bft: running
  chain-execution: exited
  chain-rpc:
consensus:
${consensus}
rpc:
  status: active
  blockNumber: 900
${more}`
const HEALTHY =
  '  status: in-sync\n  mode: live\n  blockNumber: 905\n  blockNumberFromExternal: 912\n  blockDifference: 7'

const watch = async (text: string, hasNoReference = false) => {
  const clock = manualClock()
  const { recorder, total } = recording()
  const ownKey = createOwnKey(null)
  const collector = status({
    readStatus: () => Promise.resolve(text),
    recorder,
    ownKey,
    hasNoReference,
    timing: { interval: 300_000, timeout: 60_000 },
  })
  const { shown, states } = await runPolls(collector, clock)
  const value = (name: string, label?: string): number | undefined =>
    shown()[label === undefined ? name : `${name}{${label}}`]
  return { value, ownKey, total, states }
}

describe('only the healthy value is healthy, and no value is unknown', () => {
  test.each([
    ['  status: in-sync\n  mode: live', 1, 1],
    ['  status: syncing\n  mode: replay', 0, 0],
    ['  status:\n  mode: N/A', undefined, 0],
    ['  epoch: 3', undefined, undefined],
  ])('%j', async (consensus, inSync, live) => {
    const { value } = await watch(report(consensus))
    expect([value('status_in_sync'), value('status_live')]).toEqual([inSync, live])
  })
})

test('heights of sections with the same key are separate', async () => {
  const { value } = await watch(report(HEALTHY))
  const heights = ['block_number', 'external_block_number', 'rpc_block_number', 'block_difference']
  expect(heights.map((name) => value(`status_${name}`))).toEqual([905, 912, 900, 7])
  expect(value('status_service_running', 'bft')).toBe(1)
  expect(value('status_service_running', 'execution')).toBe(0)
  expect(value('status_service_running', 'rpc')).toBeUndefined()
  expect(value('status_uptime_seconds')).toBe(93_784) // 86400 + 7200 + 180 + 4
})

test('its external height is used only if no reference is configured', async () => {
  expect((await watch(report(HEALTHY))).value('block_difference')).toBeUndefined()
  expect((await watch(report(HEALTHY), true)).value('block_difference')).toBe(7)
  expect((await watch(report('  mode: live'), true)).value('block_difference')).toBeUndefined()
})

test('it reports the own key; a statesync without a target has no metrics', async () => {
  const { ownKey, value } = await watch(report(HEALTHY, 'statesync:\n  percentage: 0%\n  progress: 0\n  target: 0\n'))
  expect(ownKey.get()).toBe(KEY)
  expect(value('status_statesync_target_block')).toBeUndefined()
  expect(value('status_statesync_progress_ratio')).toBeUndefined()
})

test('the times of the cleanup are counted from the time of the report', async () => {
  const cleanup = 'services:\n  chain-cruft:\n    previous: 48min ago\n    next: 12min left\n'
  const { value } = await watch(`### Chain Node Status\nhostname: node-7\n${cleanup}`)
  // The clock of the test is at 1000 s.
  expect(value('status_cleanup_last_timestamp_seconds')).toBe(-1880)
  expect(value('status_cleanup_next_timestamp_seconds')).toBe(1720)
})

test('the words of services that do not run are logged as reported', async () => {
  expect((await watch(report(HEALTHY))).states()).toMatchObject({
    'reported services': 'execution exited, rpc unknown',
  })
  const running = report(HEALTHY).replace('exited', 'running').replace('chain-rpc:', 'chain-rpc: running')
  expect((await watch(running)).states()).toMatchObject({ 'reported services': 'running' })
})

test.each([
  ['true', 1, 0],
  ['false', 0, 0],
  ['paused', undefined, 1],
])('activated of the cleanup: %s', async (word, activated, unknown) => {
  const cleanup = `  chain-cruft:\n    activated: ${word}\nconsensus:`
  const { value, total, states } = await watch(report(HEALTHY).replace('consensus:', cleanup))
  expect(value('status_cleanup_activated')).toBe(activated)
  expect(total('chain_agent_lines_total{format=chain-status,result=unparsed}')).toBe(unknown)
  expect(states()['unknown value, activated of the cleanup']).toBe(
    unknown === 0 ? undefined : 'paused (expected true, false)',
  )
})
