import { expect, test } from 'vitest'
import { createHostCheck, runAll } from '../../src/collectors/host/host-check.ts'
import { createLifecycleCounters } from '../../src/collectors/lifecycle/restarts.ts'
import { createMainPids } from '../../src/collectors/shared/node-state.ts'
import { blockedReason } from '../../src/collectors/host/system.ts'
import { ParseError, SourceError } from '../../src/core/errors.ts'
import { sample } from '../../src/core/metric.ts'
import { services } from '../../src/collectors/services/collector.ts'
import { NO_UNIT_LOGS } from '../../src/collectors/shared/unit-logs.ts'
import { manualClock } from '../support/manual-clock.ts'
import { programs } from './run-host.ts'
import { recording } from './recording.ts'

const one = [sample('chain_host_smt_active', 1)]
const timeout = 8000

const start = () => {
  const clock = manualClock()
  const { signal } = new AbortController()
  return { clock, context: { clock, signal } }
}

test('a check that hangs times out, and is not read again until the read has completed', async () => {
  const { clock, context } = start()
  let answer: () => void = () => undefined
  let reads = 0
  const stuck = createHostCheck({
    name: 'stuck',
    timeout,
    read: () => {
      reads += 1
      return new Promise((resolve) => {
        answer = () => resolve(one)
      })
    },
  })
  const healthy = createHostCheck({ name: 'healthy', timeout, read: () => Promise.resolve(one) })
  const first = runAll([stuck, healthy], context)
  await clock.advance(0)
  await clock.advance(8000)
  const results = await first
  expect(results.get('healthy')).toEqual({ samples: one, state: 'known' })
  expect(results.get('stuck')).toMatchObject({ samples: [] })
  expect(results.get('stuck')?.state).toContain('none within 8s')
  expect((await stuck.run(context)).state).toContain('the previous read has not completed')
  expect(reads).toBe(1)
  answer()
  await clock.advance(0)
  const again = stuck.run(context)
  answer()
  expect(await again).toEqual({ samples: one, state: 'known' })
  expect(reads).toBe(2)
})

// A tool that is missing or fails costs as much as one that works, at each interval of the host.
test('a failure contains the advice; an expensive check that failed is read again after a minute', async () => {
  const { clock, context } = start()
  const answers: (() => readonly (typeof one)[0][])[] = [
    () => {
      throw new SourceError({ doing: 'look at /there', happened: 'EACCES', advice: 'open it' })
    },
    () => {
      throw new ParseError('it', 'a number', 'secret')
    },
    () => one,
    () => [],
  ]
  const check = createHostCheck({
    name: 'expensive',
    timeout,
    every: 300_000,
    read: async () => await Promise.resolve(answers.shift()?.() ?? []),
  })
  const failed = 'not known: could not look at /there: EACCES; open it'
  expect((await check.run(context)).state).toBe(failed)
  await clock.advance(59_999)
  expect((await check.run(context)).state).toBe(failed)
  await clock.advance(1)
  expect((await check.run(context)).state).toBe('not known: could not parse it: expected a number')
  await clock.advance(60_000)
  expect((await check.run(context)).samples).toEqual(one)
  await clock.advance(299_999)
  expect((await check.run(context)).samples).toEqual(one)
  expect(answers).toHaveLength(1)
})

test.each([
  ['6.8.0-55-generic', false],
  ['6.8.0-56-generic', true],
  ['6.8.0-59-lowlatency', true],
  ['6.8.0-60-generic', false],
  ['6.8.0-136-generic', true],
  ['6.8.0-1056-aws', false],
  ['6.8.0-560-generic', false],
  ['6.8.12-57-generic', false],
  ['5.15.0-56-generic', false],
])('the kernel %s is blocked: %s', (kernel, isBlocked) => {
  expect(blockedReason(kernel) !== null).toBe(isBlocked)
})

test('the main processes are known from a poll of the units, and cleared by a failed one', async () => {
  const clock = manualClock()
  const mainPids = createMainPids()
  const unit = (name: string, pid: number): string =>
    `Id=${name}.service\nActiveState=${pid > 0 ? 'active' : 'inactive'}\nMainPID=${pid}\n`
  const answers = [`${unit('zephyr-bft', 31)}\n${unit('zephyr-rpc', 0)}`, 'invalid']
  const { exec } = programs({})
  const collector = services({
    exec: {
      ...exec,
      run: () => Promise.resolve({ exitCode: 0, stdout: answers.shift() ?? '', stderr: '' }),
      stream: () => {
        throw new Error('no stream is read here')
      },
      killAll: () => undefined,
    },
    unitNames: {
      one: (template) => Promise.resolve(template),
      match: () => Promise.resolve([]),
      all: (templates) => Promise.resolve(new Map(Object.entries(templates))),
    },
    units: { bft: 'zephyr-bft.service', rpc: 'zephyr-rpc.service' },
    timers: {},
    required: [],
    lifecycle: createLifecycleCounters(recording().recorder, ['bft', 'rpc']),
    mainPids,
    recorder: recording().recorder,
    unitLogs: NO_UNIT_LOGS,
    watchUnits: null,
    timing: { interval: 10_000, timeout: 5000 },
  })
  const stop = new AbortController()
  void collector.run({ clock, signal: stop.signal }, () => undefined)
  await clock.advance(0)
  expect(mainPids.get()).toEqual(new Map([['bft', 31]]))
  await clock.advance(10_000)
  expect(mainPids.get()).toEqual(new Map())
  stop.abort()
})
