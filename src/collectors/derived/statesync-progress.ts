import type { SampleIndex } from '../../core/metric.ts'
import { minute, second } from '../../core/units.ts'

export interface StatesyncProgress {
  /** Values of different sources are not compared. */
  readonly source: 'native' | 'status'
  readonly block: number
  readonly target: number
}

/** From the metrics of the node, read every few seconds, else from its status report, read every few minutes. */
export const statesyncProgress = (known: SampleIndex): StatesyncProgress | undefined => {
  // The metrics of consensus show its end at once; a status report may be minutes old.
  if (known.value('chain_native_statesync_active') === 0) return undefined
  const sources = [
    {
      source: 'native',
      block: known.value('chain_native_statesync_progress_block'),
      target: known.value('chain_native_statesync_target_block'),
    },
    {
      source: 'status',
      block: known.value('chain_status_statesync_progress_block'),
      target: known.value('chain_status_statesync_target_block'),
    },
  ] as const
  for (const { source, block, target } of sources) {
    if (block === undefined || target === undefined) continue
    return block < target ? { source, block, target } : undefined
  }
  return undefined
}

interface Point {
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

const WINDOW_MS = 10 * minute
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
  let points: readonly Point[] = []
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
      points = [...points.filter((point) => elapsed - point.elapsed <= WINDOW_MS), { elapsed, block: progress.block }]
      const isStalled = elapsed - increasedAt > STALLED_MS
      return { etaSeconds: isStalled ? null : eta(points, progress), lastProgressAt }
    },
  }
}

const eta = (points: readonly Point[], { block, target }: StatesyncProgress): number | null => {
  const [from, to] = [points[0], points.at(-1)]
  if (!from || !to || to.elapsed - from.elapsed < MIN_WINDOW_MS || to.block <= from.block) return null
  const blocksPerMs = (to.block - from.block) / (to.elapsed - from.elapsed)
  return Math.max(0, target - block) / blocksPerMs / second
}
