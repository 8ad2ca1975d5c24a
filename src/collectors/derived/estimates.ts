import { z } from 'zod'
import type { SampleIndex } from '../../core/metric.ts'
import { minute, second } from '../../core/units.ts'
import type { newestBlock, StatesyncProgress } from '../../domain/agreement.ts'
import { createRate } from '../../domain/rate.ts'

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
  const rate = createRate({ span: PROGRESS_WINDOW_MS, least: MIN_WINDOW_MS })
  let lastProgressAt: number | null = null
  let increasedAt = 0
  return {
    reset: (): void => {
      rate.clear()
      lastProgressAt = null
    },
    add: ({ block, target }: StatesyncProgress, { elapsed, now }: Timestamps): StatesyncEstimate => {
      const before = rate.last()?.value
      // A decrease of the progress is another statesync.
      if (before !== undefined && block < before) rate.clear()
      if (block !== before) {
        increasedAt = elapsed
        lastProgressAt = now
      }
      rate.add({ at: elapsed, value: block })
      const blocksPerMs = elapsed - increasedAt > STALLED_MS ? null : rate.read()
      return { etaSeconds: blocksPerMs ? Math.max(0, target - block) / blocksPerMs / second : null, lastProgressAt }
    },
  }
}

const usagePoint = z.object({
  /** Milliseconds since the epoch. */
  at: z.number(),
  ratio: z.number(),
})
type UsagePoint = Readonly<z.output<typeof usagePoint>>

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
export const createStorageGrowth = () => {
  let points: readonly UsagePoint[] = []
  let spacing = FIRST_SPACING_MS
  return {
    add: (point: UsagePoint): void => {
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
    /** Seconds until the used ratio reaches `threshold`; 0 if it has, null if the growth is not known. */
    secondsUntil: (threshold: number): number | null => {
      const last = points.at(-1)
      if (!last) return null
      if (last.ratio >= threshold) return 0
      const slope = slopeOf(points)
      return slope === null ? null : (threshold - last.ratio) / slope / second
    },
    snapshot: (): readonly UsagePoint[] => points,
    restore: (snapshot: unknown): void => {
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

/**
 * The highest block of the node from any source: its RPC may be stalled or unavailable. While execution is down, that of
 * the state: consensus may be further, but a start continues from the state.
 */
export const ownHeight = (known: SampleIndex): number | undefined => {
  const service = 'execution'
  const isDown =
    known.value('chain_service_active', { service }) === 0 && known.value('chain_service_expected', { service }) === 1
  const rpc = known.value('chain_rpc_block_number', { tag: 'latest' })
  const executed = [
    rpc,
    known.value('chain_execution_block_number'),
    known.value('chain_storage_latest_block', { state: 'proposed' }),
  ].filter((height) => height !== undefined)
  const agreed = [
    rpc,
    known.value('chain_ledger_seq_num', { event: 'proposed' }),
    known.value('chain_consensus_block_number'),
  ].filter((height) => height !== undefined)
  const heights = isDown && executed.length > 0 ? executed : agreed
  return heights.length === 0 ? undefined : Math.max(...heights)
}

type TimedBlock = NonNullable<ReturnType<typeof newestBlock>>

/** Blocks this far apart measure the rate well: the error of one block interval is below one percent. */
const WINDOW_S = 300
const MIN_WINDOW_S = 20
/** How long the rate is kept without a new block: releases of the chain change it, an outage does not. */
const KEPT_MS = 60 * minute

/**
 * The block rate of the chain in blocks per second, from the timestamps of the blocks: it is correct while the node
 * catches up, and while the node is stalled the last rate is kept for an hour.
 */
export const createBlockRate = () => {
  const rate = createRate({ span: WINDOW_S, least: MIN_WINDOW_S })
  let advancedAt = -Infinity
  return (newest: TimedBlock | undefined, elapsed: number): number | null => {
    const last = rate.last()
    if (newest && newest.height > (last?.value ?? -1) && newest.time > (last?.at ?? 0)) {
      rate.add({ at: newest.time, value: newest.height })
      advancedAt = elapsed
    }
    return elapsed - advancedAt > KEPT_MS ? null : rate.read()
  }
}

interface LagInputs {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** By the monotonic clock, in milliseconds. */
  readonly elapsed: number
  /** The highest block of the node; undefined if no source reports it. */
  readonly own: number | undefined
  /** Timestamp of the newest block of the node, in milliseconds since the epoch. */
  readonly blockAt: number | undefined
  /** The height of the chain that the references agree on; undefined without a quorum. */
  readonly head: number | undefined
  /** The difference in the status report of the node. */
  readonly difference: number | undefined
  /** Blocks per second; null until it is measured. */
  readonly rate: number | null
}

/** The agent reads a block some seconds after its timestamp, at an interval of some seconds: that is no lag. */
const USUAL_MS = 10 * second

/**
 * How many blocks the node is behind, also while it reports nothing: from its last height and the height of the
 * references or, without references, from the age of its newest block and the block rate. Null is unknown.
 */
export const createLag = () => {
  let highest: { readonly height: number; readonly since: number } | undefined
  return (inputs: LagInputs): number | null => {
    const { now, elapsed, own, blockAt, head, difference, rate } = inputs
    if (own !== undefined && own > (highest?.height ?? -1)) highest = { height: own, since: elapsed }
    if (!highest) return null
    if (head !== undefined) return Math.max(0, head - highest.height)
    const age = blockAt === undefined ? undefined : Math.max(0, now - blockAt)
    const late = Math.max(elapsed - highest.since, age ?? 0)
    if (late <= USUAL_MS) return age === undefined ? (difference ?? null) : Math.max(0, difference ?? 0)
    return rate === null ? null : Math.max(Math.floor((late / second) * rate), difference ?? 0)
  }
}

interface StartInputs {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** When consensus was last started, in milliseconds since the epoch; undefined is unknown. */
  readonly startedAt: number | undefined
  readonly lag: number | null
  readonly blockAt: number | undefined
  readonly isSyncing: boolean
}

const startSchema = z.object({ startedAt: z.number(), seconds: z.number().nullable() })

/** A start is noticed at the latest after the interval of the collector of services. */
const OBSERVED_MS = 20 * second

/** Blocks: a node that is no further behind has caught up. */
const CAUGHT_UP = 15

/**
 * How long the last start of consensus took: until the node had a fresh block of the time after it. A start that led
 * to statesync does not count: that is not the time of a restart.
 */
export const createStartTimer = () => {
  let startedAt: number | undefined
  let isPending = false
  let seconds: number | null = null
  return {
    add: (inputs: StartInputs): number | null => {
      const { now, lag, blockAt = -Infinity, isSyncing } = inputs
      const started = inputs.startedAt
      if (started === undefined) return seconds
      const lasted = Math.max(0, now - started) / second
      const hasCaughtUp = lag !== null && lag <= CAUGHT_UP && blockAt > started && now - blockAt <= USUAL_MS
      if (started !== startedAt) {
        // Of a start that was not observed it is not known when it ended.
        isPending = startedAt !== undefined && (!hasCaughtUp || now - started <= OBSERVED_MS)
        startedAt = started
      }
      if (isSyncing) isPending = false
      if (isPending && hasCaughtUp) {
        seconds = lasted
        isPending = false
      }
      return seconds
    },
    snapshot: () => (startedAt === undefined ? null : { startedAt, seconds }),
    restore: (snapshot: unknown): void => {
      const { data } = startSchema.safeParse(snapshot)
      if (data) ({ startedAt, seconds } = data)
    },
  }
}
