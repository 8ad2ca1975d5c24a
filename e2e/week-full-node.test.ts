import { expect, test } from 'vitest'
import { DAY, noiseOf, playWeek } from './week.ts'

test('a busy week of a healthy full node has no page and no warning', async () => {
  const week = await playWeek('healthy-busy-full-node')
  expect(noiseOf(week)).toEqual([])
  expect(week.evaluations).toBeGreaterThan(500)
})

/** Those of the catalogue in which the node itself has no fault. */
test.each(['healthy', 'info-only-log', 'epoch-boundary', 'network-noise', 'bad-state-root'])(
  'a day of %s has no page and no warning',
  async (scenario) => {
    const day = await playWeek(scenario, DAY)
    expect(noiseOf(day)).toEqual([])
  },
)
