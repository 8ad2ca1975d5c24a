import { type Fate, OF_ALL, type Trouble } from './fates.ts'

export const BLOCKS_PER_SECOND = 2.5
export const TIMEOUT_SHARE = 0.02
/** Height of the network at the moment that the history is made for. */
const HEIGHT = 158_600_000
const SECONDS_PER_HOUR = 3600
/** How much faster than the network a node that is behind takes up blocks. */
const CATCHING_UP = 3
/** A statesync of so many seconds. */
const STATESYNC_SECONDS = 1.5 * SECONDS_PER_HOUR

/** One node at one moment: what all of its metrics follow from. All times in seconds since the epoch. */
export interface Moment {
  readonly at: number
  /** Seconds since the moment before. */
  readonly elapsed: number
  readonly fate: Fate
  /** Height of the network, and of the node. */
  readonly height: number
  readonly own: number
  readonly behind: number
  readonly blockTime: number
  readonly round: number
  /** Consensus; execution and RPC are down in an outage only. */
  readonly consensusRuns: boolean
  readonly nodeRuns: boolean
  /** Follows the network, block by block. */
  readonly follows: boolean
  readonly rpcAnswers: boolean
  /** Share of statesync that is done; null while there is none. */
  readonly statesync: number | null
  readonly consensusSince: number
  readonly nodeSince: number
  readonly agentSince: number
  readonly version: string
  readonly storage: number
  readonly timeoutShare: number
  readonly ownTimeoutShare: number
  readonly isInMaintenance: boolean
  readonly isSlow: boolean
  /** Whether Prometheus reaches the agent. */
  readonly isScraped: boolean
  /** Processes that begin anew at this moment, with their counters. */
  readonly starts: { readonly consensus: boolean; readonly node: boolean; readonly agent: boolean }
  /** Processes that have just ended. */
  readonly ends: { readonly consensus: boolean; readonly node: boolean }
  /** About 0, between -1 and 1; the same each time. */
  noise(kind: number): number
}

interface Times {
  readonly now: number
  readonly from: number
  /** From here on every `step` seconds, each minute before. */
  readonly fineFrom: number
  readonly to: number
  readonly step: number
}

const MINUTE = 60

/** The course of a node, moment by moment. */
export function* moments(fate: Fate, { now, from, fineFrom, to, step }: Times): Generator<Moment> {
  const hoursAgo = (at: number): number => (now - at) / SECONDS_PER_HOUR
  const during = (what: Trouble, at: number): boolean =>
    [...fate.happenings, ...OF_ALL].some(
      (one) => one.what === what && hoursAgo(at) <= one.from && hoursAgo(at) > one.to,
    )
  let own = heightAt(now, from)
  let consensusSince = from - 40 * SECONDS_PER_HOUR
  let nodeSince = consensusSince
  let agentSince = consensusSince
  let before = { consensusRuns: true, nodeRuns: true, version: '' }
  let syncingSince: number | null = null
  for (let at = from; at <= to; at += at < fineFrom ? MINUTE : step) {
    const elapsed = at === from ? 0 : at <= fineFrom ? MINUTE : step
    const nodeRuns = !during('outage', at)
    const consensusRuns = nodeRuns && !during('crash', at)
    const syncs = during('statesync', at)
    if (!syncs) syncingSince = null
    else syncingSince ??= at
    const statesync =
      syncingSince === null ? null : Math.min(0.99, (at - syncingSince) / STATESYNC_SECONDS)
    const follows = consensusRuns && !syncs && !during('stall', at)
    const height = heightAt(now, at)
    if (follows) own = Math.min(height, own + CATCHING_UP * BLOCKS_PER_SECOND * elapsed)
    const version = fate.upgraded !== null && hoursAgo(at) <= fate.upgraded ? '0.16.1' : '0.16.0'
    // The agent is upgraded beside the node.
    const isUpgrade = before.version !== '' && before.version !== version
    const starts = {
      consensus: consensusRuns && (isUpgrade || !before.consensusRuns),
      node: nodeRuns && (isUpgrade || !before.nodeRuns),
      agent: isUpgrade,
    }
    const ends = {
      consensus: before.consensusRuns && !consensusRuns,
      node: before.nodeRuns && !nodeRuns,
    }
    if (starts.consensus) consensusSince = at
    if (starts.node) nodeSince = at
    if (starts.agent) agentSince = at
    before = { consensusRuns, nodeRuns, version }
    const timeoutShare = during('network', at) ? 0.09 : TIMEOUT_SHARE
    const share = Math.min(1, Math.max(0, 1 - hoursAgo(at) / 6))
    yield {
      at,
      elapsed,
      fate,
      height: Math.floor(height),
      own: Math.floor(own),
      behind: Math.floor(height) - Math.floor(own),
      blockTime: at - 0.4 - (Math.floor(height) - Math.floor(own)) / BLOCKS_PER_SECOND,
      round: Math.floor(own * (1 + TIMEOUT_SHARE)),
      consensusRuns,
      nodeRuns,
      follows,
      rpcAnswers: nodeRuns && !syncs,
      statesync,
      consensusSince,
      nodeSince,
      agentSince,
      version,
      storage: fate.storage[0] + (fate.storage[1] - fate.storage[0]) * share,
      timeoutShare,
      ownTimeoutShare: during('timeouts', at) ? 0.3 : timeoutShare,
      isInMaintenance: during('maintenance', at),
      isSlow: during('slowness', at),
      isScraped: !during('silence', at),
      starts,
      ends,
      noise: (kind) => noise(at / MINUTE, kind + fate.name.length + fate.storage[0]),
    }
  }
}

const heightAt = (now: number, at: number): number => HEIGHT + (at - now) * BLOCKS_PER_SECOND

/** Slow waves and a little that looks like chance. */
const noise = (minute: number, kind: number): number => {
  const chance = Math.sin(minute * 12.9898 + kind * 78.233) * 43_758.5453
  return 0.5 * Math.sin(minute / 47 + kind) + (chance - Math.floor(chance)) - 0.5
}
