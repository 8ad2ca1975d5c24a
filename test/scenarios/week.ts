import { healthResponse } from '../../src/parsers/agent-status.ts'
import { LIVELY } from '../../src/simulator/pace.ts'
import { startHost } from '../support/host.ts'

/** That of the rule groups: what a scrape sees. */
const FINE_S = 15
/**
 * Outside of what a scenario changes: enough for rules with ranges and durations of half an hour or more. Shorter ranges
 * have no second sample there; what they need happens in the fine parts.
 */
const COARSE_S = 600
/** Before the first and after the last change of a group: ranges of ten minutes, and two hours of `for`. */
const WEEK_S = 7 * 86_400

/** Minutes from and to which a scenario is played at the resolution of a scrape. */
export type FinePart = readonly [from: number, to: number]

/** Of one alert: how often it was firing at an evaluation, and when first, in seconds. */
export interface Fired {
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
  readonly fine: readonly FinePart[]
  readonly seconds?: number
  /** Until when metrics are recorded at each scrape, in seconds. */
  readonly recordS?: number
}

/** Plays a scenario with the whole agent on a manual clock, and collects every alert that fires. */
export const playWeek = async (
  scenario: string,
  { fine, seconds = WEEK_S, recordS = 0 }: WeekOptions,
): Promise<Week> => {
  const host = await startHost({ scenario, second: 0, settings: INTERVALS, pace: { ...LIVELY, spanMs: SPAN_MS } })
  const fired = new Map<string, Fired>()
  const states = new Map<string, number>()
  const looks: Week['looks'][number][] = []
  let evaluations = 0
  try {
    for (let second = 0; second < seconds;) {
      const step = stepAt(second, fine)
      await host.pass(step - 1)
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

/** Longer ones of the collectors with short ones: each reads once per step, a second before the evaluation. */
const INTERVALS = {
  ...Object.fromEntries(['rpc', 'reference', 'services', 'native'].map((name) => [`${name}.interval`, '10s'])),
  ...Object.fromEntries(['host', 'keys', 'version', 'staking'].map((name) => [`${name}.interval`, '60s'])),
}
/** How much of the journal a step produces at most. */
const SPAN_MS = 15_000
/** Until every collector has read, the health is unknown. */
const START_S = 30

const stepAt = (second: number, fine: readonly FinePart[]): number => {
  const minute = second / 60
  if (fine.some(([from, to]) => minute >= from && minute < to)) return FINE_S
  const next = Math.min(...fine.map(([from]) => from * 60).filter((from) => from > second))
  return Math.min(COARSE_S, next - second)
}
