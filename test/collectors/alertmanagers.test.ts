import { expect, test } from 'vitest'
import { z } from 'zod'
import { alertmanagers } from '../../src/collectors/alertmanagers/collector.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { TargetAlert } from '../../src/domain/health.ts'
import type { Checkpoint } from '../../src/sources/checkpoint.ts'
import { manualClock } from '../support/manual-clock.ts'

const AT = Date.UTC(2026, 2, 1, 13)
const alertOf = (alertname: string): TargetAlert => ({ labels: { alertname }, annotations: {}, startsAt: AT - 5000 })

const sentSchema = z.array(z.object({ labels: z.object({ alertname: z.string() }), endsAt: z.iso.datetime() }))

/** A document, instead of a file. */
const createDocument = (): Checkpoint => {
  let value: unknown
  return {
    read: () => Promise.resolve(value === undefined ? { state: 'none' } : { state: 'saved', value }),
    save: (next) => {
      value = next
      return Promise.resolve()
    },
  }
}

/**
 * Polls every 15 s from `after` seconds after 13:00:00 on. `sent` has, for each poll, the alerts and the seconds of their
 * ends after 13:00:00.
 */
const start = async ({ after = 0, checkpoint = createDocument() } = {}) => {
  const clock = manualClock(AT + after * 1000)
  const sent: Readonly<Record<string, number>>[] = []
  let answer: () => Promise<{ status: number; text: string }>
  let firing: readonly TargetAlert[] = []
  let pending: readonly TargetAlert[] = []
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
    alerts: (state) => (state === 'firing' ? firing : pending),
    checkpoint,
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
    wait: (...names: readonly string[]): void => {
      pending = names.map(alertOf)
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

test('what fired before a restart is sent until it fires again, or is neither firing nor pending after three minutes', async () => {
  const checkpoint = createDocument()
  const before = await start({ checkpoint })
  before.fire('A', 'B', 'C')
  await before.next()
  // Saved at 15 s; the next agent starts 60 s later, and no rule fires yet.
  const { sent, fire, wait, next } = await start({ after: 75, checkpoint })
  expect(sent).toEqual([{ A: 75 + 240, B: 75 + 240, C: 75 + 240 }])
  fire('A')
  wait('C')
  expect(await next()).toEqual({ A: 90 + 240, B: 90 + 240, C: 90 + 240 })
  fire()
  expect(await next()).toEqual({ A: 105, B: 105 + 240, C: 105 + 240 })
  for (let at = 120; at < 255; at += 15) expect(await next()).toEqual({ B: at + 240, C: at + 240 })
  expect(await next()).toEqual({ B: 255, C: 255 + 240 })
  // The rule of C waits for longer.
  for (let at = 270; at < 900; at += 15) expect(await next()).toEqual({ C: at + 240 })
  wait()
  expect(await next()).toEqual({ C: 900 })
  expect(await next()).toEqual({})
})

test('an alert that Alertmanager has ended by itself while no agent ran does not fire again', async () => {
  const checkpoint = createDocument()
  const before = await start({ checkpoint })
  before.fire('A')
  await before.next()
  const { sent } = await start({ after: 15 + 241, checkpoint })
  expect(sent).toEqual([{}])
})
