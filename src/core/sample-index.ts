import type { LabelArgument, ReadingName, Sample } from './metric.ts'

/** The samples at one time, by name and labels; undefined is unknown. */
export interface SampleIndex {
  value<Name extends ReadingName>(name: Name, ...labels: LabelArgument<Name>): number | undefined
  /** Every series of a metric. */
  series(name: ReadingName): readonly Sample[]
}

/** Creates an index of samples. Stale readings are not among the board's samples. */
export const createSampleIndex = (samples: Iterable<Sample>): SampleIndex => {
  const byName = new Map<string, Sample[]>()
  for (const one of samples) {
    const series = byName.get(one.name)
    if (series) series.push(one)
    else byName.set(one.name, [one])
  }
  return {
    value: (name, ...[wanted]) =>
      byName
        .get(name)
        ?.find(({ labels }) => Object.entries(wanted ?? {}).every(([label, value]) => labels[label] === value))?.value,
    series: (name) => byName.get(name) ?? [],
  }
}
