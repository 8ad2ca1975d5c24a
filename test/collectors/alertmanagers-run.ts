import { z } from 'zod'
import { alertmanagers } from '../../src/outbound/alertmanagers.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { TargetAlert } from '../../src/domain/health.ts'
import type { Checkpoint } from '../../src/sources/checkpoint.ts'
import { manualClock } from '../support/manual-clock.ts'
import { memoryCheckpoint } from './recording.ts'

export const AT = Date.UTC(2026, 2, 1, 13)
export const alertOf = (alertname: string, now: number): TargetAlert => {
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
export const FIRING = 'firing'
type SentTimes = Readonly<Record<string, number | typeof FIRING>>

/** The settings that no test changes. */
export const ALERT_SETTINGS = {
  job: 'chain-agent',
  instance: null,
  labels: {},
  runbooks: null,
  dashboards: null,
  timing: { interval: 15_000, timeout: 10_000 },
}

export const HOUR = 3600
export const BOOT = { id: 'boot-1', since: 500_000 }

interface AgentStart {
  /** Seconds after 13:00:00, on the clock of Alertmanager. */
  readonly after?: number
  /** How far the clock of the agent is ahead of it, in seconds. */
  readonly ahead?: number
  readonly boot?: string | null
  /** Whether the responses of Alertmanager have a Date. */
  readonly hasDate?: boolean
  readonly checkpoint?: Checkpoint
}

/**
 * Polls every 15 s. `sent` has, for each poll, the alerts and the seconds of their ends after 13:00:00, `starts` those of
 * their starts if they are sent, on the clock of Alertmanager.
 */
export const start = async ({
  after = 0,
  ahead = 0,
  boot = BOOT.id,
  hasDate = true,
  checkpoint = memoryCheckpoint(),
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
  let evaluated = (): void => undefined
  const answerWith = (status: number, text: string): void => {
    answer = () => Promise.resolve({ status, text, date: hasDate ? Math.floor(remoteNow() / 1000) * 1000 : null })
  }
  const accept = (body = ''): void => answerWith(200, body)
  const seconds = (time: string | undefined): number | undefined =>
    time === undefined ? undefined : (Date.parse(time) - AT) / 1000
  accept()
  const collector = alertmanagers({
    ...ALERT_SETTINGS,
    urls: ['http://here:9093'],
    alertmanagerAt: () => ({
      name: 'here:9093',
      send: (alerts) => {
        const parsed = sentSchema.parse(alerts)
        sent.push(Object.fromEntries(parsed.map(({ labels, endsAt }) => [labels.alertname, seconds(endsAt) ?? FIRING])))
        starts.push(Object.fromEntries(parsed.map(({ labels, startsAt }) => [labels.alertname, seconds(startsAt)])))
        return answer()
      },
      get: () => Promise.resolve({ status: 200, text: '' }),
    }),
    alertsOf: (_target, state) => (state === 'firing' ? firing : pending),
    onEvaluation: (listener) => {
      evaluated = listener
      return () => undefined
    },
    checkpoint,
    readBootId: () => Promise.resolve(boot),
    readUptime: () => Promise.resolve(`${BOOT.since / 1000 + after} 0.00`),
    clock,
  })
  const stop = new AbortController()
  const states: unknown[] = []
  const readings: unknown[] = []
  void collector.run({ clock, signal: stop.signal }, (outcome) => {
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
    evaluate: (): void => evaluated(),
    /** Sets the clock of the agent, so that it is ahead by this. The start of what fires moves with it. */
    setClock: (to: number, { isEvaluated = true } = {}): void => {
      const before = clock.now()
      clock.setOffset(to * 1000)
      if (isEvaluated) firing = firing.map((alert) => ({ ...alert, startsAt: alert.startsAt + clock.now() - before }))
    },
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
