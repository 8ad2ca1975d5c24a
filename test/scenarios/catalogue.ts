import { existsSync } from 'node:fs'
import { expect } from 'vitest'
import { agentMetrics } from '../../src/metrics.ts'
import type { Coverage } from './simulate.ts'

const BUDGET = 950

/** A source that no simulated host has is in the test that the reason names. */
const isTestedIn = (noScenario = ''): boolean => existsSync(/\btest\/\S+\.test\.ts\b/.exec(noScenario)?.[0] ?? 'none')

/**
 * Every metric occurs, and has more than one value in some scenario or a reason in its definition; the limit of series per
 * node.
 */
export const expectWholeCatalogue = (parts: readonly Coverage[]): void => {
  const isIn = (name: string, of: 'moved' | 'present') => parts.some((part) => name in part[of])
  const duties = Object.entries(agentMetrics).flatMap(([name, { noScenario }]) => {
    if (!isIn(name, 'present'))
      return isTestedIn(noScenario)
        ? []
        : [`${name}: simulator/ must simulate its source, so that it occurs, or noScenario must name its test`]
    if (isIn(name, 'moved'))
      return noScenario === undefined ? [] : [`${name}: a scenario changes it; remove noScenario`]
    const way = 'change it in a file of scenarios/ (scenarios/README.md has the directives of simulator/)'
    return noScenario === undefined ? [`${name}: ${way}, or give its definition a reason as noScenario`] : []
  })
  expect(duties).toEqual([])
  const [most] = parts.map((part) => part.most).toSorted((a, b) => b.series - a.series)
  console.log(`at most ${most?.series} series, in the scenario ${most?.scenario}`)
  expect(most?.series).toBeGreaterThan(500)
  expect(most?.series).toBeLessThanOrEqual(BUDGET)
}
