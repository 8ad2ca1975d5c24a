import { z } from 'zod'
import type { newestBlock } from '../../domain/agreement.ts'
import type { SampleIndex } from '../../core/metric.ts'
import { minute, second } from '../../core/units.ts'

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
  let blocks: readonly TimedBlock[] = []
  let advancedAt = -Infinity
  return (newest: TimedBlock | undefined, elapsed: number): number | null => {
    const last = blocks.at(-1)
    if (newest && newest.height > (last?.height ?? -1) && newest.time > (last?.time ?? 0)) {
      const kept = blocks.filter(({ time }) => newest.time - time <= WINDOW_S)
      blocks = [...kept, newest]
      advancedAt = elapsed
    }
    const [from, to] = [blocks[0], blocks.at(-1)]
    if (!from || !to || to.time - from.time < MIN_WINDOW_S || elapsed - advancedAt > KEPT_MS) return null
    return (to.height - from.height) / (to.time - from.time)
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
    if (own !== undefined && own > (highest?.height ?? -1)) {
      highest = { height: own, since: elapsed }
    }
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
        isPending = startedAt !== undefined && !hasCaughtUp
        if (startedAt !== undefined && hasCaughtUp && now - started <= OBSERVED_MS) seconds = lasted
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
