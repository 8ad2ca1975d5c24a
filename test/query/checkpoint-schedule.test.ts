import { expect, it } from 'vitest'
import { createCheckpointSchedule, type ResumePoint } from '../../query/client/checkpoint.ts'

const point = (next: number, hash?: string): ResumePoint => ({
  target: 1000,
  next,
  last: hash === undefined ? null : { block: next - 1, hash },
  output: null,
})

const createSchedule = ({ isEager = false, takes = 0 } = {}) => {
  let elapsed = 0
  const written: number[] = []
  const clock = { now: () => elapsed, elapsed: () => elapsed, sleep: () => Promise.resolve() }
  const schedule = createCheckpointSchedule({
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
    pass: async (one: ResumePoint, after = 0): Promise<void> => {
      elapsed += after
      await schedule.beforePage(one)
      await schedule.afterPage(one)
    },
    flush: schedule.flush,
  }
}

it('writing takes a twentieth of the time; flush writes the last point', async () => {
  const { written, pass, flush } = createSchedule({ takes: 10 })
  for (const next of [1, 2, 3, 4, 5]) await pass(point(next), 100)
  // The first at once, the next 200 ms after that write.
  expect(written).toEqual([1, 3, 5])
  await pass(point(6), 0)
  await flush()
  expect(written).toEqual([1, 3, 5, 6])
})

it('a block that a reorg may replace is a resume point only with its hash', async () => {
  const { written, pass } = createSchedule({ isEager: true })
  await pass(point(801))
  await pass(point(802))
  await pass(point(900, '0xab'))
  expect(written).toEqual([801, 900])
})

it('a settled point is written before an unsettled page is applied', async () => {
  const { written, pass, flush } = createSchedule({ takes: 10 })
  await pass(point(700))
  await pass(point(800))
  expect(written).toEqual([700])
  await pass(point(802))
  expect(written).toEqual([700, 800])
  await flush()
  expect(written).toEqual([700, 800])
})
