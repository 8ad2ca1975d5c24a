import { expect, it } from 'vitest'
import { createSeriesHistory } from '../../../src/health/changes/series-history.ts'

const ALL = { beforeFrom: 0, from: 2000, to: 10_000 }
const up = (value: number, labels = {}) => ({ name: 'chain_rpc_up', labels, value })
const valuesOf = (history: ReturnType<typeof createSeriesHistory>) =>
  history.read(ALL).series.map(({ labels, values }) => [Object.values(labels).join(), Array.from(values)])

it('keeps the newest times, each with one value of a series', () => {
  const history = createSeriesHistory(3)
  expect(history.oldestAt()).toBeUndefined()
  for (const at of [1000, 2000, 3000, 4000]) history.record([up(at)], at)
  expect(history.oldestAt()).toBe(2000)
  expect(history.read(ALL)).toMatchObject({ times: [2000, 3000, 4000], before: 1 })
  expect(valuesOf(history)).toEqual([['', [2000, 3000, 4000]]])
})

it('reads only the times of the range', () => {
  const history = createSeriesHistory(10)
  for (const at of [1000, 2000, 3000, 4000, 5000]) history.record([up(at)], at)
  expect(history.read({ beforeFrom: 1000, from: 2000, to: 4000 })).toMatchObject({
    times: [2000, 3000, 4000],
    before: 1,
  })
})

it('has no value of a time without a sample, and forgets a series without any', () => {
  const history = createSeriesHistory(3)
  history.record([up(1, { a: 'x' }), up(1, { a: 'y' })], 1000)
  history.record([up(2, { a: 'y' })], 2000)
  history.record([up(3, { a: 'y' })], 3000)
  expect(valuesOf(history)).toEqual([
    ['x', [1, NaN, NaN]],
    ['y', [1, 2, 3]],
  ])
  history.record([up(4, { a: 'y' })], 4000)
  expect(valuesOf(history)).toEqual([['y', [2, 3, 4]]])
})

it('gives a series that begins no value of the one that it replaces', () => {
  const history = createSeriesHistory(3)
  history.record([up(1, { a: 'x' }), up(1, { a: 'y' })], 1000)
  history.record([up(2, { a: 'x' }), up(2, { a: 'y' })], 2000)
  for (const at of [3000, 4000]) history.record([up(at, { a: 'y' }), up(at + 1, { a: 'z' })], at)
  expect(valuesOf(history)).toEqual([
    ['x', [2, NaN, NaN]],
    ['y', [2, 3000, 4000]],
    ['z', [NaN, 3001, 4001]],
  ])
  history.record([up(5, { a: 'y' }), up(6, { a: 'z' }), up(7, { a: 'w' }), up(8, { a: 'v' })], 5000)
  expect(valuesOf(history)).toEqual([
    ['y', [3000, 4000, 5]],
    ['z', [3001, 4001, 6]],
    ['w', [NaN, NaN, 7]],
    ['v', [NaN, NaN, 8]],
  ])
})

it('ignores a second recording at the same time', () => {
  const history = createSeriesHistory(3)
  history.record([up(1)], 2000)
  history.record([up(2)], 2000)
  expect(history.read(ALL).times).toEqual([2000])
  expect(valuesOf(history)).toEqual([['', [1]]])
})

it('begins again at a time before the last: the clock of the host was set back', () => {
  const history = createSeriesHistory(3)
  history.record([up(1, { a: 'x' })], 3000)
  history.record([up(2, { a: 'x' })], 4000)
  history.record([up(3, { a: 'y' })], 1000)
  history.record([up(4, { a: 'y' })], 2000)
  expect(history.oldestAt()).toBe(1000)
  expect(history.read(ALL).times).toEqual([1000, 2000])
  expect(valuesOf(history)).toEqual([['y', [3, 4]]])
})

it('keeps 2,000 series at most, and no buckets', () => {
  const history = createSeriesHistory(3)
  const many = Array.from({ length: 2500 }, (_, index) => up(1, { a: `${index}` }))
  history.record([{ name: 'chain_x_bucket', labels: { le: '1' }, value: 1 }, ...many], 1000)
  expect(history.read(ALL).series.length).toBe(2000)
  expect(history.read(ALL).series.every(({ name }) => name === 'chain_rpc_up')).toBe(true)
})
