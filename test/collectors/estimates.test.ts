import { describe, expect, test } from 'vitest'
import { poissonAtMost, createDuties } from '../../src/collectors/derived/duties.ts'
import { createStorageGrowth } from '../../src/collectors/derived/estimates.ts'

const MINUTE = 60_000
const NOON = Date.UTC(2026, 2, 1, 12)
/** `rounds timeouts ownBlocks ownTimeouts`, all since the agent began. */
const countsOf = (text: string) => {
  const [rounds = 0, timeouts = 0, ownBlocks = 0, ownTimeouts = 0] = text.split(' ').map(Number)
  return { rounds, timeouts, attributed: rounds, ownBlocks, ownTimeouts }
}

type Added = readonly [counts: string, share: number | undefined, minutes?: number]
const read = (...added: readonly Added[]) => {
  const duties = createDuties()
  for (const [counts, share, minutes = 0] of added) duties.add(countsOf(counts), share, NOON + minutes * MINUTE)
  return duties.read()
}

describe('rounds led, compared with the expectation by stake', () => {
  test('a twentieth of the stake in a thousand rounds: fifty rounds led', () => {
    const found = read(['400 10 19 1', 0.05], ['1000 25 47 3', 0.05, 1])
    expect(found).toMatchObject({ rounds: 1000, timeouts: 25, ownBlocks: 47, ownTimeouts: 3, expected: 50 })
    // 47 blocks where 50 × 0.975 = 48.75 are the mean: nothing unusual.
    expect(found?.shortfallProbability).toBeGreaterThan(0.3)
    expect(found?.shortfallProbability).toBeLessThan(0.6)
  })
  test('no block with twelve expected has the probability e^-12', () => {
    expect(read(['240 0 0 0', 0.05])?.shortfallProbability).toBeCloseTo(Math.exp(-12), 12)
  })
  test('the expectation is compared with the same rounds: those with a known share', () => {
    const found = read(['100 0 5 0', 0.05], ['200 0 9 0', undefined, 1])
    expect(found).toMatchObject({ rounds: 200, ownBlocks: 9, expected: 5 })
    // 5 blocks where 5 were the mean, and not 9.
    expect(found?.shortfallProbability).toBeCloseTo(poissonAtMost(5, 5), 12)
  })
  test('rounds from before the own key was known have no expectation', () => {
    const duties = createDuties()
    duties.add({ ...countsOf('12000 300 0 0'), attributed: 0 }, 0.01, NOON)
    expect(duties.read()).toMatchObject({ expected: null, shortfallProbability: null })
    duties.add({ ...countsOf('12100 300 1 0'), attributed: 100 }, 0.01, NOON + MINUTE)
    expect(duties.read()?.expected).toBeCloseTo(1, 12)
  })
  test('after the clock was set back the future is removed', () => {
    expect(read(['100 0 5 0', 0.05, 1440], ['130 0 6 0', 0.05])?.rounds).toBe(30)
  })
  test('an unknown share without rounds changes nothing', () => {
    expect(read(['100 0 5 0', 0.05], ['100 0 5 0', undefined, 1])?.expected).toBe(5)
  })
  test('outside the active set nothing is expected, and there is no probability', () => {
    expect(read(['100 0 0 0', 0])).toMatchObject({ expected: 0, shortfallProbability: null })
  })
  test('rounds older than six hours are removed', () => {
    const first: Added = ['100 5 5 0', 0.05]
    const later: Added = ['300 6 12 0', 0.05, 300]
    expect(read(first, later)?.rounds).toBe(300)
    expect(read(first, later, ['301 6 12 0', 0.05, 370])).toMatchObject({ rounds: 201, timeouts: 1, ownBlocks: 7 })
  })
})

