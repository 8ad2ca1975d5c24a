import { expect, it } from 'vitest'
import type { Mark } from '../../src/query/resume/checkpoint.ts'
import { createMarks } from '../../src/query/resume/marks.ts'

const mark = (next: number, hash?: string): Mark => ({
  target: 1000,
  next,
  last: hash === undefined ? null : { block: next - 1, hash },
  logs: 0,
  offset: 0,
})

const bench = ({ isEager = false, takes = 0 } = {}) => {
  let elapsed = 0
  const written: number[] = []
  const clock = {
    now: () => elapsed,
    elapsed: () => elapsed,
    sleep: () => Promise.resolve(),
  }
  const marks = createMarks({
    clock,
    height: 1000,
    isEager,
    write: ({ next }) => {
      written.push(next)
      elapsed += takes
      return Promise.resolve()
    },
  })
  return {
    written,
    pass: async (one: Mark, after = 0): Promise<void> => {
      elapsed += after
      await marks.before(one)
      await marks.passed(one)
    },
    keep: marks.keep,
  }
}

it('writing takes a twentieth of the time; what was not written is kept at the end', async () => {
  const { written, pass, keep } = bench({ takes: 10 })
  for (const next of [1, 2, 3, 4, 5]) await pass(mark(next), 100)
  // The first at once, then 200 ms after that was done.
  expect(written).toEqual([1, 3, 5])
  await pass(mark(6), 0)
  await keep()
  expect(written).toEqual([1, 3, 5, 6])
})

it('what a reorganisation may still change is no place, unless a hash tells which it was', async () => {
  const { written, pass } = bench({ isEager: true })
  await pass(mark(801))
  await pass(mark(802))
  await pass(mark(900, '0xab'))
  expect(written).toEqual([801, 900])
})

it('a settled place is written before anything unsettled is added', async () => {
  const { written, pass, keep } = bench({ takes: 10 })
  await pass(mark(700))
  await pass(mark(800))
  expect(written).toEqual([700])
  await pass(mark(802))
  expect(written).toEqual([700, 800])
  await keep()
  expect(written).toEqual([700, 800])
})
