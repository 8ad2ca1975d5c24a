import { healthResponse } from '../src/parsers/agent-status.ts'
import { LIVELY } from '../simulator/pace.ts'
import { startHost } from '../test/support/host.ts'

const MINUTE_S = 60
const HOUR_S = 60 * MINUTE_S
const WEEK_S = 7 * 24 * HOUR_S

/** A part of the week from which on the whole agent reads and evaluates in that interval. Times in seconds. */
interface Part {
  readonly fromS: number
  readonly stepS: number
}

/** The interval of the rule groups: what a scrape sees. */
const SCRAPE_S = 15
/** Enough for rules with ranges and durations of an hour or more; shorter ranges have no second sample. */
const SLOW_S = 10 * MINUTE_S

const scrapes = (fromMinute: number, toMinute: number, then = HOUR_S): readonly Part[] => [
  { fromS: fromMinute * MINUTE_S, stepS: SCRAPE_S },
  { fromS: toMinute * MINUTE_S, stepS: then },
]

/**
 * How the week is played: whatever others cause, each at its worst, at every scrape, as are the steps of the busy hour and
 * both ends of an epoch; the ledger fills in steps of ten minutes; the rest is one step an hour.
 */
const WEEK: readonly Part[] = [
  ...scrapes(0, 52, SLOW_S),
  { fromS: 14 * HOUR_S, stepS: HOUR_S },
  ...scrapes(1198, 1206),
  ...scrapes(1214, 1222),
  ...scrapes(1254, 1262),
  ...scrapes(2878, 2886),
  ...scrapes(2911, 2917),
  ...scrapes(6359, 6367),
]

/** A scenario with all changes in its first minutes, and the beginning of an epoch half an hour later. */
export const DAY: WeekOptions = { parts: [...scrapes(0, 6, SLOW_S), ...scrapes(30, 36)], seconds: 24 * HOUR_S }

/** Of one alert: how often it was firing at an evaluation, and when first, in seconds. */
interface Fired {
  readonly severity: string
  readonly firstS: number
  readonly evaluations: number
}

interface Week {
  /** By name and labels. */
  readonly fired: Readonly<Record<string, Fired>>
  /** States of health other than healthy, each with the second at which it was first seen. */
  readonly states: Readonly<Record<string, number>>
  readonly evaluations: number
  readonly looks: readonly { readonly second: number; readonly metrics: string }[]
}

interface WeekOptions {
  readonly parts?: readonly Part[]
  readonly seconds?: number
  /** Until when metrics are recorded at each scrape, in seconds. */
  readonly recordS?: number
}

/** The alerts of those severities that fired, and the states of health that were not healthy. Empty if there was none. */
export const noiseOf = ({ fired, states }: Week): readonly string[] => [
  ...Object.entries(fired)
    .filter(([, { severity }]) => severity === 'critical' || severity === 'warning')
    .map(([alert, { firstS, evaluations }]) => `${alert}: from second ${firstS} on, ${evaluations} times`),
  ...Object.entries(states).map(([state, firstS]) => `the node is ${state}: second ${firstS}`),
]

/** Plays a scenario with the whole agent on a manual clock, and collects every alert that fires. */
export const playWeek = async (
  scenario: string,
  { parts = WEEK, seconds = WEEK_S, recordS = 0 }: WeekOptions = {},
): Promise<Week> => {
  const host = await startHost({ scenario, second: 0, settings: SETTINGS, pace: { ...LIVELY, spanMs: SPAN_MS } })
  const fired = new Map<string, Fired>()
  const states = new Map<string, number>()
  const looks: Week['looks'][number][] = []
  let evaluations = 0
  try {
    for (let second = 0; second < seconds;) {
      const step = stepAt(second, parts)
      // After a long time every reading is stale at first, and files are renewed at its end only: each collector reads
      // once more before the evaluation of the step.
      if (step > SCRAPE_S + MINUTE_S) {
        await host.pass(step - SCRAPE_S - MINUTE_S)
        await host.pass(MINUTE_S)
      } else if (step > SCRAPE_S) await host.pass(step - SCRAPE_S)
      await host.pass(SCRAPE_S - 1)
      await host.pass(1)
      second += step
      if (second < START_S) continue
      evaluations += 1
      const { state, findings } = healthResponse.parse(JSON.parse(await host.page('/api/v1/health')))
      if (state !== 'healthy' && !states.has(state)) states.set(state, second)
      for (const { alert, severity, state: is, labels } of findings) {
        const key = [is === 'firing' ? severity : `pending ${severity}`, alert, ...Object.values(labels)].join(' ')
        const known = fired.get(key) ?? {
          severity: is === 'firing' ? severity : 'pending',
          firstS: second,
          evaluations: 0,
        }
        fired.set(key, { ...known, evaluations: known.evaluations + 1 })
      }
      if (second <= recordS) looks.push({ second, metrics: await host.page('/metrics') })
    }
    return { fired: Object.fromEntries(fired), states: Object.fromEntries(states), evaluations, looks }
  } finally {
    await host.close()
  }
}

/** Port 9143 is behind a firewall. Intervals longer than the short ones of the demo: each collector reads once per step, a second before the evaluation. */
const SETTINGS = {
  'host.firewalledPorts': '[9143]',
  ...Object.fromEntries(['rpc', 'reference', 'services', 'native'].map((name) => [`${name}.interval`, '10s'])),
  ...Object.fromEntries(['host', 'keys', 'version', 'staking'].map((name) => [`${name}.interval`, '60s'])),
}
/** How much of the journal a step produces at most. */
const SPAN_MS = 15_000
/** Until every collector has read, the health is unknown. */
const START_S = 30

/** Up to the next part at most. */
const stepAt = (second: number, parts: readonly Part[]): number => {
  const { stepS = SCRAPE_S } = parts.findLast(({ fromS }) => fromS <= second) ?? {}
  const next = parts.find(({ fromS }) => fromS > second)?.fromS ?? Infinity
  return Math.min(stepS, next - second)
}
