import { type NodeProfile, NETWORK_EVENTS, type Trouble } from './profiles.ts'

export const BLOCKS_PER_SECOND = 2.5
export const TIMEOUT_SHARE = 0.02
/** Height of the network at the reference time of the history. */
const HEIGHT = 158_600_000
const SECONDS_PER_HOUR = 3600
/** Speed of a node that catches up, relative to the network. */
const CATCHING_UP = 3
/** A statesync of this many seconds. */
const STATESYNC_SECONDS = 1.5 * SECONDS_PER_HOUR

/** State of one node at one time, from which its metrics are derived. All times in seconds since the epoch. */
export interface NodeState {
  readonly at: number
  /** Seconds since the previous state. */
  readonly elapsed: number
  readonly profile: NodeProfile
  /** Height of the network, and of the node. */
  readonly height: number
  readonly own: number
  readonly behind: number
  readonly blockTime: number
  readonly round: number
  /** Consensus; execution and RPC are down only in an outage. */
  readonly consensusRuns: boolean
  readonly nodeRuns: boolean
  /** Whether it follows the network block by block. */
  readonly follows: boolean
  readonly rpcAnswers: boolean
  /** Progress of statesync, 0 to 1; null if it is not active. */
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
  /** Processes that restart at this time, with their counters. */
  readonly starts: { readonly consensus: boolean; readonly node: boolean; readonly agent: boolean }
  /** Processes that have just ended. */
  readonly ends: { readonly consensus: boolean; readonly node: boolean }
  /** Deterministic noise around 0, between -1 and 1. */
  noise(kind: number): number
}

interface Times {
  readonly now: number
  readonly from: number
  /** From this time on every `step` seconds, before it every minute. */
  readonly fineFrom: number
  readonly to: number
  readonly step: number
}

const MINUTE = 60

/** The states of a node over time. */
export function* nodeStates(profile: NodeProfile, { now, from, fineFrom, to, step }: Times): Generator<NodeState> {
  const hoursAgo = (at: number): number => (now - at) / SECONDS_PER_HOUR
  const during = (what: Trouble, at: number): boolean =>
    [...profile.happenings, ...NETWORK_EVENTS].some(
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
    const statesync = syncingSince === null ? null : Math.min(0.99, (at - syncingSince) / STATESYNC_SECONDS)
    const follows = consensusRuns && !syncs && !during('stall', at)
    const height = heightAt(now, at)
    if (follows) own = Math.min(height, own + CATCHING_UP * BLOCKS_PER_SECOND * elapsed)
    const version = profile.upgraded !== null && hoursAgo(at) <= profile.upgraded ? '0.16.1' : '0.16.0'
    // The agent is upgraded together with the node.
    const isUpgrade = before.version !== '' && before.version !== version
    const starts = {
      consensus: consensusRuns && (isUpgrade || !before.consensusRuns),
      node: nodeRuns && (isUpgrade || !before.nodeRuns),
      agent: isUpgrade,
    }
    const ends = { consensus: before.consensusRuns && !consensusRuns, node: before.nodeRuns && !nodeRuns }
    if (starts.consensus) consensusSince = at
    if (starts.node) nodeSince = at
    if (starts.agent) agentSince = at
    before = { consensusRuns, nodeRuns, version }
    const timeoutShare = during('network', at) ? 0.09 : TIMEOUT_SHARE
    const share = Math.min(1, Math.max(0, 1 - hoursAgo(at) / 6))
    yield {
      at,
      elapsed,
      profile,
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
      storage: profile.storage[0] + (profile.storage[1] - profile.storage[0]) * share,
      timeoutShare,
      ownTimeoutShare: during('timeouts', at) ? 0.3 : timeoutShare,
      isInMaintenance: during('maintenance', at),
      isSlow: during('slowness', at),
      isScraped: !during('silence', at),
      starts,
      ends,
      noise: (kind) => noise(at / MINUTE, kind + profile.name.length + profile.storage[0]),
    }
  }
}

const heightAt = (now: number, at: number): number => HEIGHT + (at - now) * BLOCKS_PER_SECOND

/** Slow waves with a little noise. */
const noise = (minute: number, kind: number): number => {
  const chance = Math.sin(minute * 12.9898 + kind * 78.233) * 43_758.5453
  return 0.5 * Math.sin(minute / 47 + kind) + (chance - Math.floor(chance)) - 0.5
}
