import { expect, test } from 'vitest'
import { createLifecycleCounters } from '../../src/collectors/lifecycle/restarts.ts'
import { services } from '../../src/collectors/services/collector.ts'
import { createMainPids, createUnitNames } from '../../src/collectors/shared/node-state.ts'
import { manualClock } from '../support/manual-clock.ts'
import { recording } from './recording.ts'
import { runPolls } from './run-collector.ts'

const unit = (properties: Readonly<Record<string, string>>): string =>
  Object.entries({ LoadState: 'loaded', UnitFileState: 'enabled', ...properties })
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')

/** The exits that are counted while systemd shows a service so, at one poll after the other. */
const polls = async (...shown: readonly [string, ...string[]]) => {
  const { record } = await run(...shown)
  return Object.entries(record.totals()).filter(([name, total]) => name.includes('_exits_') && total > 0)
}

const run = async (...shown: readonly [string, ...string[]]) => {
  const record = recording()
  const left = [...shown]
  const collector = services({
    exec: {
      run: () => Promise.resolve({ exitCode: 0, stdout: left.shift() ?? shown[0], stderr: '' }),
      stream: () => {
        throw new Error('no stream is read here')
      },
      killAll: () => undefined,
    },
    unitNames: createUnitNames(() => Promise.resolve({ word: 'zephyr', from: 'configuration' })),
    units: { bft: '{prefix}-bft.service' },
    timers: {},
    required: ['bft'],
    lifecycle: createLifecycleCounters(record.recorder, ['bft']),
    mainPids: createMainPids(),
    recorder: record.recorder,
    timing: { interval: 10_000, timeout: 5000 },
  })
  const { next, shown: values, states } = await runPolls(collector, manualClock())
  for (const _ of left) await next()
  return { record, values, states }
}

const RUNNING = unit({ ActiveState: 'active', Result: 'success', InvocationID: 'a1' })

test('a main process that has ended is an exit', async () => {
  const exitedAt = 'Sun 2026-03-01 10:00:00.000000 UTC'
  const ended = { ActiveState: 'failed', Result: 'signal', InvocationID: 'a1', ExecMainExitTimestamp: exitedAt }
  expect(await polls(RUNNING, unit(ended))).toEqual([['chain_service_exits_total{service=bft,result=signal}', 1]])
})

test('a start that fails before the main process runs is no exit', async () => {
  const failed = { ActiveState: 'failed', Result: 'resources', InvocationID: 'b2', ExecMainExitTimestamp: '' }
  expect(await polls(RUNNING, unit(failed))).toEqual([])
})

const UNPARSED = 'chain_agent_lines_total{format=systemctl,result=unparsed}'

test.each([
  ['LoadState', 'ghost', 'loaded'],
  ['ActiveState', 'melting', 'inactive'],
  ['UnitFileState', 'blessed', 'static'],
  ['ExecMainCode', '9', '2'],
])('%s=%s of a later systemd is counted at each poll and logged once; %s is known', async (name, value, known) => {
  const { record, states } = await run(RUNNING, unit({ ActiveState: 'active', [name]: value }), RUNNING)
  expect(record.total(UNPARSED)).toBe(1)
  expect(states()[`unknown value, ${name} of systemd`]).toMatch(new RegExp(`^${value} \\(expected .*${known}`))
  expect((await run(unit({ ActiveState: 'active', [name]: known }))).record.total(UNPARSED)).toBe(0)
})

test('a state of a later systemd is other, and its value is logged', async () => {
  const { values, states } = await run(unit({ ActiveState: 'melting' }))
  expect(values()).toMatchObject({ 'service_state{bft,other}': 1, 'service_active{bft}': 0 })
  expect(states()).toMatchObject({ bft: 'other' })
})

test.each([
  ['reloading', 'active', 1],
  ['maintenance', 'inactive', 0],
])('a unit that systemd reports as %s is %s', async (reported, state, isActive) => {
  const { values, states } = await run(unit({ ActiveState: reported }))
  expect(values()).toMatchObject({ [`service_state{bft,${state}}`]: 1, 'service_active{bft}': isActive })
  expect(states()).toMatchObject({ bft: reported })
})
