import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type Alerting, INSTANCE, startAlerting } from '../../e2e/alerting.ts'
import { requireAlertmanager } from '../support/alertmanager.ts'
import { eventually } from '../support/eventually.ts'
import { openHost } from '../support/host.ts'
import { listening } from '../support/http.ts'
import { requirePrometheus } from '../support/prometheus.ts'
import { parseExposition } from '../support/scrape.ts'
import { addressIn } from './listeners.ts'

/** It fires without a delay, and ends with its condition. */
const ALERT = 'ChainStorageFull.free-chunks'
const SEVERITY = 'critical'
const SCENARIO = '30s storage used 97\n120s storage used 70'

const listedSchema = z.array(z.object({ labels: z.record(z.string(), z.string()) }))

/**
 * In front of Alertmanager, whose clock is that of this machine; the clock of the simulated host is a manual one, months
 * behind it. Until `to` is set, no connection is answered; `null` accepts everything.
 */
const startRelay = async () => {
  let to: string | null | undefined
  let now = (): number => 0
  const sent: z.output<typeof listedSchema> = []
  /** When each alert was first sent. */
  const firstAt = new Map<string | undefined, number>()
  const server = createServer((request, response) => {
    if (to === undefined) {
      request.destroy()
      return
    }
    void text(request).then(async (body) => {
      const alerts = listedSchema.parse(JSON.parse(body))
      sent.push(...alerts)
      const added = alerts.map(addressIn).filter((name) => !firstAt.has(name))
      for (const name of added) firstAt.set(name, now())
      if (to === null) {
        response.end()
        return
      }
      const headers = { 'content-type': request.headers['content-type'] ?? '' }
      const { status } = await fetch(`http://${to}${request.url}`, { method: 'POST', headers, body })
      response.writeHead(status).end()
    })
  })
  const { url, close } = await listening(server)
  onTestFinished(close)
  return {
    url,
    sent,
    firstAt,
    connect: (address: string | null, clock = now): void => {
      to = address
      now = clock
    },
  }
}

/** A node 100 s into the scenario: the alert has fired for more than a minute, and no Alertmanager has run so far. */
const start = async () => {
  const relay = await startRelay()
  const settings = { 'alertmanagers.urls': `[${relay.url}]`, 'alertmanagers.instance': INSTANCE }
  const host = await openHost({ scenario: SCENARIO, second: 0, settings })
  const toSecond = async (second: number): Promise<void> => {
    while (host.elapsed() < second * 1000) await host.second()
  }
  const isAccepted = async (): Promise<number | undefined> =>
    parseExposition(await host.page('/metrics')).value('chain_agent_alertmanager_up', {
      alertmanager: new URL(relay.url).host,
    })
  await toSecond(100)
  expect(await isAccepted()).toBe(0)
  return { relay, host, toSecond, isAccepted }
}

const noticesOf = (alerting: Alerting) =>
  alerting.notices().filter(({ alert, severity }) => alert === ALERT && severity === SEVERITY)
const statesOf = (alerting: Alerting) => noticesOf(alerting).map(({ status }) => status)
const listedBy = async ({ address }: Alerting) => {
  const response = await fetch(
    `http://${address}/api/v2/alerts?filter=alertname=ChainStorageFull&filter=why=free-chunks&filter=severity=${SEVERITY}`,
  )
  return listedSchema.parse(await response.json())
}

const eventsSchema = z.object({
  events: z.array(z.object({ at: z.iso.datetime(), collector: z.string(), subject: z.string().nullable() })),
})

it('an alert is sent within a second of the evaluation that fires it', async () => {
  const relay = await startRelay()
  const settings = { 'alertmanagers.urls': `[${relay.url}]`, 'alertmanagers.instance': INSTANCE }
  const host = await openHost({ scenario: '20s storage used 97', second: 0, settings })
  relay.connect(null, host.now)
  for (let second = 0; second < 120 && !relay.firstAt.has(ALERT); second += 1) await host.second()
  const { events } = eventsSchema.parse(JSON.parse(await host.page('/api/v1/events')))
  const fired = events.filter(({ collector, subject }) => collector === 'alerts' && subject?.startsWith(ALERT))
  expect(fired.length).toBeGreaterThan(0)
  const firedAt = Math.min(...fired.map(({ at }) => Date.parse(at)))
  expect((relay.firstAt.get(ALERT) ?? Infinity) - firedAt).toBeLessThanOrEqual(1000)
})

const describe = await requireAlertmanager()
describe('the agent alone', () => {
  it('sends what fires to an Alertmanager that is started later, once, and its end', async () => {
    const { relay, toSecond, isAccepted } = await start()
    const alerting = await startAlerting([], { withPrometheus: false })
    onTestFinished(alerting.close)
    relay.connect(alerting.address)
    await toSecond(118)
    expect(await isAccepted()).toBe(1)
    await eventually(
      () => statesOf(alerting),
      (states) => states.length > 0,
    )
    await toSecond(180)
    await eventually(
      () => statesOf(alerting),
      (states) => states.includes('resolved'),
    )
    expect(statesOf(alerting)).toEqual(['firing', 'resolved'])
    expect(noticesOf(alerting)).toMatchObject(Array.from({ length: 2 }, () => ({ instance: INSTANCE })))
  })
})

const describeBoth = await requirePrometheus()
describeBoth('the agent and Prometheus', () => {
  it('send the same alert, which is one notification', async () => {
    const { relay, host, toSecond } = await start()
    const alerting = await startAlerting([`127.0.0.1:${host.port}`])
    onTestFinished(alerting.close)
    // Prometheus first; then the agent.
    await eventually(
      () => statesOf(alerting),
      (states) => states.length > 0,
    )
    const byPrometheus = await listedBy(alerting)
    relay.connect(alerting.address)
    await toSecond(118)
    const byAgent = relay.sent.filter((one) => addressIn(one) === ALERT && one.labels['severity'] === SEVERITY)
    expect(byAgent.length).toBeGreaterThan(0)
    for (const { labels } of byAgent) expect([{ labels }]).toEqual(byPrometheus)
    expect(await listedBy(alerting)).toEqual(byPrometheus)
    expect(new Set(noticesOf(alerting).map(({ fingerprint }) => fingerprint)).size).toBe(1)
    expect(statesOf(alerting)).not.toContain('resolved')
  })
})
