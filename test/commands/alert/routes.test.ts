import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { groupTimes, routeSchema } from '../../../src/commands/alert/alertmanager.ts'

/** As Alertmanager prints it in /api/v2/status. */
const ROUTE = routeSchema.parse(
  parse(`
receiver: chat
group_wait: 20s
routes:
- receiver: pager
  matchers:
  - severity="critical"
  continue: true
  group_wait: 1m30s
- receiver: chat
  matchers:
  - severity=~"critical|warning"
  - component!="keys"
  group_interval: 2m
- receiver: mail
  match:
    severity: info
  routes:
  - match_re:
      instance: node-.*
    group_wait: 0s
- receiver: quoted
  matchers:
  - note="a \\"b\\""
  - instance!~"node-.*"
`),
)

test.for([
  [{ severity: 'critical', component: 'agent' }, 'pager', { wait: 90_000, interval: 300_000 }],
  // Both of its routes match.
  [{ severity: 'critical', component: 'agent' }, 'chat', { wait: 20_000, interval: 120_000 }],
  [{ severity: 'warning', component: 'keys' }, 'chat', { wait: 20_000, interval: 300_000 }],
  [{ severity: 'info', instance: 'node-a' }, 'mail', { wait: 0, interval: 300_000 }],
  [{ severity: 'info', instance: 'a-node-a' }, 'mail', { wait: 20_000, interval: 300_000 }],
  [{ note: 'a "b"' }, 'quoted', { wait: 20_000, interval: 300_000 }],
  // No route of it leads there: the defaults of Alertmanager.
  [{ severity: 'info' }, 'pager', { wait: 30_000, interval: 300_000 }],
] as const)('the times of the group of %o for %s', ([labels, receiver, expected]) => {
  expect(groupTimes(ROUTE, labels, receiver)).toEqual(expected)
})

test('a pattern that JavaScript does not have matches nothing', () => {
  const route = routeSchema.parse({ receiver: 'a', routes: [{ receiver: 'b', matchers: ['x=~"(?U)y"'] }] })
  expect(groupTimes(route, { x: 'y' }, 'a')).toEqual({ wait: 30_000, interval: 300_000 })
})
