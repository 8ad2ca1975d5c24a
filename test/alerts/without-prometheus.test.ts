import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type Alerting, INSTANCE, startAlerting } from '../../e2e/alerting.ts'
import { probeAlertmanager } from '../support/alertmanager.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { openHost } from '../support/host.ts'
import { probePrometheus } from '../support/prometheus.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { parseExposition } from '../support/scrape.ts'

/** It fires without a delay, and ends with its condition. */
const ALERT = 'ChainStorageFreeChunksLow'
const SEVERITY = 'critical'
const SCENARIO = '30s storage used 97\n120s storage used 70'

const alertsSchema = z.array(
  z.looseObject({ labels: z.record(z.string(), z.string()), startsAt: z.string(), endsAt: z.string() }),
)
const listedSchema = z.array(z.object({ labels: z.record(z.string(), z.string()) }))

/**
 * In front of Alertmanager: the clock of the simulated host is a manual one, and the times of its alerts are moved to that of
 * this machine. Until `to` is set, no connection is answered.
 */
const startRelay = async () => {
  let to: string | undefined
  let now = (): number => 0
  const sent: z.output<typeof alertsSchema> = []
  const server = createServer((request, response) => {
    if (to === undefined) {
      request.destroy()
      return
    }
    const move = (time: string): string => new Date(Date.parse(time) - now() + Date.now()).toISOString()
    void text(request).then(async (body) => {
      const alerts = alertsSchema.parse(JSON.parse(body))
      sent.push(...alerts)
      const moved = alerts.map((alert) => ({ ...alert, startsAt: move(alert.startsAt), endsAt: move(alert.endsAt) }))
      const headers = { 'content-type': request.headers['content-type'] ?? '' }
      const { status } = await fetch(`http://${to}${request.url}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(moved),
      })
      response.writeHead(status).end()
    })
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return {
    url: `http://127.0.0.1:${port}`,
    sent,
    connect: (address: string, clock: () => number): void => {
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
  const response = await fetch(`http://${address}/api/v2/alerts?filter=alertname=${ALERT}&filter=severity=${SEVERITY}`)
  return listedSchema.parse(await response.json())
}

const describe = await requireRealPart('alertmanager', probeAlertmanager)
describe('the agent alone', () => {
  it('sends what fires to an Alertmanager that is started later, once, and its end', async () => {
    const { relay, host, toSecond, isAccepted } = await start()
    const alerting = await startAlerting([], { withPrometheus: false })
    onTestFinished(alerting.close)
    relay.connect(alerting.address, host.now)
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

const describeBoth = await requireRealPart('prometheus', probePrometheus)
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
    relay.connect(alerting.address, host.now)
    await toSecond(118)
    const byAgent = relay.sent.filter(
      ({ labels: { alertname, severity } }) => alertname === ALERT && severity === SEVERITY,
    )
    expect(byAgent.length).toBeGreaterThan(0)
    for (const { labels } of byAgent) expect([{ labels }]).toEqual(byPrometheus)
    expect(await listedBy(alerting)).toEqual(byPrometheus)
    expect(new Set(noticesOf(alerting).map(({ fingerprint }) => fingerprint)).size).toBe(1)
    expect(statesOf(alerting)).not.toContain('resolved')
  })
})
