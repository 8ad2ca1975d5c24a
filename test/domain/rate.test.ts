import { expect, test } from 'vitest'
import { createRate } from '../../src/domain/rate.ts'

const rateOf = (...points: readonly (readonly [at: number, value: number])[]) => {
  const rate = createRate({ span: 1000, least: 100 })
  for (const [at, value] of points) rate.add({ at, value })
  return rate.read()
}

test('a rate is unknown until the points are far enough apart', () => {
  expect(rateOf()).toBe(null)
  expect(rateOf([0, 0], [99, 99_000])).toBe(null)
  expect(rateOf([0, 0], [99, 99_000], [100, 100_000])).toBe(1000)
})

test('it begins at the newest point that is the span away', () => {
  expect(rateOf([0, 0], [99, 99_000], [100, 100_000], [1100, 400_000])).toBe(300)
  expect(rateOf([0, 0], [600, 600], [1200, 6600])).toBe(5.5)
  // Not after a pause.
  expect(rateOf([0, 0], [100, 100], [2200, 4400])).toBe(null)
})

test('a point before the last one removes what is not before it', () => {
  expect(rateOf([1000, 0], [1200, 200_000], [10, 300_000])).toBe(null)
  expect(rateOf([0, 0], [1200, 1200], [500, 1000])).toBe(2)
})
