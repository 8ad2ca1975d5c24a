import { expect, test } from 'vitest'
import { followAlert } from '../../../src/commands/alert/action.ts'
import type { SendRequest } from '../../../src/sources/http.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { parse } from 'yaml'
import { groupTimes, routeSchema } from '../../../src/commands/alert/alertmanager.ts'

const LABELS = { alertname: 'ChainTest', severity: 'critical' }
const RECEIVER = { name: 'phone' }

/** Answers as Alertmanager with the defaults: a group waits for 30 s. Its counter of requests rises after `sentAfter` seconds. */
const follow = async ({ sentAfter, wait }: Readonly<Record<'sentAfter' | 'wait', number>>) => {
  const clock = jumpingClock()
  const posts: number[] = []
  const config = { original: 'route: { receiver: phone }\nreceivers: [{ name: phone, telegram_configs: [{}] }]' }
  const alert = { labels: LABELS, receivers: [RECEIVER], status: { state: 'active', silencedBy: [], inhibitedBy: [] } }
  const answers: Readonly<Record<string, () => string>> = {
    '/api/v2/status': () => JSON.stringify({ versionInfo: { version: '0.25.0' }, config }),
    '/api/v2/alerts': () => JSON.stringify([alert]),
    '/api/v2/alerts/groups': () => JSON.stringify([{ receiver: RECEIVER, alerts: [alert] }]),
    '/metrics': () =>
      `alertmanager_notification_requests_total{integration="telegram"} ${clock.elapsed() >= sentAfter * 1000 ? 1 : 0}\n`,
  }
  const ask: SendRequest = ({ url, init }) => {
    if (init !== undefined) posts.push(Math.round(clock.elapsed() / 1000))
    const text = init === undefined ? (answers[new URL(url).pathname]?.() ?? '') : ''
    return Promise.resolve({ status: 200, text, date: clock.now() })
  }
  const { signal } = new AbortController()
  const options = { url: 'http://127.0.0.1:9093', labels: LABELS, code: '4821', wait: wait * 1000 }
  const { deliveries, problem } = await followAlert({ clock, signal, ask }, options)
  return { deliveries, problem, posts }
}

const UNCLEAR =
  'cannot tell whether it was delivered: another notification was sent at the same time. Look for 4821 on your phone: only its message shows that'

// The posts are the clock of Alertmanager, the alert, and its end when the group has been sent.
test.for([
  ['before group_wait is over: another notification', 10, { state: 'cannot tell', seconds: null }, UNCLEAR, [0, 0, 33]],
  ['after it: the test alert', 31, { state: 'delivered', seconds: 31 }, null, [0, 0, 31]],
] as const)('a counter that rises %s', async ([, sentAfter, delivery, expected, sent]) => {
  const { deliveries, problem, posts } = await follow({ sentAfter, wait: 120 })
  expect(deliveries).toMatchObject([delivery])
  expect({ problem, posts }).toEqual({ problem: expected, posts: sent })
})

test('the alert is sent again while it is followed: Alertmanager would end it', async () => {
  const { deliveries, posts } = await follow({ sentAfter: 1000, wait: 150 })
  expect(deliveries).toMatchObject([{ state: 'waiting' }])
  expect(posts).toEqual([0, 0, 60, 120, 150])
})

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
