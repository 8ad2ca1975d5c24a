import { expect, test } from 'vitest'
import type { TargetAlert } from '../../src/domain/health.ts'
import { manualClock } from '../support/manual-clock.ts'
import { alertmanagers } from '../../src/outbound/alertmanagers.ts'
import { ALERT_SETTINGS, AT, alertOf, FIRING, HOUR, BOOT, start } from './alertmanagers-run.ts'
import { memoryCheckpoint } from './recording.ts'

test('firing alerts are sent at every poll, without an end', async () => {
  const { sent, fire, next } = await start()
  // Without alerts, too: whether Alertmanager accepts them is known before there is one.
  expect(sent).toEqual([{}])
  fire('A', 'B')
  expect(await next()).toEqual({ A: FIRING, B: FIRING })
  expect(await next()).toEqual({ A: FIRING, B: FIRING })
})

test('the end of an alert is sent once', async () => {
  const { fire, next } = await start()
  fire('A', 'B')
  await next()
  fire('B')
  expect(await next()).toEqual({ A: 30, B: FIRING })
  expect(await next()).toEqual({ B: FIRING })
})

test('an Alertmanager that was away gets what fires, and what has ended meanwhile', async () => {
  const { states, fire, next, refuse, accept } = await start()
  fire('A')
  await next()
  refuse()
  fire('B')
  expect(await next()).toEqual({ A: 30, B: FIRING })
  expect(states.at(-1)).toEqual({ 'Alertmanager here:9093': 'could not request here: no connection' })
  accept()
  expect(await next()).toEqual({ A: 30, B: FIRING })
  expect(await next()).toEqual({ B: FIRING })
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
  expect(await next()).toEqual({ A: FIRING })
})

test('an end is dropped once Alertmanager has ended the alert by itself', async () => {
  const { fire, next, refuse } = await start()
  fire('A')
  await next()
  refuse()
  fire()
  // Ended at 30 s; dropped more than 300 s later.
  for (let poll = 0; poll < 21; poll += 1) expect(await next()).toEqual({ A: 30 })
  expect(await next()).toEqual({})
})

test('what fired before a restart is sent until it fires again, or is neither firing nor pending after three minutes', async () => {
  const checkpoint = memoryCheckpoint()
  const before = await start({ checkpoint })
  before.fire('A', 'B', 'C')
  await before.next()
  // Saved at 15 s; the next agent starts 60 s later, and no rule fires yet.
  const { sent, starts, fire, wait, next } = await start({ after: 75, checkpoint })
  expect(sent).toEqual([{ A: FIRING, B: FIRING, C: FIRING }])
  // The clock of Alertmanager is unknown: it keeps the start that it has.
  expect(starts).toEqual([{}])
  fire('A')
  wait('C')
  expect(await next()).toEqual({ A: FIRING, B: FIRING, C: FIRING })
  fire()
  expect(await next()).toEqual({ A: 105, B: FIRING, C: FIRING })
  for (let at = 121; at < 255; at += 15) expect(await next()).toEqual({ B: FIRING, C: FIRING })
  expect(await next()).toEqual({ B: 255, C: FIRING })
  // The rule of C waits for longer.
  for (let at = 271; at < 900; at += 15) expect(await next()).toEqual({ C: FIRING })
  wait()
  expect(await next()).toEqual({ C: 900 })
  expect(await next()).toEqual({})
})

test('an alert that Alertmanager has ended by itself while no agent ran does not fire again', async () => {
  const checkpoint = memoryCheckpoint()
  const before = await start({ checkpoint })
  before.fire('A')
  await before.next()
  const { sent } = await start({ after: 15 + 301, checkpoint })
  expect(sent).toEqual([{}])
})

test.for([
  { boot: 'boot-2', after: 75, ahead: 0, alerts: { A: FIRING } },
  { boot: 'boot-2', after: 75, ahead: HOUR, alerts: {} },
  { boot: null, after: 75, ahead: 0, alerts: { A: FIRING } },
  // The clock was set back by as long as no agent ran.
  { boot: BOOT.id, after: HOUR, ahead: 15 - HOUR, alerts: {} },
])('the age of the saved state: %o', async ({ alerts, ...options }) => {
  const checkpoint = memoryCheckpoint()
  const before = await start({ checkpoint })
  before.fire('A')
  await before.next()
  const { next } = await start({ ...options, checkpoint })
  expect(await next(1)).toEqual(Object.keys(alerts).length === 0 ? {} : alerts)
})

const savedAlert = (changes: object) => ({ ...alertOf('Bad', AT), ...changes })

