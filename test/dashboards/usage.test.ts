import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DETAILS } from '../../dashboards/build/overview.ts'
import { RENAMED_METRICS } from '../../src/health/rules/renamed.ts'
import { testFiles, testsOf } from '../alerts/files.ts'

/** Labels of every alert, or of its own columns. */
const COMMON = ['alertname', 'severity', 'component', 'job', 'instance', 'cluster']
/** The reason of a maintenance window, whose alert is not in the list; labels that are the same in every series of an alert. */
const NOT_SHOWN = ['reason', 'scope', 'percentile', 'phase', 'firmware', 'view', 'boot', 'criterion', 'share']

it('the list of alerts has every label that distinguishes the series of an alert', () => {
  const labels = testFiles
    .flatMap((name) => testsOf(name).tests)
    .flatMap(({ alert_rule_test: rules }) => rules)
    .flatMap(({ exp_alerts: alerts }) => alerts)
    .flatMap(({ exp_labels: own }) => Object.keys(own))
  expect(labels.length).toBeGreaterThan(100)
  expect([...new Set(labels)].filter((label) => ![...COMMON, ...NOT_SHOWN, ...DETAILS].includes(label))).toEqual([])
})

/** Version 0.2.0 has the first one, too; of the second it has the count for each collector. */
const NOT_ONLY_RENAMED = ['chain_agent_collector_up', 'chain_agent_internal_failures_total']

it('a panel with a renamed metric also queries its name of version 0.2.0', () => {
  const queries = readdirSync('dashboards')
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => readFileSync(`dashboards/${file}`, 'utf8').match(/"expr": ".*"/g) ?? [])
  const names = Object.entries(RENAMED_METRICS).flatMap(([old, now]) => {
    const [before = ''] = old.match(/chain_\w+/g) ?? []
    return (now?.match(/(?<!:)\bchain_\w+/g) ?? []).flatMap((name) =>
      name === before ? [] : [[before, name] as const],
    )
  })
  const asked = names.filter(([, name]) => queries.some((query) => query.includes(`${name}{`)))
  expect(asked.length).toBeGreaterThan(5)
  const alone = asked.flatMap(([before, name]) =>
    queries.filter((query) => query.includes(`${name}{`) && !query.includes(`${before}{`)).map(() => name),
  )
  expect([...new Set(alone)]).toEqual(NOT_ONLY_RENAMED)
})
