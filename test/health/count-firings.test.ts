import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRuleEvaluator } from '../../src/health/promql/rules.ts'
import { createFiringCounter, type EvaluationTiming } from '../../src/health/rules/count-firings.ts'

const INTERVAL = 15_000

/** `x` is an evaluation at which the condition holds, by instance; the first one is at 0. */
const countsOf = (timing: Omit<EvaluationTiming, 'interval'>, ...instances: readonly string[]) => {
  const counter = createFiringCounter({ ...timing, interval: INTERVAL })
  const length = Math.max(...instances.map((evaluations) => evaluations.length))
  for (let index = 0; index < length; index += 1) {
    for (const [number, evaluations] of instances.entries()) {
      if (evaluations[index] === 'x') counter.add({ instance: String(number) }, index * INTERVAL)
    }
  }
  const { firings, firingMs, nodes, lastAt } = counter.countsUntil((length - 1) * INTERVAL)
  return { firings, evaluations: firingMs / INTERVAL, nodes, last: lastAt === null ? null : lastAt / INTERVAL }
}

// How firings are counted over time: the last test.
test.each([
  // The condition is false at 1 and 2; at 3 the alert would end.
  ['the last firing of one that is kept', 30, ['x..x....'], { firings: 1, evaluations: 6, nodes: 1, last: 0 }],
  ['each label set is an alert', 0, ['xx...', '.xx..'], { firings: 2, evaluations: 4, nodes: 2, last: 1 }],
])('%s', (...[, keep, instances, expected]) => {
  expect(countsOf({ for: 0, keepFiringFor: keep * 1000 }, ...instances)).toEqual(expected)
})

test('an alert without the label instance is not of a node', () => {
  const counter = createFiringCounter({ for: 0, keepFiringFor: 0, interval: INTERVAL })
  counter.add({ job: 'chain-agent' }, 0)
  expect(counter.countsUntil(INTERVAL)).toEqual({ firings: 1, firingMs: INTERVAL, nodes: 0, lastAt: 0 })
})

test('counts what the evaluator of the agent fires', () => {
  const run = fc.record({
    hold: fc.integer({ min: 0, max: 5 }).map((count) => count * 10_000),
    keep: fc.integer({ min: 0, max: 5 }).map((count) => count * 10_000),
    evaluations: fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }),
  })
  fc.assert(
    fc.property(run, ({ hold, keep, evaluations }) => {
      const rule = { alert: 'Test', expr: 'problem == 1', labels: {}, for: hold, keepFiringFor: keep }
      const evaluator = createRuleEvaluator({ recording: [], alerts: [rule] })
      let [firings, fired, wasFiring] = [0, 0, false]
      for (const [index, isTrue] of evaluations.entries()) {
        const sample = { name: 'problem', labels: {}, value: isTrue ? 1 : 0 }
        evaluator.evaluate((index + 1) * INTERVAL, [sample])
        if (wasFiring) fired += 1
        const isFiring = evaluator.active().some(({ state }) => state === 'firing')
        if (isFiring && !wasFiring) firings += 1
        wasFiring = isFiring
      }
      const text = evaluations.map((isTrue) => (isTrue ? 'x' : '.')).join('')
      expect(countsOf({ for: hold, keepFiringFor: keep }, text)).toMatchObject({ firings, evaluations: fired })
    }),
    { numRuns: 2000, seed: 7 },
  )
})
