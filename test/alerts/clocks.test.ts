import { expect, onTestFinished } from 'vitest'
import { z } from 'zod'
import { alertmanagers } from '../../src/outbound/alertmanagers.ts'
import { systemClock } from '../../src/core/clock.ts'
import { hour, minute } from '../../src/core/units.ts'
import type { TargetAlert } from '../../src/domain/health.ts'
import { createAlertmanagerEndpoint } from '../../src/sources/endpoints.ts'
import { createHttpClient } from '../../src/sources/http.ts'
import {
  type AlertmanagerVersion,
  ALERTMANAGERS,
  requireAlertmanager,
  startAlertmanager,
} from '../support/alertmanager.ts'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { ALERT_SETTINGS } from '../collectors/run-collector.ts'
import { memoryCheckpoint } from '../collectors/recording.ts'

const listedSchema = z.array(
  z.object({ labels: z.object({ alertname: z.string() }), startsAt: z.string(), endsAt: z.string() }),
)

const start = async (version: AlertmanagerVersion, directory: string) => {
  const config = { route: { receiver: 'none' }, receivers: [{ name: 'none' }] }
  const { address, stop, post, alerts } = await startAlertmanager(directory, config, { version })
  onTestFinished(async () => stop())
  return {
    url: `http://${address}`,
    post,
    /** The times of the alerts that have not ended, in milliseconds from now. */
    list: async () => {
      const listed = listedSchema.parse(await alerts())
      return Object.fromEntries(
        listed.map(({ labels, startsAt, endsAt }) => [
          labels.alertname,
          { startsIn: Date.parse(startsAt) - Date.now(), endsIn: Date.parse(endsAt) - Date.now() },
        ]),
      )
    },
  }
}

/** Its clock is ahead of that of Alertmanager, which is the clock of this machine. */
const startAgent = (url: string, isAhead: number, checkpoint = memoryCheckpoint()) => {
  let ahead = isAhead
  const clock = { ...systemClock, now: () => Date.now() + ahead }
  const firing = new Map<string, TargetAlert>()
  let evaluated = (): void => undefined
  const collector = alertmanagers({
    ...ALERT_SETTINGS,
    urls: [url],
    alertmanagerAt: () => createAlertmanagerEndpoint(createHttpClient(clock), url, 10_000),
    alertsOf: (_target, state) => (state === 'firing' ? [...firing.values()] : []),
    onEvaluation: (listener) => {
      evaluated = listener
      return () => undefined
    },
    checkpoint,
    readBootId: () => Promise.resolve('boot'),
    readUptime: () => Promise.resolve(`${systemClock.elapsed() / 1000} 0.00`),
    clock,
  })
  const ended = new AbortController()
  const states: unknown[] = []
  const running = collector.run({ clock, signal: ended.signal }, (outcome) => {
    states.push(outcome.ok ? Object.values(collector.states(outcome.value)) : outcome.error.message)
  })
  const stop = async (): Promise<void> => {
    ended.abort()
    await running
  }
  onTestFinished(stop)
  const sent = async (count = states.length + 1): Promise<void> => {
    await eventually(
      () => states.length,
      (length) => length >= count,
    )
    expect(states).toEqual(states.map(() => ['accepted']))
  }
  return {
    sent,
    stop,
    setClock: (to: number): void => {
      ahead = to
    },
    /** These alerts fire now; one that did not before has fired for a minute. */
    fire: async (...names: readonly string[]): Promise<void> => {
      const next = names.map(
        (alertname) =>
          firing.get(alertname) ?? { labels: { alertname }, annotations: {}, startsAt: clock.now() - minute },
      )
      firing.clear()
      for (const alert of next) firing.set(alert.labels['alertname'] ?? '', alert)
      const count = states.length + 1
      evaluated()
      await sent(count)
    },
  }
}

for (const version of ALERTMANAGERS) {
  const describe = await requireAlertmanager(version)
  describe(`the clock of the agent and Alertmanager ${version}`, () => {
    it.for([-hour, 0, hour])('an agent whose clock is %i ms ahead', async (ahead, { directory }) => {
      const { url, list } = await start(version, directory)
      const { fire, sent } = startAgent(url, ahead)
      await sent(1)
      await fire('A')
      const { A } = await list()
      // The Date of a response has no fraction of a second.
      expect(A?.startsIn).toBeLessThanOrEqual(-minute)
      expect(A?.startsIn).toBeGreaterThan(-2 * minute)
      // By the resolve_timeout of Alertmanager.
      expect(A?.endsIn).toBeGreaterThan(4 * minute)
      expect(A?.endsIn).toBeLessThanOrEqual(5 * minute)
      await fire()
      // An alert whose end has passed is not listed.
      expect(await list()).toEqual({})
    })

    it.for([-hour, hour])('the clock of the agent is set by %i ms', async (by, { directory }) => {
      const { url, list } = await start(version, directory)
      const checkpoint = memoryCheckpoint()
      const agent = startAgent(url, 0, checkpoint)
      await agent.sent(1)
      await agent.fire('A', 'B')
      agent.setClock(by)
      await agent.fire('B')
      expect(Object.keys(await list())).toEqual(['B'])
      await agent.fire('B', 'C')
      await agent.stop()

      // And back while no agent runs.
      const again = startAgent(url, 0, checkpoint)
      await again.sent(1)
      const { B, C } = await list()
      expect(B?.endsIn).toBeGreaterThan(4 * minute)
      expect(C?.startsIn).toBeGreaterThan(-2 * minute)
      await again.fire('B', 'C', 'D')
      await again.fire('C', 'D')
      expect(Object.keys(await list()).toSorted()).toEqual(['C', 'D'])
    })

    it('an alert that Prometheus sends, too', async ({ directory }) => {
      const { url, list, post } = await start(version, directory)
      const byPrometheus = (endsIn: number): readonly unknown[] => [
        {
          labels: { alertname: 'A' },
          startsAt: new Date(Date.now() - 2 * minute).toISOString(),
          endsAt: new Date(Date.now() + endsIn).toISOString(),
        },
      ]
      const { fire, sent } = startAgent(url, hour)
      await sent(1)
      await post(byPrometheus(10 * minute))
      await fire('A')
      const { A } = await list()
      // The earlier start, and the later end.
      expect(A?.startsIn).toBeLessThanOrEqual(-2 * minute)
      expect(A?.endsIn).toBeGreaterThan(9 * minute)
      await post(byPrometheus(0))
      expect(await list()).toEqual({})
      // The agent, for which it still fires, sends it again.
      await fire('A', 'B')
      expect(Object.keys(await list()).toSorted()).toEqual(['A', 'B'])
    })
  })
}
