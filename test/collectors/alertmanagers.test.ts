import { expect, test } from 'vitest'
import { z } from 'zod'
import { SourceError } from '../../src/core/errors.ts'
import type { TargetAlert } from '../../src/domain/health.ts'
import { alertmanagers } from '../../src/outbound/alertmanagers.ts'
import type { Checkpoint } from '../../src/sources/checkpoint.ts'
import { manualClock } from '../support/manual-clock.ts'
import { memoryCheckpoint } from './recording.ts'
import { ALERT_SETTINGS } from './run-collector.ts'

const AT = Date.UTC(2026, 2, 1, 13)
const alertOf = (alertname: string, now: number): TargetAlert => {
  return { labels: { alertname }, annotations: {}, startsAt: now - 5000 }
}

const sentSchema = z.array(
  z.object({
    labels: z.object({ alertname: z.string() }),
    startsAt: z.iso.datetime().optional(),
    endsAt: z.iso.datetime().optional(),
  }),
)

/** Sent without an end. */
const FIRING = 'firing'
type SentTimes = Readonly<Record<string, number | typeof FIRING>>

const HOUR = 3600
const BOOT = { id: 'boot-1', since: 500_000 }

interface AgentStart {
  /** Seconds after 13:00:00, on the clock of Alertmanager. */
  readonly after?: number
  /** How far the clock of the agent is ahead of it, in seconds. */
  readonly ahead?: number
  readonly boot?: string | null
  /** Whether the responses of Alertmanager have a Date. */
  readonly hasDate?: boolean
  readonly checkpoint?: Checkpoint
  /** Whether there is another Alertmanager, which does not answer. */
  readonly hangs?: boolean
}

/**
 * Polls every 15 s. `sent` has, for each poll, the alerts and the seconds of their ends after 13:00:00, `starts` those of
 * their starts if they are sent, on the clock of Alertmanager.
 */
const start = async ({
  after = 0,
  ahead = 0,
  boot = BOOT.id,
  hasDate = true,
  checkpoint = memoryCheckpoint(),
  hangs = false,
}: AgentStart = {}) => {
  const clock = manualClock(AT + after * 1000)
  clock.setOffset(ahead * 1000)
  /** Of Alertmanager, in milliseconds. */
  let setBy = 0
  const remoteNow = (): number => AT + after * 1000 + clock.elapsed() + setBy
  const sent: SentTimes[] = []
  const starts: Readonly<Record<string, number | undefined>>[] = []
  let answer: () => Promise<{ status: number; text: string; date?: number | null }>
  let firing: readonly TargetAlert[] = []
  let pending: readonly TargetAlert[] = []
  const listeners = new Set<() => void>()
  const answerWith = (status: number, text: string): void => {
    answer = () => Promise.resolve({ status, text, date: hasDate ? Math.floor(remoteNow() / 1000) * 1000 : null })
  }
  const accept = (body = ''): void => answerWith(200, body)
  const seconds = (time: string | undefined): number | undefined =>
    time === undefined ? undefined : (Date.parse(time) - AT) / 1000
  accept()
  const collector = alertmanagers({
    ...ALERT_SETTINGS,
    urls: hangs ? ['http://hanging:9093', 'http://here:9093'] : ['http://here:9093'],
    alertmanagerAt: (url) => ({
      name: new URL(url).host,
      send: (alerts) => {
        if (url !== 'http://here:9093') return new Promise<never>(() => undefined)
        const parsed = sentSchema.parse(alerts)
        sent.push(Object.fromEntries(parsed.map(({ labels, endsAt }) => [labels.alertname, seconds(endsAt) ?? FIRING])))
        starts.push(Object.fromEntries(parsed.map(({ labels, startsAt }) => [labels.alertname, seconds(startsAt)])))
        return answer()
      },
      get: () => Promise.resolve({ status: 200, text: '' }),
    }),
    alertsOf: (_target, state) => (state === 'firing' ? firing : pending),
    onEvaluation: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    checkpoint,
    readBootId: () => Promise.resolve(boot),
    readUptime: () => Promise.resolve(`${BOOT.since / 1000 + after} 0.00`),
    clock,
  })
  const ending = new AbortController()
  const states: unknown[] = []
  const readings: unknown[] = []
  const running = collector.run({ clock, signal: ending.signal }, (outcome) => {
    states.push(outcome.ok ? collector.states(outcome.value) : outcome.error.message)
    readings.push(outcome.ok ? outcome.value : null)
  })
  await clock.advance(0)
  return {
    sent,
    starts,
    states,
    readings,
    /** They have fired for 5 s. */
    fire: (...names: readonly string[]): void => {
      firing = names.map(
        (name) => firing.find(({ labels }) => labels['alertname'] === name) ?? alertOf(name, clock.now()),
      )
    },
    wait: (...names: readonly string[]): void => {
      pending = names.map((name) => alertOf(name, clock.now()))
    },
    listeners,
    stop: async (): Promise<void> => {
      ending.abort()
      await running
    },
    evaluate: (): void => {
      for (const listener of listeners) listener()
    },
    /** Sets the clock of the agent, so that it is ahead by this, and evaluates no rule. */
    setClock: (to: number): void => clock.setOffset(to * 1000),
    setRemoteClock: (by: number): void => {
      setBy = by * 1000
    },
    accept,
    answerWith,
    refuse: (): void => {
      answer = () => Promise.reject(new SourceError({ doing: 'request here', happened: 'no connection' }))
    },
    /** The post that follows at least so many seconds later. */
    next: async (wait = 15): Promise<SentTimes | undefined> => {
      await clock.advance(wait * 1000)
      return sent.at(-1)
    },
  }
}

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

test.for([
  // Alertmanager has ended it by itself.
  { boot: BOOT.id, after: 15 + 301, ahead: 0, alerts: {} },
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
  const { sent } = await start({ ...options, checkpoint })
  expect(sent).toEqual([alerts])
})

const HUNDRED = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`a${index}`, '']))
const savedAlert = (changes: object) => ({ ...alertOf('Bad', AT), ...changes })

test.for([
  ['startsAt beyond the times of a Date', savedAlert({ startsAt: 1e300 })],
  ['startsAt before 1970', savedAlert({ startsAt: -1e16 })],
  ['a label that is a number', savedAlert({ labels: { alertname: 'Bad', a: 1 } })],
  ['no label', savedAlert({ labels: {} })],
  ['the name of a label', savedAlert({ labels: { alertname: 'Bad', 'a b': 'c' } })],
  ['a text of 1 MiB', savedAlert({ annotations: { summary: 'x'.repeat(1_048_576) } })],
  ['100 annotations', savedAlert({ annotations: HUNDRED })],
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
  const { sent, fire, evaluate, next, stop, listeners } = await start({ hangs: true })
  await next(2)
  fire('A')
  evaluate()
  await next(0)
  expect(sent).toEqual([{}, { A: FIRING }])
  await stop()
  expect(listeners.size).toBe(0)
})

test('the clock of the agent is set back between the evaluation and the post: no alert ends before it starts', async () => {
  const { starts, fire, setClock, next } = await start()
  fire('A')
  setClock(-HOUR)
  expect(await next()).toEqual({ A: FIRING })
  expect(starts.at(-1)).toEqual({ A: 15 })
  await next()
  expect(starts.at(-1)).toEqual({ A: 15 })
})

test.for([HOUR, -HOUR])('an alert that Alertmanager has keeps its start if the clock is set by %i s', async (by) => {
  const { starts, fire, setClock, next } = await start()
  fire('A')
  await next()
  setClock(by)
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
