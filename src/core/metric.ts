import { recordFor } from './record.ts'

/** A label whose values are not known in advance. The budget of series limits their number. */
export const open = 'open'

/** Such labels. */
export const opens = <const Name extends string>(...names: readonly Name[]) => recordFor(names, (): typeof open => open)

export type Labels = Readonly<Record<string, readonly string[] | typeof open>>

const definer =
  <const Type extends string>(type: Type) =>
  <const L extends Labels = Record<never, never>>(help: string, labels?: L) =>
    ({ type, help, labels }) as const

/** A value read from a source: exported while its reading is fresh, absent otherwise. */
export const gauge = definer('gauge')
/** A total counted by the agent: exported until the agent exits. */
export const counter = definer('counter')
/** A total counted by the node or systemd: exported by value, absent when its reading is stale. */
export const externalCounter = definer('external counter')

/** Durations observed by the agent, in seconds; the buckets are close to the values that decide. */
export const histogram = <const L extends Labels = Record<never, never>>(
  help: string,
  buckets: readonly number[],
  labels?: L,
) => ({ type: 'histogram', help, buckets, labels }) as const

export interface MetricDefinition {
  readonly type: 'gauge' | 'counter' | 'external counter' | 'histogram'
  readonly help: string
  readonly labels: Labels | undefined
  readonly buckets?: readonly number[]
}

/** Every metric: name → definition. `src/metrics.ts` declares the members, from what each part of the agent defines. */
export interface Catalogue {}

/** The metrics of several parts, by name. */
export const metricsOf = (
  parts: readonly { readonly metrics: Readonly<Record<string, MetricDefinition>> }[],
): Readonly<Record<string, MetricDefinition>> =>
  Object.fromEntries(parts.flatMap(({ metrics }) => Object.entries(metrics)))

export type MetricName = keyof Catalogue
type NamesOf<Type extends MetricDefinition['type']> = {
  [Name in MetricName]: Catalogue[Name] extends { readonly type: Type } ? Name : never
}[MetricName]

/** Metrics that are exported by value, from a reading. */
export type ReadingName = NamesOf<'gauge' | 'external counter'>
export type CounterName = NamesOf<'counter'>
export type HistogramName = NamesOf<'histogram'>

/** The labels that a metric must carry, with the values that the catalogue allows. */
export type LabelsOf<Name extends MetricName> = Catalogue[Name] extends {
  readonly labels: (infer L) | undefined
}
  ? { readonly [K in keyof L]: L[K] extends readonly (infer Value)[] ? Value : string }
  : never

/** Nothing to pass where a metric has no labels, exactly its labels where it has some. */
export type LabelArgument<Name extends MetricName> = [keyof LabelsOf<Name>] extends [never]
  ? []
  : [labels: LabelsOf<Name>]

export interface Sample {
  readonly name: ReadingName
  readonly value: number
  readonly labels: Readonly<Record<string, string>>
}

/**
 * One value of one metric, in the unit that its name ends in. 64-bit heights become doubles here, exact up to 2^53.
 * Throws a RangeError for a value that is not finite: an unknown value has no sample.
 */
export const sample = <Name extends ReadingName>(
  name: Name,
  value: number | bigint | boolean,
  ...labels: LabelArgument<Name>
): Sample => {
  const number = Number(value)
  if (!Number.isFinite(number)) throw new RangeError(`${name} must be a number, got ${value}`)
  return { name, value: number, labels: { ...labels[0] } }
}

/** A sample for a value that may be unknown: none then. */
export const sampleIfKnown = <Name extends ReadingName>(
  name: Name,
  value: number | bigint | boolean | null | undefined,
  ...labels: LabelArgument<Name>
): readonly Sample[] => (value === null || value === undefined ? [] : [sample(name, value, ...labels)])

/** The samples at one time, by name and labels; undefined is unknown. */
export interface SampleIndex {
  value<Name extends ReadingName>(name: Name, ...labels: LabelArgument<Name>): number | undefined
  series(name: ReadingName): readonly Sample[]
}

/** Up to so many looks, each reads all samples: a map of them costs more. */
const FEW_LOOKS = 3

/** Creates an index of samples. Stale readings are not among the board's samples. */
export const createSampleIndex = (samples: readonly Sample[]): SampleIndex => {
  let looks = 0
  let byName: Map<string, Sample[]> | undefined
  const seriesOf = (name: string): readonly Sample[] => {
    looks += 1
    if (looks <= FEW_LOOKS) return samples.filter((one) => one.name === name)
    byName ??= groupByName(samples)
    return byName.get(name) ?? []
  }
  return {
    value: (name, ...[wanted]) =>
      seriesOf(name).find(({ labels }) =>
        Object.entries(wanted ?? {}).every(([label, value]) => labels[label] === value),
      )?.value,
    series: seriesOf,
  }
}

const groupByName = (samples: Iterable<Sample>): Map<string, Sample[]> => {
  const byName = new Map<string, Sample[]>()
  for (const one of samples) {
    const series = byName.get(one.name)
    if (series) series.push(one)
    else byName.set(one.name, [one])
  }
  return byName
}

/**
 * Records what a collector observes event by event. Readings go to the board and disappear when they are stale;
 * recorded counters and histograms stay.
 */
export interface Recorder {
  /** Adds `by` to a counter of the agent. Counting 0 creates the series, so that `increase()` sees the first event. */
  count<Name extends CounterName>(name: Name, by: number | bigint, ...labels: LabelArgument<Name>): void
  /** Adds to a counter that was saved; an unknown name is ignored, and so are other labels. */
  countByName(name: string, by: number, labels: Readonly<Record<string, string>>): void
  /** Observes a duration, in seconds, in a histogram. */
  observe<Name extends HistogramName>(name: Name, seconds: number, ...labels: LabelArgument<Name>): void
}
