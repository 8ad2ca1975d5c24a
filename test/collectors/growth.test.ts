import { describe, expect, test } from 'vitest'
import { createGrowth } from '../../src/collectors/derived/growth.ts'

const MINUTE = 60_000
/** One point a minute, from `from`, growing by `step`. */
const fed = (from: number, step: number, minutes: number) => {
  const growth = createGrowth()
  for (let at = 0; at <= minutes; at += 1) {
    growth.add({ at: at * MINUTE, ratio: from + at * step })
  }
  return growth
}

describe('seconds until a threshold', () => {
  test('a straight line: 0.70 to 0.80 at 0.001 a minute is 100 minutes, less the 20 that passed', () => {
    expect(fed(0.7, 0.001, 20).until(0.8)).toBeCloseTo(80 * 60, 3)
  })
  test('at the threshold it is 0', () => {
    expect(fed(0.79, 0.001, 20).until(0.8)).toBe(0)
  })
  test('flat, falling, or too short: nothing says when', () => {
    expect(fed(0.7, 0, 30).until(0.8)).toBeNull()
    expect(fed(0.7, -0.0001, 30).until(0.8)).toBeNull()
    expect(fed(0.7, 0.001, 0).until(0.8)).toBeNull()
    expect(createGrowth().until(0.8)).toBeNull()
  })
  test('noise around a flat line is no growth', () => {
    const growth = createGrowth()
    for (let at = 0; at <= 40; at += 1) {
      growth.add({ at: at * MINUTE, ratio: at % 2 === 0 ? 0.7001 : 0.6999 })
    }
    expect(growth.until(0.8)).toBeNull()
  })
  test('a drop begins anew: a compaction must not be taken for shrinking, nor hide the growth after it', () => {
    const growth = fed(0.7, 0.004, 20)
    growth.add({ at: 21 * MINUTE, ratio: 0.6 })
    expect(growth.until(0.8)).toBeNull()
    for (let at = 22; at <= 31; at += 1)
      growth.add({ at: at * MINUTE, ratio: 0.6 + (at - 21) * 0.01 })
    // 0.70 after ten minutes of 0.01: ten more.
    expect(growth.until(0.8)).toBeCloseTo(600, 3)
  })
  test('a step or two of a hundredth of a percent are no growth', () => {
    const growth = createGrowth()
    for (let at = 0; at <= 30; at += 1) {
      growth.add({ at: at * MINUTE, ratio: at < 15 ? 0.7 : 0.7001 })
    }
    expect(growth.until(0.8)).toBeNull()
  })
  test('a clock that was set back does not freeze it', () => {
    const growth = createGrowth()
    growth.add({ at: 1440 * MINUTE, ratio: 0.5 })
    for (let at = 0; at <= 20; at += 1) growth.add({ at: at * MINUTE, ratio: 0.7 + at * 0.001 })
    expect(growth.until(0.8)).toBeCloseTo(80 * 60, 3)
  })
  test('days of points stay few, and say the same after a restart', () => {
    const growth = createGrowth()
    // Every ten seconds for two days: 17,280 points; 0.10 in that time.
    for (let at = 0; at <= 17_280; at += 1)
      growth.add({ at: at * 10_000, ratio: 0.5 + at * (0.1 / 17_280) })
    expect(growth.snapshot().length).toBeLessThanOrEqual(241)
    expect(growth.until(0.8)).toBeCloseTo(4 * 86_400, -3)
    const again = createGrowth()
    again.restore(JSON.parse(JSON.stringify(growth.snapshot())))
    expect(again.until(0.8)).toBe(growth.until(0.8))
    again.restore([{ at: 'x' }])
    expect(again.until(0.8)).toBeNull()
  })
})
