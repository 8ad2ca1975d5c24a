import { z } from 'zod'
import { minute, second } from '../../core/units.ts'

interface Point {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly ratio: number
}

export interface StorageGrowth {
  /** Seconds until the used ratio reaches `threshold`; 0 if it has, null if the growth is not known. */
  secondsUntil(threshold: number): number | null
  add(point: Point): void
  snapshot(): readonly Point[]
  restore(snapshot: unknown): void
}

const WINDOW_MS = 48 * 60 * minute
/** At this number every second point is removed, and the next are added half as often. */
const POINTS = 240
const FIRST_SPACING_MS = 10 * second
const MIN_SPAN_MS = minute
const MIN_STEPS = 11
/** A drop of this size is a compaction or a statesync: the points before it do not predict the growth after it. */
const DROP = 0.02

/**
 * The growth of the used ratio as a line through the last two days, restarted at every drop. If the slope is less than
 * three times its standard error, the growth is not known.
 */
export const createStorageGrowth = (): StorageGrowth => {
  let points: readonly Point[] = []
  let spacing = FIRST_SPACING_MS
  return {
    add: (point) => {
      // After the clock was set back, remove the points of the future.
      points = points.filter(({ at }) => at <= point.at)
      const last = points.at(-1)
      if (last && point.ratio < last.ratio - DROP) {
        points = []
        spacing = FIRST_SPACING_MS
      } else if (last && point.at - last.at < spacing) return
      points = [...points.filter(({ at }) => point.at - at <= WINDOW_MS), point]
      if (points.length > POINTS) {
        points = points.filter((_, index) => index % 2 === 0)
        spacing *= 2
      }
    },
    secondsUntil: (threshold) => {
      const last = points.at(-1)
      if (!last) return null
      if (last.ratio >= threshold) return 0
      const slope = slopeOf(points)
      return slope === null ? null : (threshold - last.ratio) / slope / second
    },
    snapshot: () => points,
    restore: (snapshot) => {
      points = pointsSchema.safeParse(snapshot).data ?? []
      const [first, last] = [points[0], points.at(-1)]
      if (first && last && points.length > 1) spacing = Math.max(spacing, (last.at - first.at) / (points.length - 1))
    },
  }
}

const pointsSchema = z.array(z.object({ at: z.number(), ratio: z.number() })).max(POINTS + 1)

/** Slope per millisecond, by least squares; null if it is not significantly above 0. */
const slopeOf = (points: readonly Point[]): number | null => {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last || points.length < 3 || last.at - first.at < MIN_SPAN_MS) return null
  const count = points.length
  const meanAt = sum(points, ({ at }) => at) / count
  const meanRatio = sum(points, ({ ratio }) => ratio) / count
  const spread = sum(points, ({ at }) => (at - meanAt) ** 2)
  const slope = sum(points, ({ at, ratio }) => (at - meanAt) * (ratio - meanRatio)) / spread
  const residual = sum(points, ({ at, ratio }) => (ratio - meanRatio - slope * (at - meanAt)) ** 2)
  const error = Math.sqrt(residual / Math.max(1, count - 2) / spread)
  // The ratio is reported in steps of a hundredth of a percent: a few steps are not a line.
  const steps = new Set(points.map(({ ratio }) => ratio)).size
  return slope > 3 * error && slope > 0 && steps >= MIN_STEPS ? slope : null
}

const sum = (points: readonly Point[], of: (point: Point) => number): number =>
  points.reduce((total, point) => total + of(point), 0)