test.for([
  ['startsAt beyond the times of a Date', savedAlert({ startsAt: 1e300 })],
  ['startsAt before 1970', savedAlert({ startsAt: -1e16 })],
  ['startsAt as a text', savedAlert({ startsAt: '2026-03-01T13:00:00Z' })],
  ['a label that is a number', savedAlert({ labels: { alertname: 'Bad', a: 1 } })],
  ['no label', savedAlert({ labels: {} })],
  ['the name of a label', savedAlert({ labels: { alertname: 'Bad', 'a b': 'c' } })],
  ['a text of 1 MiB', savedAlert({ annotations: { summary: 'x'.repeat(1_048_576) } })],
  [
    '100 annotations',
    savedAlert({ annotations: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`a${i}`, ''])) }),
  ],
  ['null', null],
] as const)('a saved alert is dropped, and no other: %s', async ([, bad]) => {
  const checkpoint = memoryCheckpoint()
  await checkpoint.save({ at: AT, alerts: [savedAlert({ labels: { alertname: 'Good' } }), bad] })
  const { sent, fire, next } = await start({ checkpoint })
  fire('Now')
  expect(await next()).toEqual({ Good: FIRING, Now: FIRING })
  expect(sent).toHaveLength(2)
})

test.for([{ at: 1e300 }, { at: 'now' }, { alerts: 'none' }, []])(
  'a saved state that is damaged: %o',
  async (changes) => {
    const checkpoint = memoryCheckpoint()
    await checkpoint.save(Array.isArray(changes) ? changes : { at: AT, alerts: [savedAlert({})], ...changes })
    const { fire, next } = await start({ checkpoint })
    fire('Now')
    expect(await next()).toEqual({ Now: FIRING })
  },
)

test('a start in the future is the time of the restart', async () => {
  const checkpoint = memoryCheckpoint()
  await checkpoint.save({ at: AT, alerts: [savedAlert({ startsAt: AT + 3_600_000 })] })
  const { starts, next } = await start({ checkpoint })
  await next()
  expect(starts.at(-1)).toEqual({ Bad: 0 })
})

test('at most 1,000 saved alerts are sent', async () => {
  const checkpoint = memoryCheckpoint()
  const alerts = Array.from({ length: 2000 }, (_, index) => savedAlert({ labels: { alertname: `A${index}` } }))
  await checkpoint.save({ at: AT, alerts })
  const { next } = await start({ checkpoint })
  expect(Object.keys((await next(1)) ?? {})).toHaveLength(1000)
})

test('an evaluation that changes what fires is sent at once, at most once a second', async () => {
  const { sent, fire, evaluate, next } = await start()
  evaluate()
  await next(2)
  // Nothing fires.
  expect(sent).toHaveLength(1)
  fire('A')
  evaluate()
  await next(0)
  expect(sent.at(-1)).toEqual({ A: FIRING })
  fire('A', 'B')
  evaluate()
  fire('A', 'B', 'C')
  evaluate()
  await next(0.9)
  expect(sent).toHaveLength(2)
  await next(0.1)
  expect(sent).toHaveLength(3)
  expect(sent.at(-1)).toEqual({ A: FIRING, B: FIRING, C: FIRING })
  evaluate()
  await next(14)
  expect(sent).toHaveLength(3)
  await next(1)
  expect(sent).toHaveLength(4)
  fire('A')
  evaluate()
  await next(1)
  expect(sent.at(-1)).toEqual({ A: FIRING, B: 19, C: 19 })
})

test('an Alertmanager that fails is sent what fires every 15 s, not after each evaluation', async () => {
  const { sent, refuse, fire, evaluate, next } = await start()
  refuse()
  fire('A')
  evaluate()
  await next(1)
  expect(sent).toHaveLength(2)
  for (let at = 2; at < 16; at += 1) {
    evaluate()
    await next(1)
  }
  expect(sent).toHaveLength(2)
  await next(1)
  expect(sent).toHaveLength(3)
})

test('the time of the last accepted alert, over a restart', async () => {
  const checkpoint = memoryCheckpoint()
  const { readings, fire, next } = await start({ checkpoint })
  expect(readings.at(-1)).toMatchObject({ lastAlertAt: {} })
  fire('A')
  await next()
  fire()
  await next()
  await next()
  const lastAlertAt = { 'here:9093': AT + 15_000 }
  // The posts at 30 s and 45 s had an end, and nothing.
  expect(readings.at(-1)).toMatchObject({ lastAlertAt })
  const again = await start({ checkpoint, after: 86_400 })
  expect(again.readings).toMatchObject([{ lastAlertAt }])
})

test.for([
  ['', 'accepted'],
  ['{}', 'accepted'],
  ['\n', 'accepted'],
  ['<!DOCTYPE html><title>Sign in</title><form>with SSO</form>', 'refused: HTTP status 200 (Sign in with SSO)'],
  ['OK', 'refused: HTTP status 200 (OK)'],
  ['{"error":"no such route"}', 'refused: HTTP status 200 (no such route)'],
] as const)('a response with status 200 and the body %s is %s', async ([body, state]) => {
  const { states, accept, readings, fire, next } = await start()
  accept(body)
  fire('A')
  await next()
  expect(states.at(-1)).toEqual({ 'Alertmanager here:9093': state })
  expect(readings.at(-1)).toMatchObject({ lastAlertAt: state === 'accepted' ? { 'here:9093': AT + 15_000 } : {} })
})

