import { z } from 'zod'
import { minute, second } from '../../core/units.ts'

interface Point {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly ratio: number
}

export interface Growth {
  /** Seconds until `threshold` by the growth so far: 0 from there on, null while nothing says when. */
  until(threshold: number): number | null
  add(point: Point): void
  snapshot(): readonly Point[]
  restore(memory: unknown): void
}

const WINDOW_MS = 48 * 60 * minute
/** So many points are enough for a line; then every second one goes, and the next come half as often. */
const POINTS = 240
const FIRST_SPACING_MS = 10 * second
const LEAST_MS = minute
const LEAST_STEPS = 11
/** A drop like this is a compaction or a statesync: what was before it says nothing of what comes. */
const DROP = 0.02

/**
 * The growth of a share of use as a line through the last two days, begun anew at every drop.
 * A line that may as well be flat (its slope is less than three times its standard error) is none.
 */
export const createGrowth = (): Growth => {
  let points: readonly Point[] = []
  let spacing = FIRST_SPACING_MS
  return {
    add: (point) => {
      // A clock that was set back leaves points of the future.
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
    until: (threshold) => {
      const last = points.at(-1)
      if (!last) return null
      if (last.ratio >= threshold) return 0
      const slope = slopeOf(points)
      return slope === null ? null : (threshold - last.ratio) / slope / second
    },
    snapshot: () => points,
    restore: (memory) => {
      points = pointsSchema.safeParse(memory).data ?? []
      const [first, last] = [points[0], points.at(-1)]
      if (first && last && points.length > 1)
        spacing = Math.max(spacing, (last.at - first.at) / (points.length - 1))
    },
  }
}

const pointsSchema = z.array(z.object({ at: z.number(), ratio: z.number() })).max(POINTS + 1)

/** Per millisecond, by least squares; null where it is not clearly above 0. */
const slopeOf = (points: readonly Point[]): number | null => {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last || points.length < 3 || last.at - first.at < LEAST_MS) return null
  const count = points.length
  const meanAt = sum(points, ({ at }) => at) / count
  const meanRatio = sum(points, ({ ratio }) => ratio) / count
  const spread = sum(points, ({ at }) => (at - meanAt) ** 2)
  const slope = sum(points, ({ at, ratio }) => (at - meanAt) * (ratio - meanRatio)) / spread
  const residue = sum(points, ({ at, ratio }) => (ratio - meanRatio - slope * (at - meanAt)) ** 2)
  const error = Math.sqrt(residue / Math.max(1, count - 2) / spread)
  // Use is told in steps of a hundredth of a percent: one or two of them are no line.
  const steps = new Set(points.map(({ ratio }) => ratio)).size
  return slope > 3 * error && slope > 0 && steps >= LEAST_STEPS ? slope : null
}

const sum = (points: readonly Point[], of: (point: Point) => number): number =>
  points.reduce((total, point) => total + of(point), 0)
