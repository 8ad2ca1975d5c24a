import { expect, test } from 'vitest'
import { growthOf, renderReport, type Sample } from '../../bench/soak/report.ts'

const limits = { share: 0.1, floor: 2 }

test('the slope of a line, per hour, and its growth', () => {
  // 1 a minute from 10 on: 60 an hour, 3 in all, which is 30 % of 10.
  const points = [10, 11, 12, 13].map((value, minute) => [minute, value] as const)
  expect(growthOf(points, limits)).toMatchObject({ perHour: 60, total: 3, isBeyond: true })
  expect(growthOf(points, limits)?.share).toBeCloseTo(0.3)
  expect(growthOf(points, { share: 0.31, floor: 2 })?.isBeyond).toBe(false)
  expect(growthOf(points, { share: 0.1, floor: 3 })?.isBeyond).toBe(false)
})

test('noise does not grow, and three samples are too few', () => {
  // Slope 1.2, residuals 9.8, so its standard error is √(9.8 ÷ 2 ÷ 5) = 0.99.
  const points = [0, 4, 1, 5].map((value, minute) => [minute, 10 + value] as const)
  expect(growthOf(points, limits)?.perHour).toBeCloseTo(72)
  expect(growthOf(points, limits)?.isBeyond).toBe(false)
  expect(growthOf(points.slice(1), limits)).toBeUndefined()
})

const samples = (name: string, valueAt: (minute: number) => number): readonly Sample[] =>
  Array.from({ length: 60 }, (_, index) => ({
    name,
    minute: index + 1,
    figures: { children: valueAt(index + 1), '/metrics max, ms': index + 1 },
  }))

test('the report has means by period, the largest time of /metrics, and names what grows', () => {
  // Children: 9 minutes of 10, and 10 minutes each of 20, 30, …
  const { text, failures } = renderReport(
    [...samples('agent', (minute) => 10 + 10 * Math.floor(minute / 10)), ...samples('query-service', () => 3)],
    0.1,
  )
  expect(text.split('\n').filter((line) => line.startsWith('| children') || line.includes('max'))).toEqual([
    expect.stringMatching(/^\| children \| 10 \| 20 \| 30 \| 40 \| 50 \| 60 \| [\d.]+ \| [\d.]+ % \| grows \|$/),
    '| /metrics max, ms | 9 | 19 | 29 | 39 | 49 | 59 |  |  |  |',
    '| children | 3 | 3 | 3 | 3 | 3 | 3 | 0 | 0 % | flat |',
    '| /metrics max, ms | 9 | 19 | 29 | 39 | 49 | 59 |  |  |  |',
  ])
  expect(failures).toEqual([expect.stringMatching(/^agent: children grows by [\d.]+ per hour$/)])
})

test('resident memory counts after a full collection only', () => {
  // Each tenth sample counts objects and has 50 MiB, the others keep more each time.
  const { text, failures } = renderReport(
    Array.from({ length: 60 }, (_, index): Sample => {
      const isFull = index % 10 === 9
      const figures = { 'RSS after collection, MiB': isFull ? 50 : 60 + index, ...(isFull && { 'objects: timers': 7 }) }
      return { name: 'agent', minute: index + 0.5, figures }
    }),
    0.1,
  )
  expect(text).toContain('| RSS after collection, MiB | 50 | 50 | 50 | 50 | 50 | 50 | 0 | 0 % | flat |')
  expect(failures).toEqual([])
})