test('an Alertmanager that hangs delays no other', async () => {
  const clock = manualClock(AT)
  const sent: number[] = []
  let firing: readonly TargetAlert[] = []
  const evaluated = new Set<() => void>()
  const get = () => Promise.resolve({ status: 200, text: '' })
  const send = (alerts: readonly unknown[]) => {
    sent.push(alerts.length)
    return get()
  }
  const collector = alertmanagers({
    ...ALERT_SETTINGS,
    urls: ['hanging:9093', 'here:9093'],
    alertmanagerAt: (name) => ({ name, get, send: name === 'here:9093' ? send : () => new Promise(() => undefined) }),
    alertsOf: (_target, state) => (state === 'firing' ? firing : []),
    onEvaluation: (listener) => {
      evaluated.add(listener)
      return () => void evaluated.delete(listener)
    },
    checkpoint: memoryCheckpoint(),
    readBootId: () => Promise.resolve(null),
    readUptime: () => Promise.resolve(null),
    clock,
  })
  const stop = new AbortController()
  const running = collector.run({ clock, signal: stop.signal }, () => undefined)
  await clock.advance(0)
  await clock.advance(2000)
  firing = [alertOf('A', clock.now())]
  for (const listener of evaluated) listener()
  await clock.advance(0)
  expect(sent).toEqual([0, 1])
  stop.abort()
  await running
  expect(evaluated.size).toBe(0)
})

test.for([HOUR, -HOUR])('a clock of the agent that is %i s ahead ends nothing and keeps nothing', async (ahead) => {
  const { sent, starts, fire, next } = await start({ ahead })
  fire('A')
  expect(await next()).toEqual({ A: FIRING })
  expect(starts.at(-1)).toEqual({ A: -5 })
  fire()
  expect(await next()).toEqual({ A: 30 })
  expect(await next()).toEqual({})
  expect(sent).toHaveLength(4)
})

test.for([HOUR, -HOUR])(
  'the clock of the agent is set by %i s while an alert fires, and when it is over',
  async (by) => {
    const { starts, fire, setClock, next } = await start()
    fire('A', 'B')
    await next()
    setClock(by)
    expect(await next()).toEqual({ A: FIRING, B: FIRING })
    fire('B')
    setClock(0)
    expect(await next()).toEqual({ A: 45, B: FIRING })
    expect(starts.slice(1)).toEqual(Array.from({ length: 3 }, () => ({ A: -5, B: -5 })))
  },
)

test('the clock of the agent is set back between the evaluation and the post: no alert ends before it starts', async () => {
  const { starts, fire, setClock, next } = await start()
  fire('A')
  setClock(-HOUR, { isEvaluated: false })
  expect(await next()).toEqual({ A: FIRING })
  expect(starts.at(-1)).toEqual({ A: 15 })
  await next()
  expect(starts.at(-1)).toEqual({ A: 15 })
})

test.for([HOUR, -HOUR])('an alert that Alertmanager has keeps its start if the clock is set by %i s', async (by) => {
  const { starts, fire, setClock, next } = await start()
  fire('A')
  await next()
  setClock(by, { isEvaluated: false })
  await next()
  expect(starts.at(-1)).toEqual({ A: -5 })
})

test('the end is sent again if the clock of Alertmanager was set back before it', async () => {
  const { starts, fire, setRemoteClock, next } = await start()
  fire('A')
  await next()
  fire()
  setRemoteClock(-HOUR)
  // The clock of Alertmanager shows 12:00:30 then.
  expect(await next()).toEqual({ A: 30 })
  expect(await next()).toEqual({ A: 30 - HOUR })
  expect(starts.at(-1)).toEqual({ A: 30 - HOUR })
  expect(await next()).toEqual({})
})

test('the clock of Alertmanager is set back while an alert fires: its start follows the rejection', async () => {
  const { starts, fire, setRemoteClock, answerWith, accept, next } = await start()
  fire('A')
  await next()
  setRemoteClock(-HOUR)
  answerWith(400, '"start time must be before end time"')
  await next()
  expect(starts.at(-1)).toEqual({ A: -5 })
  accept()
  expect(await next()).toEqual({ A: FIRING })
  expect(starts.at(-1)).toEqual({ A: 45 - HOUR })
})

test.for([HOUR, -HOUR])('responses without a Date, an agent that is %i s ahead: no start is sent', async (ahead) => {
  const { starts, fire, next } = await start({ ahead, hasDate: false })
  fire('A')
  expect(await next()).toEqual({ A: FIRING })
  expect(starts.at(-1)).toEqual({})
  fire()
  // On the clock of the agent: there is no other.
  expect(await next()).toEqual({ A: 30 + ahead })
  expect(await next()).toEqual({})
})

test.for([HOUR, -HOUR])(
  'a restart after the clock of the host was set by %i s: what fires is no end',
  async (ahead) => {
    const checkpoint = memoryCheckpoint()
    const before = await start({ checkpoint })
    before.fire('A')
    await before.next()
    const { starts, next } = await start({ after: 75, ahead, checkpoint })
    expect(await next()).toEqual({ A: FIRING })
    expect(starts).toEqual([{}, { A: -5 }])
    for (let at = 105; at < 255; at += 15) expect(await next()).toEqual({ A: FIRING })
    // It is over: no rule has found it again.
    expect(await next()).toEqual({ A: 255 })
  },
)
