import { describe, expect, test } from 'vitest'
import { createStorageGrowth } from '../../src/collectors/derived/estimates.ts'

const MINUTE = 60_000
/** One point a minute, from `from`, growing by `step`. */
const fed = (from: number, step: number, minutes: number) => {
  const growth = createStorageGrowth()
  for (let at = 0; at <= minutes; at += 1) {
    growth.add({ at: at * MINUTE, ratio: from + at * step })
  }
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
    for (let at = 0; at <= 40; at += 1) {
      growth.add({ at: at * MINUTE, ratio: at % 2 === 0 ? 0.7001 : 0.6999 })
    }
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
    for (let at = 0; at <= 30; at += 1) {
      growth.add({ at: at * MINUTE, ratio: at < 15 ? 0.7 : 0.7001 })
    }
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
