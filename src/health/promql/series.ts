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
  select(name: string | undefined, matchers: readonly Matcher[]): readonly Series[]
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

/** A sample that marks the end of a series. The agent exports no NaN. */
const ENDED = Number.NaN

interface Stored extends Series {
  readonly points: Point[]
}

interface StoredMetric {
  /** How long samples are kept, in milliseconds; negative for a metric that is not needed. */
  readonly retention: number
  readonly all: Map<string, Stored>
  /** What each selector has selected, until a series begins or is removed. */
  selected: WeakMap<readonly Matcher[], readonly Stored[]>
}

/**
 * Samples of the last minutes, by series, as a Prometheus that scrapes at the times of `add` would store them. `retentionOf`
 * returns how far back the samples of a metric are read, in milliseconds; negative if they are not.
 */
export const createSampleHistory = (retentionOf: (name: string) => number) => {
  const names = new Map<string, StoredMetric>()
  let now = 0

  const metricOf = (name: string): StoredMetric => {
    const known = names.get(name)
    if (known) return known
    const created = { all: new Map<string, Stored>(), retention: retentionOf(name), selected: new WeakMap() }
    names.set(name, created)
    return created
  }
  const remove = (metric: StoredMetric, key: string): void => {
    metric.all.delete(key)
    metric.selected = new WeakMap()
  }
  const write = (name: string, labels: Labels, value: number): void => {
    const metric = metricOf(name)
    if (metric.retention < 0) return
    const key = keyOf(labels)
    let series = metric.all.get(key)
    if (!series) {
      series = createSeries(name, labels)
      metric.all.set(key, series)
      metric.selected = new WeakMap()
    }
    series.points.push({ at: now, value })
  }
  /** Ends the series that have no sample at this time, and removes old samples. */
  const sweep = (metric: StoredMetric): void => {
    const oldest = now - metric.retention
    for (const [key, { points }] of metric.all) {
      const last = points.at(-1)
      if (last && last.at < now && !Number.isNaN(last.value)) points.push({ at: now, value: ENDED })
      if ((points.at(-1)?.at ?? -Infinity) <= oldest) remove(metric, key)
      // Not at each call: removing from the front copies the rest.
      else if ((points[64]?.at ?? Infinity) <= oldest) points.splice(0, indexAfter(points, oldest))
    }
  }
  const recorded = new Set<string>()
  let extraAt: number | undefined
  const removeExtra = (): void => {
    for (const metric of extraAt === undefined ? [] : names.values()) {
      for (const [key, { points }] of metric.all) {
        while (points.at(-1)?.at === extraAt) points.pop()
        if (points.length === 0) remove(metric, key)
      }
    }
  }

  return {
    /**
     * Adds the samples of one time; times must increase. A series without a sample ends, as after a scrape without it,
     * unless the samples are only a part of what is known. `isExtra`: the next call replaces them, so that memory does not
     * grow with the number of requests.
     */
    add: (at: number, samples: Iterable<StoredSample>, { isPart = false, isExtra = false }: AddOptions = {}): void => {
      removeExtra()
      extraAt = isExtra ? at : undefined
      now = at
      for (const { name, labels, value } of samples) write(name, labels, value)
      for (const [name, metric] of isPart ? [] : names) if (!recorded.has(name)) sweep(metric)
    },
    /** Adds the results of recording rules to the samples of the newest time. */
    record: (name: string, samples: Iterable<Omit<StoredSample, 'name'>>): void => {
      recorded.add(name)
      for (const { labels, value } of samples) write(name, labels, value)
      sweep(metricOf(name))
    },
    select: (name: string | undefined, matchers: readonly Matcher[]): readonly Series[] => {
      const isNamed = (one: string): boolean => matchers.every((by) => by.label !== '__name__' || by.matches(one))
      if (name === undefined) {
        return [...names].flatMap(([one, metric]) => (isNamed(one) ? selectFrom(metric, matchers) : []))
      }
      const metric = names.get(name)
      return metric ? selectFrom(metric, matchers) : []
    },
  }
}

const selectFrom = (metric: StoredMetric, matchers: readonly Matcher[]): readonly Stored[] => {
  const known = metric.selected.get(matchers)
  if (known) return known
  const found = [...metric.all.values()].filter(({ labels }) =>
    matchers.every((by) => by.label === '__name__' || by.matches(labels[by.label] ?? '')),
  )
  metric.selected.set(matchers, found)
  return found
}

/** Computes the function once for each object of labels: those of a series are the same object at each evaluation. */
export const perLabels = <T extends string | object>(compute: (labels: Labels) => T): ((labels: Labels) => T) => {
  const known = new WeakMap<Labels, T>()
  return (labels) => {
    const last = known.get(labels)
    if (last !== undefined) return last
    const result = compute(labels)
    known.set(labels, result)
    return result
  }
}

export const keyOf = perLabels((labels) =>
  Object.keys(labels)
    .toSorted()
    .map((label) => `${label}\0${labels[label] ?? ''}`)
    .join('\0'),
)

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
    within: (from, to) => {
      const found = points.slice(indexAfter(points, from), indexAfter(points, to))
      return found.some(({ value }) => Number.isNaN(value)) ? found.filter(({ value }) => !Number.isNaN(value)) : found
    },
  }
}

/** The index of the first point after a time. */
const indexAfter = (points: readonly Point[], time: number): number => {
  let low = 0
  let high = points.length
  if ((points.at(-1)?.at ?? Infinity) <= time) return high
  while (low < high) {
    const middle = (low + high) >> 1
    if ((points[middle]?.at ?? Infinity) <= time) low = middle + 1
    else high = middle
  }
  return low
}
