import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { stringify } from 'yaml'
import { expect } from 'vitest'
import { z } from 'zod'
import { alertmanagers } from '../../src/collectors/alertmanagers/collector.ts'
import { systemClock } from '../../src/core/clock.ts'
import { hour, minute } from '../../src/core/units.ts'
import type { TargetAlert } from '../../src/domain/health.ts'
import { createAlertmanagerEndpoint } from '../../src/sources/alertmanager.ts'
import { createHttpClient } from '../../src/sources/http.ts'
import { ALERTMANAGERS, probeAlertmanager, startAlertmanager } from '../support/alertmanager.ts'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { requireRealPart } from '../support/real-parts.ts'

const LABELS = { alertname: 'ChainServiceDown', instance: 'node-a' }

const listedSchema = z.array(z.object({ startsAt: z.string(), endsAt: z.string() }))

for (const version of ALERTMANAGERS) {
  const describe = await requireRealPart(`Alertmanager ${version}`, async () => probeAlertmanager(version))
  describe(`the clock of the agent and Alertmanager ${version}`, () => {
    it.for([-hour, 0, hour])('an agent whose clock is %i ms ahead', async (ahead, { directory, onTestFinished }) => {
      const file = join(directory, 'alertmanager.yml')
      // Shorter than the time between two posts.
      const config = { global: { resolve_timeout: '1s' }, route: { receiver: 'none' }, receivers: [{ name: 'none' }] }
      await writeFile(file, stringify(config))
      const { address, stop } = await startAlertmanager(file, join(directory, 'data'), version)
      onTestFinished(async () => stop())
      const url = `http://${address}`
      const list = async () => {
        const query = 'active=true&silenced=true&inhibited=true'
        return listedSchema.parse(await (await fetch(`${url}/api/v2/alerts?${query}`)).json())
      }

      const clock = { ...systemClock, now: () => Date.now() + ahead }
      let firing: readonly TargetAlert[] = []
      let evaluated = (): void => undefined
      const collector = alertmanagers({
        endpoints: [createAlertmanagerEndpoint(createHttpClient(clock), url, 10_000)],
        alerts: (state) => (state === 'firing' ? firing : []),
        onEvaluation: (listener) => {
          evaluated = listener
          return () => undefined
        },
        checkpoint: { read: () => Promise.resolve({ state: 'none' }), save: () => Promise.resolve() },
        readBootTime: () => Promise.resolve(null),
        clock,
        timing: { interval: 15_000, timeout: 10_000 },
      })
      const ended = new AbortController()
      const states: unknown[] = []
      const running = collector.run({ clock, signal: ended.signal }, (outcome) => {
        states.push(outcome.ok ? collector.states(outcome.value) : outcome.error.message)
      })
      onTestFinished(async () => {
        ended.abort()
        await running
      })
      const sent = async (count: number): Promise<void> => {
        await eventually(
          () => states.length,
          (length) => length >= count,
        )
      }

      await sent(1)
      firing = [{ labels: LABELS, annotations: {}, startsAt: clock.now() - minute }]
      evaluated()
      await sent(2)
      const [alert] = await list()
      const startedAgo = Date.now() - Date.parse(alert?.startsAt ?? '')
      // The Date of a response has no fraction of a second.
      expect(startedAgo).toBeGreaterThanOrEqual(minute)
      expect(startedAgo).toBeLessThan(2 * minute)
      expect(Date.parse(alert?.endsAt ?? '') - Date.now()).toBeGreaterThan(3 * minute)

      firing = []
      evaluated()
      await sent(3)
      // An alert whose end has passed is not listed.
      expect(await list()).toEqual([])
      expect(states).toEqual(Array.from({ length: 3 }, () => ({ [`Alertmanager ${address}`]: 'accepted' })))
    })
  })
}