test('the lower tail of a Poisson distribution', () => {
  // e^-2 (1 + 2 + 2) and e^-3 (1 + 3 + 4.5 + 4.5)
  expect(poissonAtMost(2, 2)).toBeCloseTo(5 * Math.exp(-2), 12)
  expect(poissonAtMost(3, 3)).toBeCloseTo(13 * Math.exp(-3), 12)
  // A mean whose e^-mean underflows.
  expect(poissonAtMost(2000, 2000)).toBeCloseTo(0.5, 1)
  expect(poissonAtMost(1000, 2000)).toBeLessThan(1e-100)
})

/** One point a minute, from `from`, growing by `step`. */
const fed = (from: number, step: number, minutes: number) => {
  const growth = createStorageGrowth()
  for (let at = 0; at <= minutes; at += 1) growth.add({ at: at * MINUTE, ratio: from + at * step })
  return growth
}

describe('seconds until a threshold', () => {
  test('a line: 0.70 to 0.80 at 0.001 per minute is 100 minutes, minus the 20 that have passed', () => {
    expect(fed(0.7, 0.001, 20).secondsUntil(0.8)).toBeCloseTo(80 * 60, 3)
  })
  test('at the threshold it is 0', () => {
    expect(fed(0.79, 0.001, 20).secondsUntil(0.8)).toBe(0)
  })
  test('flat, decreasing or too short: unknown', () => {
    expect(fed(0.7, 0, 30).secondsUntil(0.8)).toBeNull()
    expect(fed(0.7, -0.0001, 30).secondsUntil(0.8)).toBeNull()
    expect(fed(0.7, 0.001, 0).secondsUntil(0.8)).toBeNull()
    expect(createStorageGrowth().secondsUntil(0.8)).toBeNull()
  })
  test('noise around a flat line is not growth', () => {
    const growth = createStorageGrowth()
    for (let at = 0; at <= 40; at += 1) growth.add({ at: at * MINUTE, ratio: at % 2 === 0 ? 0.7001 : 0.6999 })
    expect(growth.secondsUntil(0.8)).toBeNull()
  })
  test('a drop restarts the line: a compaction is not a decrease, and does not hide the growth after it', () => {
    const growth = fed(0.7, 0.004, 20)
    growth.add({ at: 21 * MINUTE, ratio: 0.6 })
    expect(growth.secondsUntil(0.8)).toBeNull()
    for (let at = 22; at <= 31; at += 1) growth.add({ at: at * MINUTE, ratio: 0.6 + (at - 21) * 0.01 })
    // 0.70 after ten minutes of 0.01: ten more.
    expect(growth.secondsUntil(0.8)).toBeCloseTo(600, 3)
  })
  test('a step or two of a hundredth of a percent are not growth', () => {
    const growth = createStorageGrowth()
    for (let at = 0; at <= 30; at += 1) growth.add({ at: at * MINUTE, ratio: at < 15 ? 0.7 : 0.7001 })
    expect(growth.secondsUntil(0.8)).toBeNull()
  })
  test('after the clock was set back it continues', () => {
    const growth = createStorageGrowth()
    growth.add({ at: 1440 * MINUTE, ratio: 0.5 })
    for (let at = 0; at <= 20; at += 1) growth.add({ at: at * MINUTE, ratio: 0.7 + at * 0.001 })
    expect(growth.secondsUntil(0.8)).toBeCloseTo(80 * 60, 3)
  })
  test('the number of points is limited, and the result is the same after a restart', () => {
    const growth = createStorageGrowth()
    // Every ten seconds for two days: 17,280 points; 0.10 in that time.
    for (let at = 0; at <= 17_280; at += 1) growth.add({ at: at * 10_000, ratio: 0.5 + at * (0.1 / 17_280) })
    expect(growth.snapshot().length).toBeLessThanOrEqual(241)
    expect(growth.secondsUntil(0.8)).toBeCloseTo(4 * 86_400, -3)
    const again = createStorageGrowth()
    again.restore(JSON.parse(JSON.stringify(growth.snapshot())))
    expect(again.secondsUntil(0.8)).toBe(growth.secondsUntil(0.8))
    again.restore([{ at: 'x' }])
    expect(again.secondsUntil(0.8)).toBeNull()
  })
})
