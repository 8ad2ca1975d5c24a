import { expect, it } from 'vitest'
import { DETAILS } from '../../dashboards/build/overview.ts'
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
