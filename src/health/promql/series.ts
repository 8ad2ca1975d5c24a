/** Labels of a series, without its name. */
export type Labels = Readonly<Record<string, string>>

export interface Point {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly value: number
}

export interface Matcher {
  readonly label: string
  matches(value: string): boolean
}

/** A series with its samples, oldest first. */
export interface Series {
  readonly name: string
  readonly labels: Labels
  /** The newest sample in (from, to]; undefined if there is none, or if the series ended after it. */
  last(from: number, to: number): Point | undefined
  /** The samples in (from, to], as in Prometheus 3; Prometheus 2 includes one that is exactly at the start. */
  within(from: number, to: number): readonly Point[]
}

export interface SeriesSource {
  /** The series of a metric; of all metrics whose name a matcher of `__name__` accepts if the name is undefined. */
  select(name: string | undefined, matchers: readonly Matcher[]): Iterable<Series>
}

export interface StoredSample {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

export interface AddOptions {
  readonly isPart?: boolean
  readonly isExtra?: boolean
}

/** Samples of the last minutes, by series, as a Prometheus that scrapes at the times of `add` would store them. */
export interface SampleHistory extends SeriesSource {
  /**
   * Adds the samples of one time; times must increase. A series without a sample ends, as after a scrape without it,
   * unless the samples are only a part of what is known. `isExtra`: the next call replaces them, so that memory does not
   * grow with the number of requests.
   */
  add(at: number, samples: Iterable<StoredSample>, options?: AddOptions): void
  /** Adds the results of recording rules to the samples of the newest time. */
  record(name: string, samples: Iterable<Omit<StoredSample, 'name'>>): void
}

/** A sample that marks the end of a series. The agent exports no NaN. */
const ENDED = Number.NaN

interface Stored extends Series {
  readonly points: Point[]
}

interface StoredMetric {
  /** How long samples are kept, in milliseconds; negative for a metric that is not needed. */
  readonly retention: number
  readonly all: Map<string, Stored>
}

/** `retentionOf` returns how far back the samples of a metric are read, in milliseconds; negative if they are not. */
export const createSampleHistory = (retentionOf: (name: string) => number): SampleHistory => {
  const names = new Map<string, StoredMetric>()
  let now = 0

  const write = (name: string, labels: Labels, value: number): void => {
    const { all, retention } = names.get(name) ?? { all: new Map<string, Stored>(), retention: retentionOf(name) }
    names.set(name, { all, retention })
    if (retention < 0) return
    const key = keyOf(labels)
    const series = all.get(key) ?? createSeries(name, labels)
    all.set(key, series)
    series.points.push({ at: now, value })
  }
  /** Ends the series that have no sample at this time, and removes old samples. */
  const sweep = (isPartOf: (name: string) => boolean): void => {
    for (const [name, { all, retention }] of names) {
      if (!isPartOf(name)) continue
      for (const [key, { points }] of all) {
        const last = points.at(-1)
        if (last && last.at < now && !Number.isNaN(last.value)) points.push({ at: now, value: ENDED })
        const old = indexAfter(points, now - retention)
        if (old === points.length) all.delete(key)
        // Not at each call: removing from the front copies the rest.
        else if (old > 64) points.splice(0, old)
      }
    }
  }
  const recorded = new Set<string>()
  let extraAt: number | undefined
  const removeExtra = (): void => {
    for (const { all } of extraAt === undefined ? [] : names.values()) {
      for (const [key, { points }] of all) {
        while (points.at(-1)?.at === extraAt) points.pop()
        if (points.length === 0) all.delete(key)
      }
    }
  }

  return {
    add: (at, samples, { isPart = false, isExtra = false } = {}) => {
      removeExtra()
      extraAt = isExtra ? at : undefined
      now = at
      for (const { name, labels, value } of samples) write(name, labels, value)
      if (!isPart) sweep((name) => !recorded.has(name))
    },
    record: (name, samples) => {
      recorded.add(name)
      for (const { labels, value } of samples) write(name, labels, value)
      sweep((other) => other === name)
    },
    *select(name, matchers) {
      const candidates =
        name === undefined
          ? [...names].filter(([one]) => matchers.every((by) => by.label !== '__name__' || by.matches(one)))
          : [[name, names.get(name)] as const]
      for (const [, metric] of candidates) {
        for (const series of metric?.all.values() ?? []) {
          if (matchers.every((by) => by.label === '__name__' || by.matches(series.labels[by.label] ?? ''))) yield series
        }
      }
    },
  }
}

export const keyOf = (labels: Labels): string =>
  Object.keys(labels)
    .toSorted()
    .map((label) => `${label}\0${labels[label] ?? ''}`)
    .join('\0')

const createSeries = (name: string, labels: Labels): Stored => {
  const points: Point[] = []
  return {
    name,
    labels,
    points,
    last: (from, to) => {
      const point = points[indexAfter(points, to) - 1]
      return point === undefined || point.at <= from || Number.isNaN(point.value) ? undefined : point
    },
    within: (from, to) =>
      points.slice(indexAfter(points, from), indexAfter(points, to)).filter(({ value }) => !Number.isNaN(value)),
  }
}

/** The index of the first point after a time. */
const indexAfter = (points: readonly Point[], time: number): number => {
  let low = 0
  let high = points.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((points[middle]?.at ?? Infinity) <= time) low = middle + 1
    else high = middle
  }
  return low
}
