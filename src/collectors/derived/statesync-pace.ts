import { minute, second } from '../../core/units.ts'
import type { StatesyncProgress } from './views.ts'

interface Point {
  /** By the clock that never goes back, in milliseconds. */
  readonly elapsed: number
  readonly block: number
}

export interface Pace {
  /** Until the target at the pace of the last ten minutes; null while it is stalled, or has just begun. */
  readonly etaSeconds: number | null
  /** When the progress last grew, in milliseconds since the epoch; null while there is none. */
  readonly lastProgressAt: number | null
}

const WINDOW_MS = 10 * minute
const LEAST_MS = 10 * second
/** It moves with every response of a peer: a minute without is a standstill, and has no end in sight. */
const STANDS_MS = minute
const NO_PACE: Pace = { etaSeconds: null, lastProgressAt: null }

interface Moment {
  /** By the clock that never goes back. */
  readonly elapsed: number
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** The pace of a statesync, from its progress; undefined is none under way. Each source is held against itself. */
export const createStatesyncPace = () => {
  const paces = { native: createPace(), status: createPace() }
  return (progress: StatesyncProgress | undefined, moment: Moment): Pace => {
    if (progress) return paces[progress.source].add(progress, moment)
    for (const pace of Object.values(paces)) pace.forget()
    return NO_PACE
  }
}

const createPace = () => {
  let points: readonly Point[] = []
  let lastProgressAt: number | null = null
  let movedAt = 0
  const forget = (): void => {
    points = []
    lastProgressAt = null
  }
  return {
    forget,
    add: (progress: StatesyncProgress, { elapsed, now }: Moment): Pace => {
      const last = points.at(-1)
      // A progress that falls is another statesync.
      if (last && progress.block < last.block) points = []
      if (points.length === 0 || (last && progress.block > last.block)) {
        movedAt = elapsed
        lastProgressAt = now
      }
      points = [
        ...points.filter((point) => elapsed - point.elapsed <= WINDOW_MS),
        { elapsed, block: progress.block },
      ]
      const stands = elapsed - movedAt > STANDS_MS
      return { etaSeconds: stands ? null : eta(points, progress), lastProgressAt }
    },
  }
}

const eta = (points: readonly Point[], { block, target }: StatesyncProgress): number | null => {
  const [from, to] = [points[0], points.at(-1)]
  if (!from || !to || to.elapsed - from.elapsed < LEAST_MS || to.block <= from.block) return null
  const blocksPerMs = (to.block - from.block) / (to.elapsed - from.elapsed)
  return Math.max(0, target - block) / blocksPerMs / second
}
