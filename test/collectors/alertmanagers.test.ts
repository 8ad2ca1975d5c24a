import { expect, test } from 'vitest'
import { z } from 'zod'
import { alertmanagers } from '../../src/collectors/alertmanagers/collector.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { FiringAlert } from '../../src/domain/health.ts'
import { manualClock } from '../support/manual-clock.ts'

const AT = Date.UTC(2026, 2, 1, 13)
const alertOf = (alertname: string): FiringAlert => ({ labels: { alertname }, annotations: {}, startsAt: AT - 5000 })

const sentSchema = z.array(z.object({ labels: z.object({ alertname: z.string() }), endsAt: z.iso.datetime() }))

/** Polls every 15 s from 13:00:00 on. `sent` has, for each poll, the alerts and the seconds of their ends after 13:00:00. */
const start = async () => {
  const clock = manualClock(AT)
  const sent: Readonly<Record<string, number>>[] = []
  let answer: () => Promise<{ status: number; text: string }>
  let firing: readonly FiringAlert[] = []
  const accept = (): void => {
    answer = () => Promise.resolve({ status: 200, text: '' })
  }
  accept()
  const collector = alertmanagers({
    endpoints: [
      {
        name: 'here:9093',
        send: (alerts) => {
          sent.push(
            Object.fromEntries(
              sentSchema
                .parse(alerts)
                .map(({ labels, endsAt }) => [labels.alertname, (Date.parse(endsAt) - AT) / 1000]),
            ),
          )
          return answer()
        },
        get: () => Promise.resolve({ status: 200, text: '' }),
      },
    ],
    firing: () => firing,
    clock,
    timing: { interval: 15_000, timeout: 10_000 },
  })
  const stop = new AbortController()
  const states: unknown[] = []
  void collector.run({ clock, signal: stop.signal }, (outcome) => {
    states.push(outcome.ok ? collector.states(outcome.value) : outcome.error.message)
  })
  await clock.advance(0)
  return {
    sent,
    states,
    fire: (...names: readonly string[]): void => {
      firing = names.map(alertOf)
    },
    accept,
    refuse: (): void => {
      answer = () => Promise.reject(new SourceError({ doing: 'request here', happened: 'no connection' }))
    },
    next: async (): Promise<Readonly<Record<string, number>> | undefined> => {
      await clock.advance(15_000)
      return sent.at(-1)
    },
  }
}

test('firing alerts are sent at every poll, with an end after four minutes', async () => {
  const { sent, fire, next } = await start()
  // Without alerts, too: whether Alertmanager accepts them is known before there is one.
  expect(sent).toEqual([{}])
  fire('A', 'B')
  expect(await next()).toEqual({ A: 15 + 240, B: 15 + 240 })
  expect(await next()).toEqual({ A: 30 + 240, B: 30 + 240 })
})

test('the end of an alert is sent once', async () => {
  const { fire, next } = await start()
  fire('A', 'B')
  await next()
  fire('B')
  expect(await next()).toEqual({ A: 30, B: 30 + 240 })
  expect(await next()).toEqual({ B: 45 + 240 })
})

test('an Alertmanager that was away gets what fires, and what has ended meanwhile', async () => {
  const { states, fire, next, refuse, accept } = await start()
  fire('A')
  await next()
  refuse()
  fire('B')
  expect(await next()).toEqual({ A: 30, B: 30 + 240 })
  expect(states.at(-1)).toEqual({ 'Alertmanager here:9093': 'could not request here: no connection' })
  accept()
  expect(await next()).toEqual({ A: 30, B: 45 + 240 })
  expect(await next()).toEqual({ B: 60 + 240 })
  expect(states.at(-1)).toEqual({ 'Alertmanager here:9093': 'accepted' })
})

test('an alert that fires again while Alertmanager is away has not ended', async () => {
  const { fire, next, refuse, accept } = await start()
  fire('A')
  await next()
  refuse()
  fire()
  expect(await next()).toEqual({ A: 30 })
  fire('A')
  accept()
  expect(await next()).toEqual({ A: 45 + 240 })
})

test('an end is dropped once Alertmanager has ended the alert by itself', async () => {
  const { fire, next, refuse } = await start()
  fire('A')
  await next()
  refuse()
  fire()
  // Ended at 30 s; dropped more than 240 s later.
  for (let poll = 0; poll < 17; poll += 1) expect(await next()).toEqual({ A: 30 })
  expect(await next()).toEqual({})
})
