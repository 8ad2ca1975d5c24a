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

const NONE = { firings: 0, evaluations: 0, nodes: 0, last: null }

interface Case {
  readonly name: string
  /** In seconds. */
  readonly hold?: number
  readonly keep?: number
  readonly instances: readonly string[]
  readonly expected: ReturnType<typeof countsOf>
}

const CASES: readonly Case[] = [
  {
    name: 'without a duration each series of evaluations is a firing',
    instances: ['xx..x.'],
    expected: { firings: 2, evaluations: 3, nodes: 1, last: 4 },
  },
  {
    name: 'for is reached exactly',
    hold: 30,
    instances: ['.xxx.'],
    expected: { firings: 1, evaluations: 1, nodes: 1, last: 3 },
  },
  { name: 'for is missed by one evaluation', hold: 30, instances: ['.xx.'], expected: NONE },
  { name: 'for starts again after a gap', hold: 30, keep: 60, instances: ['xx.xx.'], expected: NONE },
  {
    name: 'for is no multiple of the interval',
    hold: 20,
    instances: ['xxx.'],
    expected: { firings: 1, evaluations: 1, nodes: 1, last: 2 },
  },
  {
    // The condition is false at 1 and 2; at 3 the alert would end.
    name: 'keep_firing_for bridges a gap',
    keep: 30,
    instances: ['x..x....'],
    expected: { firings: 1, evaluations: 6, nodes: 1, last: 0 },
  },
  {
    name: 'a gap is longer than keep_firing_for by one evaluation',
    keep: 30,
    instances: ['x...x...'],
    expected: { firings: 2, evaluations: 6, nodes: 1, last: 4 },
  },
  {
    name: 'an alert fires at the end',
    instances: ['..xx'],
    expected: { firings: 1, evaluations: 1, nodes: 1, last: 2 },
  },
  {
    name: 'an alert is kept at the end',
    keep: 60,
    instances: ['x..'],
    expected: { firings: 1, evaluations: 2, nodes: 1, last: 0 },
  },
  {
    name: 'each label set is an alert',
    instances: ['xx...', '.xx..'],
    expected: { firings: 2, evaluations: 4, nodes: 2, last: 1 },
  },
]

test.each(CASES)('$name', ({ hold = 0, keep = 0, instances, expected }) => {
  expect(countsOf({ for: hold * 1000, keepFiringFor: keep * 1000 }, ...instances)).toEqual(expected)
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
