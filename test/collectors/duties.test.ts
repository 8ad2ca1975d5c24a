import { describe, expect, test } from 'vitest'
import { poissonAtMost, createDuties } from '../../src/collectors/derived/duties.ts'

const MINUTE = 60_000
const NOON = Date.UTC(2026, 2, 1, 12)
/** `rounds timeouts ownBlocks ownTimeouts`, all since the agent began. */
const countsOf = (text: string) => {
  const [rounds = 0, timeouts = 0, ownBlocks = 0, ownTimeouts = 0] = text.split(' ').map(Number)
  return { rounds, timeouts, attributed: rounds, ownBlocks, ownTimeouts }
}

describe('rounds led, compared with the expectation by stake', () => {
  test('a twentieth of the stake in a thousand rounds: fifty rounds led', () => {
    const duties = createDuties()
    duties.add(countsOf('400 10 19 1'), 0.05, NOON)
    duties.add(countsOf('1000 25 47 3'), 0.05, NOON + MINUTE)
    expect(duties.read()).toMatchObject({
      rounds: 1000,
      timeouts: 25,
      ownBlocks: 47,
      ownTimeouts: 3,
      expected: 50,
    })
    // 47 blocks where 50 × 0.975 = 48.75 are the mean: nothing unusual.
    expect(duties.read()?.shortfallProbability).toBeGreaterThan(0.3)
    expect(duties.read()?.shortfallProbability).toBeLessThan(0.6)
  })
  test('no block with twelve expected has the probability e^-12', () => {
    const duties = createDuties()
    duties.add(countsOf('240 0 0 0'), 0.05, NOON)
    expect(duties.read()?.shortfallProbability).toBeCloseTo(Math.exp(-12), 12)
  })
  test('the expectation is compared with the same rounds: those with a known share', () => {
    const duties = createDuties()
    duties.add(countsOf('100 0 5 0'), 0.05, NOON)
    duties.add(countsOf('200 0 9 0'), undefined, NOON + MINUTE)
    expect(duties.read()).toMatchObject({ rounds: 200, ownBlocks: 9, expected: 5 })
    // 5 blocks where 5 were the mean, and not 9.
    expect(duties.read()?.shortfallProbability).toBeCloseTo(poissonAtMost(5, 5), 12)
  })
  test('rounds from before the own key was known have no expectation', () => {
    const duties = createDuties()
    duties.add({ ...countsOf('12000 300 0 0'), attributed: 0 }, 0.01, NOON)
    expect(duties.read()).toMatchObject({ expected: null, shortfallProbability: null })
    duties.add({ ...countsOf('12100 300 1 0'), attributed: 100 }, 0.01, NOON + MINUTE)
    expect(duties.read()?.expected).toBeCloseTo(1, 12)
  })
  test('after the clock was set back the future is removed', () => {
    const duties = createDuties()
    duties.add(countsOf('100 0 5 0'), 0.05, NOON + 24 * 60 * MINUTE)
    duties.add(countsOf('130 0 6 0'), 0.05, NOON)
    expect(duties.read()?.rounds).toBe(30)
  })
  test('an unknown share without rounds changes nothing', () => {
    const duties = createDuties()
    duties.add(countsOf('100 0 5 0'), 0.05, NOON)
    duties.add(countsOf('100 0 5 0'), undefined, NOON + MINUTE)
    expect(duties.read()?.expected).toBe(5)
  })
  test('outside the active set nothing is expected, and there is no probability', () => {
    const duties = createDuties()
    duties.add(countsOf('100 0 0 0'), 0, NOON)
    expect(duties.read()).toMatchObject({ expected: 0, shortfallProbability: null })
  })
  test('rounds older than six hours are removed', () => {
    const duties = createDuties()
    duties.add(countsOf('100 5 5 0'), 0.05, NOON)
    duties.add(countsOf('300 6 12 0'), 0.05, NOON + 5 * 60 * MINUTE)
    expect(duties.read()?.rounds).toBe(300)
    duties.add(countsOf('301 6 12 0'), 0.05, NOON + 6 * 60 * MINUTE + 10 * MINUTE)
    expect(duties.read()).toMatchObject({ rounds: 201, timeouts: 1, ownBlocks: 7 })
  })
  test('after a restart of the agent the counts continue', () => {
    const duties = createDuties()
    duties.add(countsOf('100 5 5 0'), 0.05, NOON)
    const again = createDuties()
    again.restore(JSON.parse(JSON.stringify(duties.snapshot())))
    again.add(countsOf('20 0 1 0'), 0.05, NOON + MINUTE)
    expect(again.read()).toMatchObject({ rounds: 120, timeouts: 5, ownBlocks: 6, expected: 6 })
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
