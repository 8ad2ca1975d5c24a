import { expect, test } from 'vitest'
import { createSampleHistory } from '../../src/health/promql/series.ts'

test('samples are removed some time after their retention, and those of a request with the next ones', () => {
  const history = createSampleHistory(() => 60_000)
  const add = (second: number, isExtra = false): void =>
    history.add(second * 1000, [{ name: 'a', labels: {}, value: second }], { isExtra })
  const count = (): number => [...history.select('a', [])].flatMap((series) => series.within(-1, Infinity)).length
  for (let second = 0; second < 200; second += 1) add(second)
  const kept = count()
  // 60 s, and at most 65 that are removed together.
  expect(kept).toBeLessThanOrEqual(125)
  for (const second of [199.1, 199.2, 199.3]) add(second, true)
  expect(count()).toBe(kept + 1)
})

test('a selection contains the series that have begun since the last one, and none that was removed', () => {
  const history = createSampleHistory(() => 60_000)
  const matchers = [{ label: 'l', matches: (value: string) => value !== 'other' }]
  const selectedAt = (second: number, ...values: readonly string[]): readonly string[] => {
    history.add(
      second * 1000,
      values.map((l) => ({ name: 'a', labels: { l }, value: 1 })),
    )
    return history.select('a', matchers).map(({ labels }) => labels['l'] ?? '')
  }
  expect(selectedAt(0, 'x', 'other')).toEqual(['x'])
  expect(selectedAt(15, 'x', 'y')).toEqual(['x', 'y'])
  expect(selectedAt(30, 'y')).toEqual(['x', 'y'])
  // The last sample of x, its end, is at 30 s.
  expect(selectedAt(89, 'y')).toEqual(['x', 'y'])
  expect(selectedAt(90, 'y')).toEqual(['y'])
})
