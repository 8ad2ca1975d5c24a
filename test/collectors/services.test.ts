import { expect, test } from 'vitest'
import { createLifecycleCounters } from '../../src/collectors/lifecycle/restarts.ts'
import { services } from '../../src/collectors/services/collector.ts'
import { createMainPids, createUnitNames } from '../../src/collectors/shared/node-state.ts'
import { NO_UNIT_LOGS } from '../../src/collectors/shared/unit-logs.ts'
import { manualClock } from '../support/manual-clock.ts'
import { recording } from './recording.ts'
import { execOf, runPolls } from './run-collector.ts'

const unit = (properties: Readonly<Record<string, string>>): string =>
  Object.entries({ LoadState: 'loaded', UnitFileState: 'enabled', ...properties })
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')

/** For one unit, of which `show` returns what systemctl prints. */
const optionsFor = ({ recorder }: ReturnType<typeof recording>, show: () => string) => ({
  exec: execOf(() => Promise.resolve({ exitCode: 0, stdout: show(), stderr: '' })),
  unitNames: createUnitNames(() => Promise.resolve({ word: 'zephyr', from: 'configuration' })),
  units: { bft: '{prefix}-bft.service' },
  timers: {},
  required: ['bft'],
  lifecycle: createLifecycleCounters(recorder, ['bft']),
  mainPids: createMainPids(),
  recorder,
  unitLogs: NO_UNIT_LOGS,
})

const run = async (...shown: readonly [string, ...string[]]) => {
  const record = recording()
  const left = [...shown]
  const collector = services({
    ...optionsFor(record, () => left.shift() ?? shown[0]),
    watchUnits: null,
    timing: { interval: 10_000, timeout: 5000 },
  })
  const { next, shown: values, states } = await runPolls(collector, manualClock())
  for (const _ of shown.slice(1)) await next()
  return { record, values, states }
}

const RUNNING = unit({ ActiveState: 'active', Result: 'success', InvocationID: 'a1' })

// A start that fails before the main process runs is no exit.
test('a main process that has ended is an exit', async () => {
  const [exitedAt, failed] = ['Sun 2026-03-01 10:00:00.000000 UTC', { ActiveState: 'failed', InvocationID: 'a1' }]
  const ended = unit({ ...failed, Result: 'signal', ExecMainExitTimestamp: exitedAt })
  const notStarted = unit({ ...failed, Result: 'resources', InvocationID: 'b2', ExecMainExitTimestamp: '' })
  const { record } = await run(RUNNING, ended, notStarted)
  const exits = Object.entries(record.totals()).filter(([name, total]) => name.includes('_exits_') && total > 0)
  expect(exits).toEqual([['chain_service_exits_total{service=bft,result=signal}', 1]])
})

