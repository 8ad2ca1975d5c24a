import { describe, expect, test } from 'vitest'
import { metrics } from '../../src/metrics.ts'
import { parseDuration } from '../../src/core/units.ts'
import type { Scenario } from '../../src/simulator/scenario/scenario.ts'
import { listScenarios } from '../../src/simulator/scenario/scenarios.ts'
import { rehearse } from '../support/rehearsal.ts'
import type { Exposition } from '../support/scrape.ts'

/** What cannot change while one agent watches one node, and why. */
const CONSTANT: Readonly<Record<string, string>> = {
  chain_agent_build_info: 'one process is one version',
  chain_status_statesync_target_block: 'a simulated statesync keeps its target',
  chain_native_statesync_target_block: 'a simulated statesync keeps its target',
  chain_agent_collector_enabled: 'the configuration is read once',
  chain_service_expected: 'no failure changes what is enabled or required',
  chain_service_restarts_total:
    'the units that matter have Restart=no; the sandbox has one that restarts',
  chain_agent_journal_gaps_total:
    'needs a reader that stands while the journal is vacuumed: in the sandbox',
}

/** By then everything has been asked once: what appears later, or vanishes, has changed. */
const WARM_S = 20
/** How long after the last line of a scenario we go on looking. */
const AFTERMATH_S = 75
const LONGEST_S = 260
const BUDGET = 800

const scenarios = await listScenarios()
/** Metric → a scenario in which it moved. */
const moved = new Map<string, string>()
/** Metric → a scenario in which it was there. */
const present = new Map<string, string>()
let most = { series: 0, scenario: '' }

const secondsOf = ({ steps }: Scenario): number =>
  Math.min(
    LONGEST_S,
    Math.max(0, ...steps.map(({ afterMs, text }) => (afterMs + lasting(text)) / 1000)) +
      AFTERMATH_S,
  )

/** `node syncs 3m` lasts, in milliseconds. */
const lasting = (text: string): number => parseDuration(text.split(/\s+/).at(-1) ?? '') ?? 0

/** `name{labels} value` lines by metric; the parts of a histogram belong to it. */
const linesByMetric = ({ text }: Exposition): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [, name = ''] = /^([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{| )/.exec(line) ?? []
    if (name in metrics) found.set(name, [...(found.get(name) ?? []), line])
  }
  return found
}

describe.each(scenarios)('$name', (scenario) => {
  test('is rehearsed without a bug of ours', { timeout: 120_000 }, async () => {
    const looks = await rehearse(scenario, { seconds: secondsOf(scenario) })
    const seen = new Map<string, Set<string>>()
    for (const { second, seen: exposition } of looks) {
      const series = exposition.text.split('\n').filter((line) => /^[a-z]/.test(line)).length
      if (series > most.series) most = { series, scenario: scenario.name }
      const lines = linesByMetric(exposition)
      for (const name of lines.keys()) present.set(name, scenario.name)
      if (second < WARM_S) continue
      for (const name of Object.keys(metrics)) {
        seen.set(name, (seen.get(name) ?? new Set()).add((lines.get(name) ?? []).join('\n')))
      }
      // A bug of ours is told apart from whatever is wrong with the node.
      expect(exposition.text).not.toMatch(
        /chain_agent_collector_failures_total\{[^}]*kind="internal"\} [1-9]/,
      )
    }
    for (const [name, looked] of seen) if (looked.size > 1) moved.set(name, scenario.name)
  })
})

test('every metric is seen, and with more than one value in some scenario', () => {
  const names = Object.keys(metrics)
  expect(names.filter((name) => !present.has(name))).toEqual([])
  expect(names.filter((name) => !moved.has(name) && !(name in CONSTANT))).toEqual([])
  expect(Object.keys(CONSTANT).filter((name) => moved.has(name))).toEqual([])
})

test(`one node with everything on has at most ${BUDGET} series`, () => {
  console.log(`at most ${most.series} series, in the scenario ${most.scenario}`)
  expect(most.series).toBeGreaterThan(500)
  expect(most.series).toBeLessThanOrEqual(BUDGET)
})
