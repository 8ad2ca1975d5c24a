import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type QueriedSeries,
  importSamples,
  instantQuery,
  labelValues,
  type Range,
  rangeQuery,
  servePrometheus,
  type Span,
} from '../support/prometheus.ts'
import { history } from './history.ts'
import { parseDuration } from '../../src/core/units.ts'
import { alerts, type Rule, rules } from '../alerts/files.ts'
import { readPromql } from '../support/promql.ts'

/** The queries of dashboards, with times in seconds since the epoch. A series of an instant query has one point. */
export interface Api {
  instant(expression: string, at: number): Promise<readonly QueriedSeries[]>
  range(expression: string, range: Range): Promise<readonly QueriedSeries[]>
  labelValues(label: string, span: Span, match?: string): Promise<readonly string[]>
}

/** A real Prometheus with the history, the recorded series of the rules, and their alerts. */
export interface Engine extends Api {
  /** The reference time of the history, in seconds since the epoch. */
  readonly now: number
  stop(): Promise<void>
}

const HOUR = 3600
const WEEK = 7 * 24 * HOUR

/** The history has no staleness markers: a series that ended disappears after the lookback delta. */
const FLAGS = ['--storage.tsdb.retention.time=60d', '--query.lookback-delta=90s']

/** Takes some 15 s. `now` is in seconds since the epoch, a multiple of a minute. */
export const startEngine = async (now = thisMinute()): Promise<Engine> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-history-'))
  const fine = { from: now - 6 * HOUR, to: now + HOUR / 2, step: 30 }
  const week = { from: now - WEEK, to: fine.from - 60, step: 60 }
  try {
    await importSamples(directory, history(now))
    for (const level of levelsOfRecording()) {
      const server = await serve(directory)
      const text = await recordedHistory(server.api, level, { week, fine })
      await server.stop()
      await importSamples(directory, text)
    }
    const server = await serve(directory)
    const text = await alertHistory(server.api, fine)
    await server.stop()
    await importSamples(directory, text)
    const last = await serve(directory)
    return {
      ...last.api,
      now,
      stop: async () => {
        await last.stop()
        await rm(directory, { recursive: true })
      },
    }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

const thisMinute = (): number => Math.floor(Date.now() / 60_000) * 60

const serve = async (directory: string) => {
  const { address, stop } = await servePrometheus(directory, {}, FLAGS)
  const api: Api = {
    instant: async (expression, at) =>
      (await instantQuery(address, expression, at)).map(({ labels, value }) => ({ labels, points: [[at, value]] })),
    range: async (expression, range) => rangeQuery(address, expression, range),
    labelValues: async (label, span, match) => labelValues(address, label, { ...span, match }),
  }
  return { api, stop }
}

type Recording = Rule & { readonly record: string }
type Labels = Readonly<Record<string, string>>

const isRecording = (rule: Rule): rule is Recording => rule.record !== undefined

/** The recording rules, in the order of their dependencies. */
const levelsOfRecording = (): readonly (readonly Recording[])[] => {
  const levels: Recording[][] = []
  let left = rules.filter(isRecording)
  while (left.length > 0) {
    const open = new Set(left.map(({ record }) => record))
    const ready = left.filter(({ expr }) => readPromql(expr).selected.every(({ metric }) => !open.has(metric)))
    if (ready.length === 0) throw new Error(`rules that need each other: ${[...open].join(', ')}`)
    levels.push(ready)
    left = left.filter((rule) => !ready.includes(rule))
  }
  return levels
}

/** Whether a rule has a long window: then it needs the days before, and is not needed for them. */
const looksBack = (expr: string): boolean => expr.includes('[')

/** The recorded series of the complete hours, and those that long windows need in the days before. */
const recordedHistory = async (
  api: Api,
  recordings: readonly Recording[],
  { week, fine }: { readonly week: Range; readonly fine: Range },
): Promise<readonly string[]> => {
  const text: string[] = []
  for (const { record, expr, labels } of recordings) {
    for (const stretch of looksBack(expr) ? [fine] : [week, fine]) {
      for (const { labels: own, points } of joined(await api.range(expr, stretch)))
        text.push(...render(record, { ...own, ...labels }, points))
    }
  }
  return [...text, END]
}

/** Without their names: `a or b` is one series of a rule, whichever of the two it has at a time. */
const joined = (answered: readonly QueriedSeries[]): readonly QueriedSeries[] => {
  const found = new Map<string, QueriedSeries>()
  for (const { labels, points } of answered) {
    const { __name__: _name, ...own } = labels
    const key = JSON.stringify(
      Object.entries(own)
        .map((pair) => JSON.stringify(pair))
        .toSorted(),
    )
    const all = [...(found.get(key)?.points ?? []), ...points]
    found.set(key, { labels: own, points: all.toSorted(([a], [b]) => a - b) })
  }
  return [...found.values()]
}

/** The ALERTS series, as Prometheus records them. */
const alertHistory = async (api: Api, stretch: Range): Promise<readonly string[]> => {
  const text: string[] = []
  for (const { alert, expr, labels, for: pending, keep_firing_for: kept } of alerts) {
    const waits = { pending: seconds(pending), kept: seconds(kept), step: stretch.step }
    for (const { labels: own, points } of joined(await api.range(expr, stretch))) {
      const series = { ...own, ...labels, alertname: alert }
      const states = statesOf(points, waits)
      const onsets = states.map(({ at, onset }) => [at, onset] as const)
      text.push(...render('ALERTS_FOR_STATE', series, onsets))
      for (const alertstate of ['pending', 'firing']) {
        const times = states.filter(({ state }) => state === alertstate).map(({ at }) => [at, 1] as const)
        text.push(...render('ALERTS', { ...series, alertstate }, times))
      }
    }
  }
  return [...text, END]
}

/** While an alert is pending or fires: its state and its onset, from the times at which its expression was true. */
const statesOf = (
  points: QueriedSeries['points'],
  { pending, kept, step }: Readonly<Record<'pending' | 'kept' | 'step', number>>,
) => {
  const states: { readonly at: number; readonly state: string; readonly onset: number }[] = []
  let [onset, last, isFiring] = [Number.NaN, Number.NEGATIVE_INFINITY, false]
  const keep = (until: number): void => {
    if (!isFiring) return
    for (let at = last + step; at < until && at <= last + kept; at += step) states.push({ at, state: 'firing', onset })
  }
  for (const [at] of points) {
    keep(at)
    if (at - last > Math.max(step, isFiring ? kept : 0)) onset = at
    isFiring = at - onset >= pending
    states.push({ at, state: isFiring ? 'firing' : 'pending', onset })
    last = at
  }
  keep(Number.POSITIVE_INFINITY)
  return states
}

const END = '# EOF\n'

const seconds = (duration = '0s'): number => (parseDuration(duration) ?? 0) / 1000

const render = (name: string, labels: Labels, points: QueriedSeries['points']): readonly string[] => {
  const own = Object.entries(labels).map(([label, value]) => `${label}="${value.replaceAll(/[\\"]/g, '\\$&')}"`)
  const prefix = own.length > 0 ? `${name}{${own.join(',')}}` : name
  return points.map(([at, value]) => `${prefix} ${value} ${at}\n`)
}