test('the main processes are those of the last poll; none after a failed one', async () => {
  const answers = [unit({ ActiveState: 'active', MainPID: '31' }), 'invalid']
  const options = optionsFor(recording(), () => answers.shift() ?? '')
  const collector = services({ ...options, watchUnits: null, timing: { interval: 10_000, timeout: 5000 } })
  const { next } = await runPolls(collector, manualClock())
  expect(options.mainPids.current).toEqual(new Map([['bft', 31]]))
  await next()
  expect(options.mainPids.current).toEqual(new Map())
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

test.each([
  ['reloading', 'active', 1],
  ['maintenance', 'inactive', 0],
  // Of a later systemd.
  ['melting', 'other', 0],
])('a unit that systemd reports as %s is %s', async (reported, state, isActive) => {
  const { values, states } = await run(unit({ ActiveState: reported }))
  expect(values()).toMatchObject({ [`service_state{bft,${state}}`]: 1, 'service_active{bft}': isActive })
  expect(states()).toMatchObject({ bft: state === 'other' ? state : reported })
})

/** Runs with a watch whose events, reasons and files are those of the test. `calls` are those of systemctl and the watch. */
const startWatched = async (first: string, whyPolled: string | null = null) => {
  const record = recording()
  const clock = manualClock()
  const calls: string[] = []
  const seen = { shown: first, whyPolled, usage: { memory: '4096\n', cpu: 'usage_usec 7000000\n', tasks: '3\n' } }
  let wake = (): void => undefined
  const collector = services({
    ...optionsFor(record, () => {
      calls.push('show')
      return seen.shown
    }),
    watchUnits: (onChange) => {
      wake = onChange
      return {
        renew: () => {
          calls.push('renew')
        },
        cover: ([one]) => {
          calls.push(`cover ${one?.invocation ?? '-'} ${one?.controlGroup ?? '-'}`)
          return seen.whyPolled
        },
        usage: () => seen.usage,
        close: () => undefined,
      }
    },
    timing: { interval: 4000, timeout: 5000 },
  })
  const polled = await runPolls(collector, clock)
  /** The number of times that systemctl has run since the last call. */
  const shows = (): number => calls.splice(0).filter((call) => call === 'show').length
  const change = async (shown: string): Promise<void> => {
    seen.shown = shown
    wake()
    await clock.advance(0)
  }
  return { ...polled, calls, seen, shows, change }
}

const GROUP = '/system.slice/zephyr-bft.service'
const RUN = { InvocationID: 'a1', ControlGroup: GROUP, MainPID: '31' }
const WATCHED_UNIT = { ActiveState: 'active', Result: 'success', ...RUN }
const ACCOUNTED = { MemoryCurrent: '8192', CPUUsageNSec: '2000000000', TasksCurrent: '2' }
const ENDED = unit({ ActiveState: 'failed', Result: 'signal', InvocationID: 'a1' })

test('watches begin before systemctl runs, which runs again after a minute; its reading is reported in each interval', async () => {
  const { calls, shows, next, outcomes } = await startWatched(unit(WATCHED_UNIT))
  expect(calls).toEqual(['renew', 'show', `cover a1 ${GROUP}`])
  expect(shows()).toBe(1)
  for (let elapsed = 4000; elapsed < 60_000; elapsed += 4000) await next()
  expect(shows()).toBe(0)
  expect(outcomes).toHaveLength(15)
  await next()
  expect(shows()).toBe(1)
})

test('a change is read at once; a burst of them once more, a second later', async () => {
  const { next, shows, change, states } = await startWatched(unit(WATCHED_UNIT))
  await next()
  await next(1000)
  expect(shows()).toBe(1)
  await change(ENDED)
  expect(states()).toMatchObject({ bft: 'failed (signal)' })
  await change(unit(WATCHED_UNIT))
  await change(unit(WATCHED_UNIT))
  expect(shows()).toBe(1)
  await next(999)
  expect(shows()).toBe(0)
  await next(1)
  expect(shows()).toBe(1)
  expect(states()).toMatchObject({ bft: 'active' })
  await next(3999)
  expect(shows()).toBe(0)
})

test.each(['activating', 'deactivating', 'reloading'])('a unit that is %s is read in each interval', async (state) => {
  const { next, shows, seen } = await startWatched(unit({ ...WATCHED_UNIT, ActiveState: state }))
  await next()
  await next()
  expect(shows()).toBe(3)
  seen.shown = unit(WATCHED_UNIT)
  await next()
  await next()
  expect(shows()).toBe(1)
})

test('units that cannot be watched are read in each interval, with the reason', async () => {
  const { next, shows, seen, states } = await startWatched(unit(WATCHED_UNIT), 'there is no inotify')
  expect(states()).toMatchObject({ 'unit changes': 'seen after 4s at most: there is no inotify' })
  await next()
  await next()
  expect(shows()).toBe(3)
  seen.whyPolled = null
  await next()
  expect(states()).toMatchObject({ 'unit changes': 'seen at once' })
  await next()
  expect(shows()).toBe(1)
})

test('a failed systemctl is repeated in the next interval', async () => {
  const { next, shows, seen, outcomes, change } = await startWatched(unit(WATCHED_UNIT))
  await next(1000)
  await change('invalid')
  expect(outcomes.at(-1)?.ok).toBe(false)
  seen.shown = unit(WATCHED_UNIT)
  await next()
  expect(outcomes.at(-1)?.ok).toBe(true)
  expect(shows()).toBe(3)
})

test('memory, CPU time and tasks follow the control group every 15 s, without what systemd subtracts', async () => {
  const { next, shows, seen, shown } = await startWatched(unit({ ...WATCHED_UNIT, ...ACCOUNTED }))
  const usage = { 'service_memory_bytes{bft}': 8192, 'service_cpu_seconds_total{bft}': 2, 'service_tasks{bft}': 2 }
  expect(shown()).toMatchObject(usage)
  seen.usage = { memory: '12288\n', cpu: 'usage_usec 8500000\nuser_usec 1\n', tasks: '5\n' }
  for (let interval = 1; interval <= 3; interval += 1) await next()
  expect(shown()).toMatchObject(usage)
  await next()
  expect(shown()).toMatchObject({
    'service_memory_bytes{bft}': 12_288,
    'service_cpu_seconds_total{bft}': 3.5,
    'service_tasks{bft}': 5,
  })
  expect(shows()).toBe(1)
})

test('what systemd does not account for stays unknown', async () => {
  const { next, shown } = await startWatched(unit({ ...WATCHED_UNIT, MemoryCurrent: '[not set]' }))
  await next(16_000)
  expect(Object.keys(shown()).filter((name) => /memory|cpu|tasks/.test(name))).toEqual([])
})
