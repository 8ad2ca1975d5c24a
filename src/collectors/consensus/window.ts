import { minute, second } from '../../core/units.ts'
import { CONSENSUS_KINDS } from './definition.ts'
import type { ConsensusEvent } from '../../parsers/consensus-log-events.ts'
import { type ConsensusKind, type Counted, countsOf, recordOf, SIGNS, type Sign } from './kinds.ts'
import { createSeenPeers } from './peers.ts'
import { createNewest, createSlidingCounts, wholeSecond } from './slots.ts'

/** The last 60 seconds of the log. Null is unknown: what absence would tell, and cannot. */
export interface ConsensusReading {
  readonly round: bigint | null
  readonly epoch: bigint | null
  readonly block: bigint | null
  readonly committing: boolean | null
  readonly statesyncActive: boolean | null
  readonly blocksyncActive: boolean | null
  /** Messages by kind; null where the log does not tell this kind, or not for the whole window. */
  readonly messages: Readonly<Record<ConsensusKind, number | null>>
  /** What was seen; 0 is not seen, whatever the reason. */
  readonly seen: Readonly<Record<Sign, number>>
  readonly networkErrors: number
  /** Distinct peers behind them; both in five minutes. */
  readonly networkErrorPeers: number | null
  /** Whether the log was read for the whole window. */
  readonly isCovered: boolean
  /** Whether what is not in the window did not happen: covered, and nothing dropped. */
  readonly isWhole: boolean
  /** When the node last voted, in milliseconds since the epoch; null when it never did. */
  readonly votedAt: number | null
}

const SECONDS = 60
const NETWORK_SECONDS = (5 * minute) / second
const MAX_PEERS = 1024

export interface ConsensusWindow {
  add(event: ConsensusEvent, at: number): void
  /** A line that tells nothing still shows that the log was read up to here; so does silence. */
  advanceTo(at: number): void
  /** What journald says that it has dropped. */
  suppressed(messages: number, at: number): void
  /** What is remembered from before. */
  voted(at: number): void
  read(): ConsensusReading
  readonly votedAt: number | null
  /** The newest moment that the window knows of; null before the first. */
  readonly end: number | null
}

/** What only DEBUG tells: on a node that logs INFO its absence means nothing. */
const DEBUG_KINDS: ReadonlySet<ConsensusKind> = new Set([
  'round_advanced',
  'round_timed_out',
  'local_timeout',
  'blocksync',
  'vote_sent',
  'proposal',
])

/** The analysis of the consensus log over a window that ends with the newest entry, by the times of entries. */
export const createConsensusWindow = (): ConsensusWindow => {
  const counts = createSlidingCounts<Counted>(SECONDS)
  const network = createSlidingCounts<'error'>(NETWORK_SECONDS)
  const peers = createSeenPeers(MAX_PEERS)
  const round = createNewest<bigint>()
  const epoch = createNewest<bigint>()
  const block = createNewest<bigint>()
  const needed = createNewest<true>()
  const done = createNewest<true>()
  const voted = createNewest<true>()
  let end: number | null = null
  let coveredFrom: number | null = null

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
      block.see(event.block, at)
    }
    if (event.event === 'round_closed' || event.event === 'qc_created') {
      round.see(event.round, at)
      if (event.epoch !== null) epoch.see(event.epoch, at)
    }
    if (event.event === 'local_timeout') round.see(event.round, at)
    if (event.event === 'vote_sent') voted.see(true, at)
    if (event.event === 'statesync' && event.step !== 'serving') {
      if (event.step === 'done') done.see(true, at)
      else needed.see(true, at)
    }
    if (event.event === 'network_error') {
      network.add('error', at)
      if (event.peer !== null) peers.see(event.peer, at)
    }
    for (const key of countsOf(event)) counts.add(key, at)
  }

  const read = (): ConsensusReading => {
    const endSecond = end === null ? 0 : wholeSecond(end)
    const from = (endSecond - SECONDS + 1) * second
    const networkFrom = (endSecond - NETWORK_SECONDS + 1) * second
    const isCovered = coveredFrom !== null && coveredFrom <= from
    const isWhole = isCovered && counts.total('suppressed') === 0
    const isDebug = counts.total('debug_line') > 0
    /** What is there is certain; that nothing is there only where everything was heard. */
    const certain = (isThere: boolean, isToldThere: boolean): boolean | null =>
      isThere || (isToldThere ? false : null)
    const isSyncing =
      needed.since(from) !== null && (done.at === null || (needed.at ?? 0) > done.at)
    const isDone = done.since(from) !== null
    const networkPeers = peers.countSince(networkFrom)
    const isNetworkCovered = isDebug && coveredFrom !== null && coveredFrom <= networkFrom
    return {
      round: round.since(from),
      epoch: epoch.since(from),
      block: block.since(from),
      committing: certain(counts.total('advance') > 0, isWhole),
      statesyncActive: certain(isSyncing, isDone || isWhole),
      blocksyncActive: certain(counts.total('blocksync') > 0, isWhole && isDebug),
      messages: recordOf(CONSENSUS_KINDS, (kind) =>
        isCovered && (isDebug || !DEBUG_KINDS.has(kind) || counts.total(kind) > 0)
          ? counts.total(kind)
          : null,
      ),
      seen: recordOf(SIGNS, (sign) => counts.total(sign)),
      networkErrors: network.total('error'),
      networkErrorPeers: networkPeers > 0 || isNetworkCovered ? networkPeers : null,
      isCovered,
      isWhole,
      votedAt: voted.at,
    }
  }

  return {
    add,
    advanceTo,
    suppressed: (messages: number, at: number): void => {
      advanceTo(at)
      counts.add('suppressed', at, messages)
    },
    voted: (at: number): void => {
      voted.see(true, at)
    },
    read,
    get votedAt(): number | null {
      return voted.at
    },
    get end(): number | null {
      return end
    },
  }
}
