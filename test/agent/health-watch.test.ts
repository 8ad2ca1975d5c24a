import { expect, onTestFinished, test } from 'vitest'
import { createFailureLog, createHealthWatch } from '../../src/agent/health-watch.ts'
import type { Sample } from '../../src/core/metric.ts'
import { health as settings } from '../../src/health/settings.ts'
import { logLines } from '../support/log-lines.ts'
import { manualClock } from '../support/manual-clock.ts'

/** A watch on a manual clock, and what it logs. `run` runs it on these values until the end of the test. */
const create = (more: Partial<Parameters<typeof createHealthWatch>[0]> = {}, startAt?: number) => {
  const clock = manualClock(startAt)
  const { log, lines } = logLines()
  const watch = createHealthWatch({ clock, log, settings: settings.parse({}), record: () => undefined, ...more })
  const run = (values: () => Promise<readonly Sample[]>): void => {
    const stop = new AbortController()
    const running = watch.run({ exposition: { values }, samples: () => [] }, stop.signal)
    onTestFinished(async () => {
      stop.abort()
      await running
    })
  }
  return { clock, lines, watch, run }
}

test('a failure is logged when it begins, and again after it was over', () => {
  const logged: (Error | string)[] = []
  const report = createFailureLog((failure) => logged.push(failure))
  const error = new Error('no samples')
  for (const failures of [['a'], ['a'], ['a', 'b'], [error], [new Error('no samples')], [], ['b']]) report(failures)
  expect(logged).toEqual(['a', 'b', error, 'b'])
})

test('evaluations after changes keep no samples, whatever their number', async () => {
  // By default 30 % of an hour is too much; with this objective 4.5 %.
  const more = { settings: settings.parse({ objective: 0.997 }) }
  const { clock, lines, watch, run } = create(more, 1_750_000_000_000)
  const stalledAt = clock.now() + 3_600_000
  const newestBlock = (): Sample => ({
    name: 'chain_rpc_block_timestamp_seconds',
    labels: { tag: 'latest' },
    value: Math.min(clock.now(), stalledAt) / 1000,
  })
  run(() => Promise.resolve([newestBlock()]))
  while (clock.now() < stalledAt) await clock.advance(15_000)
  for (let second = 0; second < 60; second += 1) {
    watch.notice()
    await clock.advance(1000)
  }
  // The block is too old at 2 of the 240 times of the last hour: 0.8 %. With those of the changes, every other second, it would be 7 %.
  const alerts = watch.health().findings.map(({ alert }) => alert)
  expect(alerts).toContain('ChainBlockStalled')
  expect(alerts).not.toContain('ChainUptimeBudget.fast')
  expect(lines).toEqual([])
})

test('an early evaluation that ends after the due time is followed by the next one at once', async () => {
  const { clock, watch, run } = create()
  const times: number[] = []
  run(() => {
    times.push(clock.elapsed())
    // The early evaluation takes 600 ms.
    if (clock.elapsed() === 14_900) clock.set(clock.now() + 600)
    return Promise.resolve([])
  })
  await clock.advance(14_400)
  watch.notice()
  await clock.advance(0)
  await clock.advance(500)
  await clock.wake()
  expect(times).toEqual([14_900, 15_500])
  await clock.advance(14_500)
  expect(times).toEqual([14_900, 15_500, 30_000])
})

test('an alert fires when its duration has passed, not at the next interval, and a failure does not repeat the evaluation', async () => {
  const fired: [number, string][] = []
  let evaluations = 0
  const { clock, watch, run } = create(
    { record: ({ subject, to }) => fired.push([clock.elapsed(), `${subject} ${to}`]) },
    1_750_000_000_000,
  )
  const service = (name: 'chain_service_expected' | 'chain_service_active', value: number) => ({
    name,
    labels: { service: 'bft' },
    value,
  })
  run(() => {
    evaluations += 1
    if (clock.elapsed() > 66_000) return Promise.reject(new Error('no samples'))
    // Execution stops at 62 s, so its alert is pending when the evaluation fails.
    const execution = [
      service('chain_service_expected', 1),
      service('chain_service_active', Number(clock.elapsed() < 62_000)),
    ]
    return Promise.resolve([
      service('chain_service_expected', 1),
      service('chain_service_active', Number(clock.elapsed() < 17_000)),
      ...execution.map((one) => ({ ...one, labels: { service: 'execution' } })),
    ])
  })
  const advanceTo = async (second: number): Promise<void> => {
    while (clock.elapsed() < second * 1000) await clock.advance(500)
  }
  await advanceTo(17)
  watch.notice()
  await clock.advance(0)
  // Found at 17.5 s, 500 ms after the change; 45 s later it fires.
  await advanceTo(63)
  expect(fired).toEqual([[62_500, 'ChainServiceDown bft critical: bft is down']])
  await advanceTo(130)
  // At 15, 17.5, 30, 45, 60, 62.5, then, failing, at 75, 90, 105, 107.5 and 120 s.
  expect(evaluations).toBe(11)
})

test('a failed evaluation leaves no recovery', async () => {
  const { watch } = create()
  let isFailing = false
  const recovery = () => ({ action: 'Restart the services together, now', deadline: 240_000 })
  const values = () => (isFailing ? Promise.reject(new Error('no samples')) : Promise.resolve([]))
  const recovered = async () => {
    await watch.evaluateNow({ exposition: { values }, samples: () => [], recovery })
    return watch.samples().filter(({ name }) => name.startsWith('chain_node_recovery_'))
  }
  expect(await recovered()).toMatchObject([
    { labels: { action: 'Restart the services together, now' }, value: 1 },
    { name: 'chain_node_recovery_deadline_timestamp_seconds', value: 240 },
  ])
  isFailing = true
  expect(await recovered()).toEqual([])
})

test('each evaluation is announced, until the end of the subscription', async () => {
  const { clock, watch, run } = create()
  const announced: number[] = []
  const unsubscribe = watch.onEvaluation(() => announced.push(clock.elapsed()))
  run(() => Promise.resolve([]))
  await clock.advance(15_000)
  unsubscribe()
  await clock.advance(15_000)
  expect(announced).toEqual([15_000])
})
