import { expect, test } from 'vitest'
import { createRate } from '../../src/domain/rate.ts'

type Points = readonly (readonly [at: number, value: number])[]

const rateOf = (points: Points, isSparse = false) => {
  const rate = createRate({ span: 1000, least: 100, isSparse })
  for (const [at, value] of points) rate.add({ at, value })
  return rate.read()
}

test.each([false, true])('a rate is unknown until the points are far enough apart (sparse: %s)', (isSparse) => {
  expect(rateOf([], isSparse)).toBe(null)
  const points = [
    [0, 0],
    [99, 99_000],
  ] as const
  expect(rateOf(points, isSparse)).toBe(null)
  expect(rateOf([...points, [100, 100_000]], isSparse)).toBe(1000)
})

test.each<{ name: string; points: Points; within: number | null; sparse: number }>([
  {
    name: 'one that is the span away',
    points: [
      [0, 0],
      [100, 100_000],
      [1100, 400_000],
    ],
    within: 300,
    sparse: 300,
  },
  {
    name: 'a pause that is longer than the rest of the span',
    points: [
      [0, 0],
      [600, 600],
      [1200, 6600],
    ],
    within: 10,
    sparse: 5.5,
  },
  // A chain that halted has no rate of that time.
  {
    name: 'a pause that is longer than the span',
    points: [
      [0, 0],
      [100, 100],
      [1300, 2500],
    ],
    within: null,
    sparse: 2,
  },
  {
    name: 'only distant points',
    points: [
      [0, 0],
      [5000, 10_000],
      [10_000, 25_000],
    ],
    within: null,
    sparse: 3,
  },
])('the first point: $name', ({ points, within, sparse }) => {
  expect([rateOf(points), rateOf(points, true)]).toEqual([within, sparse])
})

test('a point before the last one removes what is not before it', () => {
  const reset: Points = [
    [1000, 0],
    [1200, 200_000],
    [10, 300_000],
  ]
  expect(rateOf(reset)).toBe(null)
  const back: Points = [
    [0, 0],
    [900, 900],
    [500, 1000],
  ]
  expect(rateOf(back)).toBe(2)
})
