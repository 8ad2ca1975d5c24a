import { expect, test } from 'vitest'
import { NODE_VARIABLES } from '../../src/health/rules/rule.ts'
import { renderTemplate } from '../../src/health/promql/template.ts'

test.each([
  ['of a cluster', { job: 'j', cluster: 'north', instance: 'a' }, 'var-job=j&var-cluster=north&var-instance=a'],
  ['without a cluster', { job: 'j', instance: 'a' }, 'var-job=j&var-instance=a'],
])('the dashboard of a node %s', (_what, labels, expected) => {
  expect(renderTemplate(NODE_VARIABLES, { labels, value: 1 })).toBe(expected)
})
