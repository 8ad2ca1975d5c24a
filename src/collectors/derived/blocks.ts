import type { SampleIndex } from '../../core/metric.ts'
import { minute, second } from '../../core/units.ts'

interface TimedBlock {
  readonly height: number
  /** Timestamp of the block, in seconds since the epoch. */
  readonly time: number
}

/** If the ledger stream is further behind the RPC than this, it has stopped. In seconds. */
const STREAM_STOPPED_S = 30

/** The newest block that the node reported: from the ledger stream, or from the RPC if the stream has stopped. */
export const newestBlock = (known: SampleIndex): TimedBlock | undefined => {
  const ledger = timed(
    known.value('chain_ledger_seq_num', { event: 'proposed' }),
    known.value('chain_ledger_block_timestamp_seconds', { event: 'proposed' }),
  )
  const rpc = timed(
    known.value('chain_rpc_block_number', { tag: 'latest' }),
    known.value('chain_rpc_block_timestamp_seconds', { tag: 'latest' }),
  )
  return ledger && !(rpc && rpc.time - ledger.time > STREAM_STOPPED_S) ? ledger : rpc
}

const timed = (height: number | undefined, time: number | undefined): TimedBlock | undefined =>
  height === undefined || time === undefined ? undefined : { height, time }

/** The highest block of the node from any source: its RPC may be stalled or unavailable. */
export const ownHeight = (known: SampleIndex): number | undefined => {
  const heights = [
    known.value('chain_rpc_block_number', { tag: 'latest' }),
    known.value('chain_ledger_seq_num', { event: 'proposed' }),
    known.value('chain_consensus_block_number'),
  ].filter((height) => height !== undefined)
  return heights.length === 0 ? undefined : Math.max(...heights)
}

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

/** `ok`, `failing` with the reasons, or `blind` if the newest block is unknown. */
export interface HealthVerdict {
  readonly verdict: 'ok' | 'failing' | 'blind'
  /** Short texts, worst first, without host names, paths or values. */
  readonly reasons: readonly string[]
}

/** The chain makes three blocks a second: after 30 s about a hundred are missing. */
export const STALE_BLOCK_S = 30
const FAR_BEHIND = 60

/** Evaluates the health of the node for the heartbeat; `now` in milliseconds since the epoch. */
export const healthVerdict = (known: SampleIndex, now: number): HealthVerdict => {
  const reasons = [
    ...servicesDown(known).map((service) => `service ${service} is not active`),
    ...staleBlock(known, now),
    ...(known.value('chain_rpc_up') === 0 ? ['the RPC does not respond'] : []),
    ...((known.value('chain_block_difference') ?? 0) > FAR_BEHIND ? ['behind the network'] : []),
    ...(known.value('chain_consensus_statesync_active') === 1 || known.value('chain_native_statesync_active') === 1
      ? ['statesync is running']
      : []),
  ]
  if (reasons.length > 0) return { verdict: 'failing', reasons }
  const isBlind = newestBlock(known) === undefined
  return isBlind
    ? { verdict: 'blind', reasons: ['the newest block of the node is unknown'] }
    : { verdict: 'ok', reasons: [] }
}

const servicesDown = (known: SampleIndex): readonly string[] =>
  known
    .series('chain_service_expected')
    .filter(({ value }) => value === 1)
    .map(({ labels }) => labels['service'] ?? '')
    .filter((service) => known.value('chain_service_active', { service }) === 0)

const staleBlock = (known: SampleIndex, now: number): readonly string[] => {
  const time = newestBlock(known)?.time
  return time !== undefined && now / 1000 - time > STALE_BLOCK_S ? ['no new block'] : []
}
