import type { StatesyncProgress } from '../../domain/agreement.ts'
import { minute, second } from '../../core/units.ts'
import { z } from 'zod'

interface ProgressPoint {
  /** By the monotonic clock, in milliseconds. */
  readonly elapsed: number
  readonly block: number
}

export interface StatesyncEstimate {
  /** Time until the target at the rate of the last ten minutes; null while stalled or just started. */
  readonly etaSeconds: number | null
  /** When the progress last increased, in milliseconds since the epoch; null if statesync is not running. */
  readonly lastProgressAt: number | null
}

const PROGRESS_WINDOW_MS = 10 * minute
const MIN_WINDOW_MS = 10 * second
/** The progress increases with every response of a peer: after a minute without an increase it is stalled. */
const STALLED_MS = minute
const NONE: StatesyncEstimate = { etaSeconds: null, lastProgressAt: null }

interface Timestamps {
  /** By the monotonic clock, in milliseconds. */
  readonly elapsed: number
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Estimates the remaining time from the progress, which is undefined if statesync is not running. */
export const createStatesyncEstimator = () => {
  const estimators = { native: createEstimator(), status: createEstimator() }
  return (progress: StatesyncProgress | undefined, timestamps: Timestamps): StatesyncEstimate => {
    if (progress) return estimators[progress.source].add(progress, timestamps)
    for (const estimator of Object.values(estimators)) estimator.reset()
    return NONE
  }
}

const createEstimator = () => {
  let points: readonly ProgressPoint[] = []
  let lastProgressAt: number | null = null
  let increasedAt = 0
  const reset = (): void => {
    points = []
    lastProgressAt = null
  }
  return {
    reset,
    add: (progress: StatesyncProgress, { elapsed, now }: Timestamps): StatesyncEstimate => {
      const last = points.at(-1)
      // A decrease of the progress is another statesync.
      if (last && progress.block < last.block) points = []
      if (points.length === 0 || (last && progress.block > last.block)) {
        increasedAt = elapsed
        lastProgressAt = now
      }
      points = [
        ...points.filter((point) => elapsed - point.elapsed <= PROGRESS_WINDOW_MS),
        { elapsed, block: progress.block },
      ]
      const isStalled = elapsed - increasedAt > STALLED_MS
      return { etaSeconds: isStalled ? null : eta(points, progress), lastProgressAt }
    },
  }
}

const eta = (points: readonly ProgressPoint[], { block, target }: StatesyncProgress): number | null => {
  const [from, to] = [points[0], points.at(-1)]
  if (!from || !to || to.elapsed - from.elapsed < MIN_WINDOW_MS || to.block <= from.block) return null
  const blocksPerMs = (to.block - from.block) / (to.elapsed - from.elapsed)
  return Math.max(0, target - block) / blocksPerMs / second
}

const usagePoint = z.object({
  /** Milliseconds since the epoch. */
  at: z.number(),
  ratio: z.number(),
})
type UsagePoint = Readonly<z.output<typeof usagePoint>>

interface StorageGrowth {
  /** Seconds until the used ratio reaches `threshold`; 0 if it has, null if the growth is not known. */
  secondsUntil(threshold: number): number | null
  add(point: UsagePoint): void
  snapshot(): readonly UsagePoint[]
  restore(snapshot: unknown): void
}

const USAGE_WINDOW_MS = 48 * 60 * minute
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
  let points: readonly UsagePoint[] = []
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
      points = [...points.filter(({ at }) => point.at - at <= USAGE_WINDOW_MS), point]
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

const pointsSchema = z.array(usagePoint).max(POINTS + 1)

/** Slope per millisecond, by least squares; null if it is not significantly above 0. */
const slopeOf = (points: readonly UsagePoint[]): number | null => {
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

const sum = (points: readonly UsagePoint[], of: (point: UsagePoint) => number): number =>
  points.reduce((total, point) => total + of(point), 0)
