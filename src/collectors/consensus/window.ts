import { CONSENSUS_KINDS } from './definition.ts'
import type { ConsensusEvent } from '../../parsers/consensus-log.ts'
import { recordFor } from '../../core/record.ts'
import { minute, second } from '../../core/units.ts'

export type ConsensusKind = (typeof CONSENSUS_KINDS)[number]

/** Lines that are counted for the findings, in addition to the kinds of messages. */
const INDICATORS = [
  'panic',
  'crash',
  'too_far_behind',
  'wal_thread_stopped',
  'wal_push_failed',
  'execution_lagging',
  'pacing_differs',
  'timestamp_failure',
  'snapshot_advised',
  'blocksync_no_peers',
  'advance',
  'debug_line',
  'other_line',
  'suppressed',
] as const
export type Indicator = (typeof INDICATORS)[number]
type CountedKey = ConsensusKind | Indicator

/** The kinds of an event: two for a warning about statesync. */
export const kindsOf = (event: ConsensusEvent): readonly ConsensusKind[] =>
  [kindOf(event), levelOf(event)].filter((kind) => kind !== undefined)

/** The level of an event; a panic has no level and is an error. */
export const levelOf = ({ level, event }: ConsensusEvent): 'warning' | 'error' | undefined => {
  if (level === 'WARN') return 'warning'
  return level === 'ERROR' || event === 'panic' ? 'error' : undefined
}

const kindOf = (event: ConsensusEvent): ConsensusKind | undefined => {
  if (event.event === 'round_closed') return event.by === 'qc' ? 'round_advanced' : 'round_timed_out'
  return CONSENSUS_KINDS.find((kind) => kind === event.event)
}

const indicatorsOf = (event: ConsensusEvent): readonly Indicator[] => {
  const line: Indicator = event.level === 'DEBUG' ? 'debug_line' : 'other_line'
  return [indicatorOf(event), event.level === null ? undefined : line].filter((indicator) => indicator !== undefined)
}

const indicatorOf = (event: ConsensusEvent): Indicator | undefined => {
  if (event.event === 'wal') return `wal_${event.trouble}`
  if (event.event === 'network_error') return event.kind === 'timestamp' ? 'timestamp_failure' : undefined
  if (event.event === 'statesync') return event.step === 'snapshot_advised' ? 'snapshot_advised' : undefined
  if (event.event === 'blocksync') return event.step === 'no_peers' ? 'blocksync_no_peers' : undefined
  return INDICATORS.find((candidate) => candidate === event.event)
}

/** The last 60 seconds of the log. Null is unknown: the absence of a message proves nothing. */
export type WindowReading = ReturnType<ReturnType<typeof createConsensusWindow>['read']>

const SECONDS = 60
const NETWORK_SECONDS = (5 * minute) / second
const MAX_PEERS = 1024
/** More than a node times out in a minute. */
const MAX_ROUNDS = 1024

const wholeSecond = (at: number): number => Math.floor(at / second)

/**
 * Counts over the last N whole seconds, including the current one. There is one bucket per second, so that memory does
 * not grow with the rate; each count is added once and subtracted once.
 */
const createSlidingCounts = <Key extends string>(seconds: number) => {
  const buckets = Array.from({ length: seconds }, () => new Map<Key, number>())
  const totals = new Map<Key, number>()
  let end: number | undefined

  const bucketOf = (whole: number): Map<Key, number> | undefined => buckets[whole % seconds]

  const clear = (whole: number): void => {
    const bucket = bucketOf(whole)
    for (const [key, count] of bucket ?? []) totals.set(key, (totals.get(key) ?? 0) - count)
    bucket?.clear()
  }

  const moveTo = (whole: number): void => {
    if (end !== undefined && whole <= end) return
    const from = end === undefined ? whole : Math.max(end + 1, whole - seconds + 1)
    for (let at = from; at <= whole; at += 1) clear(at)
    end = whole
  }

  return {
    /** `at` in milliseconds since the epoch: before the window it is ignored, after its end it moves the window. */
    add: (key: Key, at: number, by = 1): void => {
      const whole = wholeSecond(at)
      moveTo(whole)
      if (end !== undefined && whole <= end - seconds) return
      const bucket = bucketOf(whole)
      bucket?.set(key, (bucket.get(key) ?? 0) + by)
      totals.set(key, (totals.get(key) ?? 0) + by)
    },
    total: (key: Key): number => totals.get(key) ?? 0,
    /** Moves the end forward, never back. */
    advanceTo: (at: number): void => moveTo(wholeSecond(at)),
  }
}

