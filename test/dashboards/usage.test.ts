import { expect, it } from 'vitest'
import { DETAILS } from '../../dashboards/build/overview.ts'
import { alerts, rowOf, testFiles, testsOf } from '../alerts/files.ts'

/** Labels of every alert, or of its own columns. */
const COMMON = ['alertname', 'severity', 'component', 'job', 'instance', 'cluster']
/** The reason of a maintenance window, whose alert is not in the list; labels that are the same in every series of an alert. */
const NOT_SHOWN = ['reason', 'firmware', 'boot', 'share']

/** Whether the first selector of the row, whose labels the alert has, selects one value of the label. */
const isFixed = (alert: string, labels: Readonly<Record<string, string>>, label: string): boolean =>
  alerts.some(
    (rule) =>
      rule.alert === alert &&
      rowOf(rule.labels ?? {}) === rowOf(labels) &&
      new RegExp(`^[^{]*\\{(?:[^}]*,)?${label}="`).test(rule.expr),
  )

it('the list of alerts has every label that distinguishes the series of an alert', () => {
  const labels = testFiles
    .flatMap((name) => testsOf(name).tests)
    .flatMap(({ alert_rule_test: rules }) => rules)
    .flatMap(({ alertname, exp_alerts: expected }) =>
      expected.flatMap(({ exp_labels: own }) => Object.keys(own).filter((label) => !isFixed(alertname, own, label))),
    )
  expect(labels.length).toBeGreaterThan(100)
  expect(
    [...new Set(labels)].filter((label) => ![...COMMON, ...NOT_SHOWN, ...DETAILS].includes(label)),
    'a label by which the series of an alert differ is in DETAILS of dashboards/build/overview.ts; one that all have is in NOT_SHOWN',
  ).toEqual([])
})
