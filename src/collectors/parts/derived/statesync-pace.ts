import { minute, second } from '../../../core/units.ts'

interface Point {
  /** By the clock that never goes back, in milliseconds. */
  readonly elapsed: number
  readonly block: number
}

export interface Pace {
  /** Until the target at the pace of the last ten minutes; null while it stands, or has just begun. */
  readonly etaSeconds: number | null
  /** When the progress last grew, in milliseconds since the epoch; null while there is none. */
  readonly lastProgressAt: number | null
}

interface Progress {
  readonly block: number
  readonly target: number
}

const WINDOW_MS = 10 * minute
const LEAST_MS = 10 * second
/** It moves with every response of a peer: a minute without is a standstill, and has no end in sight. */
const STANDS_MS = minute
const NO_PACE: Pace = { etaSeconds: null, lastProgressAt: null }

/** The pace of a statesync, from its progress; undefined is none under way. */
export const createStatesyncPace = () => {
  let points: readonly Point[] = []
  let pace = NO_PACE
  let movedAt = 0
  return (progress: Progress | undefined, elapsed: number, now: number): Pace => {
    if (!progress) {
      points = []
      pace = NO_PACE
      return pace
    }
    const last = points.at(-1)
    // A progress that falls is another statesync.
    if (last && progress.block < last.block) points = []
    const isFirst = points.length === 0
    const grew = isFirst || (last !== undefined && progress.block > last.block)
    if (grew) movedAt = elapsed
    points = [
      ...points.filter((point) => elapsed - point.elapsed <= WINDOW_MS),
      { elapsed, block: progress.block },
    ]
    pace = {
      etaSeconds: elapsed - movedAt > STANDS_MS ? null : eta(points, progress),
      lastProgressAt: grew ? now : pace.lastProgressAt,
    }
    return pace
  }
}

const eta = (points: readonly Point[], { block, target }: Progress): number | null => {
  const [from, to] = [points[0], points.at(-1)]
  if (!from || !to || to.elapsed - from.elapsed < LEAST_MS || to.block <= from.block) return null
  const blocksPerMs = (to.block - from.block) / (to.elapsed - from.elapsed)
  return Math.max(0, target - block) / blocksPerMs / second
}