/** The newest value, with its time in milliseconds since the epoch. */
const createNewest = <T>() => {
  let newest: { readonly value: T; readonly at: number } | undefined
  return {
    add: (value: T, at: number): void => {
      if (!newest || at >= newest.at) newest = { value, at }
    },
    /** Null if the newest value is older than `from`, or there is none. */
    since: (from: number): T | null => (newest && newest.at >= from ? newest.value : null),
    get at(): number | null {
      return newest?.at ?? null
    },
  }
}

/** The peers, or rounds, that were seen last: at most `limit`, beyond which the one not seen for longest is removed. */
export const createRecentlySeen = (limit: number) => {
  /** Ordered by the time at which they were last seen. */
  const seenAt = new Map<string | bigint, number>()
  const removeOldest = (isExpired: (at: number) => boolean): void => {
    for (const [one, at] of seenAt) {
      if (!isExpired(at)) return
      seenAt.delete(one)
    }
  }
  return {
    add: (one: string | bigint, at: number): void => {
      const latest = Math.max(at, seenAt.get(one) ?? 0)
      seenAt.delete(one)
      seenAt.set(one, latest)
      removeOldest(() => seenAt.size > limit)
    },
    /** The number of those seen at `from` or later. */
    countSince: (from: number): number => {
      removeOldest((at) => at < from)
      return seenAt.size
    },
  }
}

/** A start ends with the first sign of a live node or of a statesync, or with the process. */
const endsStart = (event: ConsensusEvent): boolean =>
  event.event === 'start' ? event.step === 'live' : START_ENDS.has(event.event)
const START_ENDS: ReadonlySet<ConsensusEvent['event']> = new Set([
  'statesync',
  'committed_block',
  'round_closed',
  'stopping',
  'crash',
  'panic',
])

/** Kinds that are logged at DEBUG only: if the node logs INFO, their absence means nothing. */
const DEBUG_KINDS: ReadonlySet<ConsensusKind> = new Set([
  'round_advanced',
  'round_timed_out',
  'local_timeout',
  'blocksync',
  'vote_created',
  'proposal',
])

