import type { Labels, MetricDefinition } from '../../../src/core/metric.ts'
import { metrics } from '../../../src/metrics.ts'
import { alerts } from '../../alerts/files.ts'
import type { NodeState } from './node-states.ts'
import type { Recorder } from './recorder.ts'

interface Generated {
  readonly name: string
  readonly definition: MetricDefinition
  readonly combinations: readonly Readonly<Record<string, string>>[]
}

/** The metrics of the catalogue without these, with a series for each combination of their labels. */
export const generatedMetrics = (written: ReadonlySet<string>): readonly Generated[] =>
  Object.entries(metrics)
    .filter(([name]) => !written.has(name))
    .map(([name, definition]) => ({ name, definition, combinations: combine(definition.labels ?? {}) }))

/** A label whose values are not known in advance has one. */
const combine = (labels: Labels): readonly Readonly<Record<string, string>>[] =>
  Object.entries(labels).reduce<readonly Readonly<Record<string, string>>[]>(
    (all, [label, values]) =>
      (typeof values === 'string' ? [`${label}-1`] : values).flatMap((value) =>
        all.map((one) => ({ ...one, [label]: value })),
      ),
    [{}],
  )

const HOUR = 3600
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
export const recordGenerated = (to: Recorder, moment: NodeState, generated: readonly Generated[]): void => {
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
