import type { LabelArgument, ReadingName, Sample } from './metric.ts'

/** What is published at one moment, by name and labels; undefined is unknown, as everywhere. */
export interface Known {
  value<Name extends ReadingName>(name: Name, ...labels: LabelArgument<Name>): number | undefined
  /** Every series of a metric. */
  series(name: ReadingName): readonly Sample[]
}

/** Looks things up in the samples of the board: what is stale is not among them. */
export const createKnown = (samples: Iterable<Sample>): Known => {
  const byName = new Map<string, Sample[]>()
  for (const one of samples) byName.set(one.name, [...(byName.get(one.name) ?? []), one])
  return {
    value: (name, ...[wanted]) =>
      byName
        .get(name)
        ?.find(({ labels }) =>
          Object.entries(wanted ?? {}).every(([label, value]) => labels[label] === value),
        )?.value,
    series: (name) => byName.get(name) ?? [],
  }
}