/** The window of the consensus log that ends with the newest entry, by the timestamps of the entries. */
export const createConsensusWindow = () => {
  const counts = createSlidingCounts<CountedKey>(SECONDS)
  const network = createSlidingCounts<'error'>(NETWORK_SECONDS)
  const peers = createRecentlySeen(MAX_PEERS)
  const timedOut = createRecentlySeen(MAX_ROUNDS)
  const round = createNewest<bigint>()
  const epoch = createNewest<bigint>()
  const block = createNewest<bigint>()
  const needed = createNewest<true>()
  const live = createNewest<true>()
  const begun = createNewest<true>()
  const startEnded = createNewest<true>()
  const voted = createNewest<true>()
  let end: number | null = null
  let coveredFrom: number | null = null

  /** Extends the covered time, by a line without content or by time without lines. */
  const advanceTo = (at: number): void => {
    end = Math.max(end ?? at, at)
    coveredFrom = Math.min(coveredFrom ?? at, at)
    counts.advanceTo(at)
    network.advanceTo(at)
  }

  const add = (event: ConsensusEvent, at: number): void => {
    advanceTo(at)
    if (event.event === 'committed_block') {
      const before = block.since(0)
      if (before !== null && event.block > before) counts.add('advance', at)
      block.add(event.block, at)
    }
    if (event.event === 'round_closed' || event.event === 'qc_created') {
      round.add(event.round, at)
      if (event.epoch !== null) epoch.add(event.epoch, at)
    }
    if (event.event === 'local_timeout') {
      round.add(event.round, at)
      timedOut.add(event.round, at)
    }
    if (event.event === 'vote_created') voted.add(true, at)
    if (event.event === 'statesync') needed.add(true, at)
    if (event.event === 'start' && event.step === 'live') live.add(true, at)
    if (event.event === 'start' && event.step === 'begun') begun.add(true, at)
    if (endsStart(event)) startEnded.add(true, at)
    if (event.event === 'network_error') {
      network.add('error', at)
      if (event.peer !== null) peers.add(event.peer, at)
    }
    for (const key of [...kindsOf(event), ...indicatorsOf(event)]) counts.add(key, at)
  }

  const read = () => {
    const endSecond = end === null ? 0 : wholeSecond(end)
    const from = (endSecond - SECONDS + 1) * second
    const networkFrom = (endSecond - NETWORK_SECONDS + 1) * second
    const isCovered = coveredFrom !== null && coveredFrom <= from
    const isWhole = isCovered && counts.total('suppressed') === 0
    const isDebug = counts.total('debug_line') > 0
    /** A message in the window is certain; its absence is certain only if the log is complete. */
    const certain = (isPresent: boolean, isComplete: boolean): boolean | null =>
      isPresent || (isComplete ? false : null)
    const isSyncing =
      needed.since(from) !== null && (needed.at ?? 0) > (live.at ?? 0) && (needed.at ?? 0) >= (begun.at ?? 0)
    const isLive = live.since(from) !== null
    const isStarting = begun.at !== null && begun.at > (startEnded.at ?? 0)
    const networkPeers = peers.countSince(networkFrom)
    const isNetworkCovered = isDebug && coveredFrom !== null && coveredFrom <= networkFrom
    const messages = recordFor(CONSENSUS_KINDS, (kind): number | null =>
      isCovered && (isDebug || !DEBUG_KINDS.has(kind) || counts.total(kind) > 0) ? counts.total(kind) : null,
    )
    return {
      round: round.since(from),
      epoch: epoch.since(from),
      block: block.since(from),
      committing: certain(counts.total('advance') > 0, isWhole),
      /** Whether the node was started, is not live yet and has not begun a statesync; not limited to the window. */
      startActive: certain(isStarting, startEnded.at !== null),
      statesyncActive: certain(isSyncing, isLive || isWhole),
      blocksyncActive: certain(counts.total('blocksync') > 0, isWhole && isDebug),
      /** Messages by kind; null if the log does not contain this kind, or does not cover the window. */
      messages,
      /** Rounds among the `local_timeout` messages, in which a round that does not end has many; null where they are. */
      localTimeoutRounds: messages.local_timeout === null ? null : timedOut.countSince(from),
      /** Number of lines by indicator; 0 if none was read, for whatever reason. */
      seen: recordFor(INDICATORS, (indicator) => counts.total(indicator)),
      networkErrors: network.total('error'),
      /** Number of distinct peers with network errors; both over five minutes. */
      networkErrorPeers: networkPeers > 0 || isNetworkCovered ? networkPeers : null,
      /** Whether the log was read for the whole window. */
      isCovered,
      /** Whether a message that is not in the window was not logged: covered, and no message was dropped. */
      isWhole,
      /** Time of the last vote, in milliseconds since the epoch; null if there was none. */
      votedAt: voted.at,
    }
  }

  return {
    add,
    advanceTo,
    /** Adds messages that journald reports as dropped. */
    addDropped: (messages: number, at: number): void => {
      advanceTo(at)
      counts.add('suppressed', at, messages)
    },
    /** Sets the time of a vote before the window. */
    restoreVote: (at: number): void => voted.add(true, at),
    read,
    get votedAt(): number | null {
      return voted.at
    },
    /** The end of the window, in milliseconds since the epoch; null before the first line. */
    get end(): number | null {
      return end
    },
  }
}
