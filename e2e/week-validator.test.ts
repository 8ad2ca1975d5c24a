import { expect, test } from 'vitest'
import { differencesFromPrometheus } from '../test/scenarios/agreement.ts'
import { NEWEST, OLDER } from '../test/support/prometheus.ts'
import { noiseOf, playWeek } from './week.ts'

/** Every kind of noise has begun by then; more scrapes show Prometheus nothing new. */
const COMPARED_S = 600

test('a busy week of a healthy validator has no page and no warning', async () => {
  const week = await playWeek('healthy-busy', { recordS: COMPARED_S })
  expect(noiseOf(week)).toEqual([])
  // Evaluations at 15 s, ten minutes and an hour: the week was played to its end.
  expect(week.evaluations).toBeGreaterThan(500)
  expect(week.looks.length).toBe(39)
  expect(await differencesFromPrometheus(week.looks, [], [NEWEST, ...OLDER])).toBe('')
})
