import type { MetricDefinition, Labels } from '../../src/core/metric.ts'
import { metrics } from '../../src/metrics.ts'
import { PROFILES } from './history/profiles.ts'
import { type NodeState, nodeStates } from './history/node-states.ts'
import { createRecorder, type Recorder } from './history/recorder.ts'
import { recordChain, recordBefore, recordConsensus, recordStaking } from './history/chain.ts'
import { recordHost, recordQueryService, recordServices, recordStorage } from './history/host.ts'
import { alerts } from '../alerts/files.ts'

const JOB = 'chain-agent'
/** As deploy/prometheus/targets gives it; the rules do not keep it. */
const CLUSTER = 'mainnet'
/** A healthy node with past incidents: every panel of a single node must show data for it. */
export const HEALTHY = 'validator-1'
/** Its agent has not been scraped for 25 minutes. */
export const SILENT = 'fullnode-3'
export const INSTANCES: readonly string[] = PROFILES.map(({ name }) => name)

const HOUR = 3600
/** The complete history. */
const FINE = 6 * HOUR
/** Before it, with only the metrics of the weekly objective, at one sample per minute. */
const WEEK = 7 * 24 * HOUR
/** After the reference time, so that queries for the current time have data for that long. */
const AHEAD = HOUR / 2

/**
 * Generates a history of eight nodes with incidents, as OpenMetrics with timestamps, in pieces because it is large. `now`,
 * its reference time, is in seconds since the epoch, a multiple of a minute.
 */
export function* history(now: number): Generator<string> {
  for (const profile of PROFILES) {
    for (const recorder of createTarget(profile, now)) yield* recorder.expose()
  }
  yield '# EOF\n'
}

const recordWritten = (to: Recorder, moment: NodeState, now: number): void => {
  recordChain(to, moment)
  recordConsensus(to, moment)
  recordServices(to, moment, now)
  recordStorage(to, moment)
  recordHost(to, moment)
  recordQueryService(to, moment)
  recordStaking(to, moment, now)
}

/** The metrics with a history of their own: those of any node in any of its states in the six hours. */
const writtenNames = (): ReadonlySet<string> => {
  const names = PROFILES.map((profile) => {
    const recorder = createRecorder({})
    for (const moment of nodeStates(profile, { now: 0, from: -FINE, fineFrom: -FINE, to: 0, step: 300 }))
      recordWritten(recorder, moment, 0)
    return recorder.names()
  })
  return new Set(names.flatMap((one) => [...one]))
}

const createTarget = (profile: (typeof PROFILES)[number], now: number): readonly Recorder[] => {
  const common = { instance: profile.name, job: JOB, cluster: CLUSTER }
  const week = createRecorder(common)
  const full = createRecorder(common)
  const fineFrom = now - FINE
  for (const moment of nodeStates(profile, { now, from: now - WEEK, fineFrom, to: now + AHEAD, step: 30 })) {
    const { at, elapsed, isScraped, starts } = moment
    if (at < fineFrom) {
      week.move({ at, elapsed, isWritten: isScraped })
      recordBefore(week, moment)
      continue
    }
    full.move({ at, elapsed, isWritten: isScraped })
    if (starts.consensus || starts.node || starts.agent) full.reset((name) => beginsAnew(name, starts))
    recordWritten(full, moment, now)
    recordGenerated(full, moment)
    full.move({ at, elapsed, isWritten: true })
    full.other('up', isScraped ? 1 : 0)
    full.other('scrape_duration_seconds', isScraped ? 0.03 : 10)
    full.other('scrape_samples_post_metric_relabeling', isScraped ? 780 : 0)
  }
  return [week, full]
}

/** The process whose restart resets a counter: the agent, consensus or systemd. */
const beginsAnew = (
  name: string,
  starts: { readonly consensus: boolean; readonly node: boolean; readonly agent: boolean },
): boolean => {
  if (name === 'chain_native_events_total') return starts.consensus
  const type = definitions.get(name)?.type
  const isOfAgent = type === 'counter' || type === 'histogram' || /^chain_agent_.*_failures_total$/.test(name)
  return starts.agent && (isOfAgent || name.startsWith('process_cpu_'))
}

const definitions: ReadonlyMap<string, MetricDefinition> = new Map(Object.entries(metrics))

interface Generated {
  readonly name: string
  readonly definition: MetricDefinition
  readonly combinations: readonly Readonly<Record<string, string>>[]
}

/** The metrics of the catalogue without these, with a series for each combination of their labels. */
const generatedMetrics = (written: ReadonlySet<string>): readonly Generated[] =>
  Object.entries(metrics)
    .filter(([name]) => !written.has(name))
    .map(([name, definition]) => ({ name, definition, combinations: combine(definition.labels ?? {}) }))

/** A label whose values are not known in advance has one: of a service, a name that panels know. */
const combine = (labels: Labels): readonly Readonly<Record<string, string>>[] =>
  Object.entries(labels).reduce<readonly Readonly<Record<string, string>>[]>(
    (all, [label, values]) =>
      (typeof values === 'string' ? [label === 'service' ? 'bft' : `${label}-1`] : values).flatMap((value) =>
        all.map((one) => ({ ...one, [label]: value })),
      ),
    [{}],
  )

/** Values of gauges by the unit at the end of the name; any other is 1: a flag, a number, a state. */
const USUAL: readonly (readonly [RegExp, (moment: NodeState) => number])[] = [
  [/_timestamp_seconds$/, ({ at }) => at - (at % HOUR)],
  [/_seconds$/, ({ noise }) => 0.1 * (1 + 0.1 * noise(50))],
  [/_ratio$/, ({ noise }) => 0.5 + 0.1 * noise(51)],
  [/_bytes$/, ({ noise }) => Math.round(2 ** 30 * (1 + 0.1 * noise(52)))],
]

const ALERTED = alerts.map(({ expr }) => expr).join('\n')

/**
 * While the node runs: values by type and unit, for a metric without a history of its own. A counter that an alert
 * selects does not increase, so that the alert does not fire.
 */
const recordGenerated = (to: Recorder, moment: NodeState): void => {
  if (!moment.nodeRuns) return
  for (const { name, definition, combinations } of generated) {
    const [, usual = () => 1] = USUAL.find(([unit]) => unit.test(name)) ?? []
    for (const labels of combinations) {
      if (definition.buckets) to.observeOther(name, { perSecond: 1, median: medianOf(definition.buckets) }, labels)
      else if (definition.type === 'gauge') to.other(name, usual(moment), labels)
      else to.otherTotal(name, ALERTED.includes(name) ? 0 : 1, labels)
    }
  }
}

const medianOf = (buckets: readonly number[]): number => buckets[Math.floor(buckets.length / 2)] ?? 1

const generated = generatedMetrics(writtenNames())
