import { describe, expect, test } from 'vitest'
import { slo } from '../../src/collectors/slo/collector.ts'
import { addToHours, sumOfHours } from '../../src/collectors/slo/hours.ts'
import { createRoundCounter } from '../../src/collectors/derived/duties.ts'
import { type Sample, sample } from '../../src/core/metric.ts'
import { manualClock } from '../support/manual-clock.ts'
import { memoryCheckpoint } from './recording.ts'
import { runPolls } from './run-collector.ts'

const NOW = Date.UTC(2026, 2, 1, 12)
const HOUR = 3_600_000

const start = async (checkpoint = memoryCheckpoint()) => {
  const clock = manualClock(NOW)
  let published: readonly Sample[] = []
  const rounds = createRoundCounter()
  const timing = { interval: 5000, timeout: 5000 }
  const collector = slo({ published: () => published, roundCounter: rounds, objective: 0.98, checkpoint, timing })
  let suspended = 0
  const withSuspension = { ...clock, elapsed: () => clock.elapsed() + suspended }
  const { samples, stop } = await runPolls(collector, withSuspension)
  return {
    rounds,
    checkpoint,
    /** Publishes a block of that age, in seconds, for a time. */
    run: async (seconds: number, age: number | null, more: readonly Sample[] = []) => {
      for (let passed = 0; passed < seconds; passed += 5) {
        const at = (clock.now() + 5000) / 1000
        published = [...more, ...(age === null ? [] : [block(at - age)])]
        await clock.advance(5000)
        await clock.advance(0)
      }
    },
    /** The host sleeps for that time. */
    suspend: (seconds: number): void => {
      suspended += seconds * 1000
    },
    stop,
    value: (name: string, criterion?: string): number | undefined =>
      samples().find((one) => one.name === `chain_slo_${name}` && one.labels['criterion'] === criterion)?.value,
  }
}

const block = (at: number): Sample => sample('chain_ledger_block_timestamp_seconds', at, { event: 'proposed' })
const height = sample('chain_ledger_seq_num', 1000, { event: 'proposed' })

describe('the uptime by fresh blocks', () => {
  test('is the part of the known time, and uses the budget of the week', async () => {
    const { run, value } = await start()
    await run(900, 30, [height])
    await run(100, 31, [height])
    expect(value('uptime_ratio', 'fresh_block')).toBeCloseTo(0.9, 12)
    // 2 % of a week are 12,096 s.
    expect(value('budget_remaining_ratio', 'fresh_block')).toBeCloseTo(1 - 100 / 12_096, 12)
    expect(value('known_ratio')).toBeCloseTo(1000 / 604_800, 12)
    expect(value('objective_ratio')).toBe(0.98)
  })

  test('is unknown without a block, unless consensus is down', async () => {
    const { run, value } = await start()
    await run(120, null)
    expect(value('uptime_ratio', 'fresh_block')).toBeUndefined()
    expect(value('known_ratio')).toBe(0)
    await run(120, null, [sample('chain_service_active', 0, { service: 'bft' })])
    expect(value('uptime_ratio', 'fresh_block')).toBe(0)
    expect(value('known_ratio')).toBeCloseTo(120 / 604_800, 12)
  })

  test('is unknown for the time in which the host was suspended', async () => {
    const { run, suspend, value } = await start()
    await run(100, 1, [height])
    suspend(3600)
    await run(100, 1, [height])
    // Without the step of 5 s in which it was.
    expect(value('known_ratio')).toBeCloseTo(195 / 604_800, 12)
  })

  test('is absent for less than a minute', async () => {
    const { run, value } = await start()
    await run(55, 1, [height])
    expect(value('uptime_ratio', 'fresh_block')).toBeUndefined()
    await run(5, 1, [height])
    expect(value('uptime_ratio', 'fresh_block')).toBe(1)
  })

  test('continues after a restart of the agent', async () => {
    const first = await start()
    await first.run(300, 1, [height])
    await first.stop()
    const second = await start(first.checkpoint)
    await second.run(100, 60, [height])
    expect(second.value('uptime_ratio', 'fresh_block')).toBeCloseTo(0.75, 12)
  })
})

test('the uptime by own rounds is absent without any', async () => {
  const { run, rounds, value } = await start()
  await run(60, 1, [height])
  expect(value('uptime_ratio', 'own_rounds')).toBeUndefined()
  for (let each = 0; each < 199; each += 1) rounds.add({ isTimeout: false, isOwn: true })
  rounds.add({ isTimeout: true, isOwn: true })
  rounds.add({ isTimeout: true, isOwn: false })
  await run(5, 1, [height])
  expect(value('uptime_ratio', 'own_rounds')).toBe(0.995)
  // 2 % of 200 rounds are 4.
  expect(value('budget_remaining_ratio', 'own_rounds')).toBeCloseTo(0.75, 12)
})

describe('hours', () => {
  const good = { known: 10, fresh: 10, led: 1, missed: 0 }

  test('are added up from the one that begins at a time', () => {
    let hours = addToHours([], NOW + 1, good)
    hours = addToHours(hours, NOW + HOUR - 1, { known: 5, fresh: 0, led: 0, missed: 2 })
    hours = addToHours(hours, NOW + HOUR, good)
    expect(hours).toEqual([
      { from: NOW, known: 15, fresh: 10, led: 1, missed: 2 },
      { from: NOW + HOUR, known: 10, fresh: 10, led: 1, missed: 0 },
    ])
    expect(sumOfHours(hours, NOW)).toEqual({ known: 25, fresh: 20, led: 2, missed: 2 })
    expect(sumOfHours(hours, NOW + 1)).toEqual({ known: 10, fresh: 10, led: 1, missed: 0 })
  })

  test('are kept for 31 days, and those of the future are removed', () => {
    const old = addToHours([], NOW - 31 * 24 * HOUR, good)
    expect(addToHours(old, NOW - HOUR, good)).toHaveLength(2)
    expect(addToHours(old, NOW, good)).toHaveLength(1)
    expect(addToHours(addToHours([], NOW + HOUR, good), NOW, good)).toEqual([{ from: NOW, ...good }])
  })
})
