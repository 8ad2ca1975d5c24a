import { pick } from './chain.ts'
import type { Condition } from './scenario/timeline.ts'
import type { SimulatedNode } from './subject.ts'
import type { storageUseAt } from './storage.ts'

/** A metric of consensus, without the name prefix. */
type LoadGauge = readonly [name: string, help: string, value: number]

const SPAN_MS = 10_000

/** The numbers of peers vary every ten seconds: about 350 known peers, a few dozen sessions. */
export const peerGauges = (node: SimulatedNode, native: Condition['native'], atMs: number): readonly LoadGauge[] => {
  const about = (least: number, spread: number, what: string): number =>
    least + pick(spread, node.name, what, Math.floor(atMs / SPAN_MS))
  const sessions = native.sessions ?? about(22, 9, 'sessions')
  const initiating = about(1, 4, 'initiating')
  return [
    ['peer_disc_num_downstream_fullnodes', 'Full nodes downstream', about(4, 3, 'fed')],
    ['peer_disc_num_peers', 'Known peers', native.peers ?? about(340, 21, 'peers')],
    ['peer_disc_num_pending_peers', 'Peers that were not met yet', about(3, 9, 'pending')],
    ['peer_disc_num_upstream_validators', 'Validators upstream', native.upstream],
    ['wireauth_tcp_state_transport_sessions', 'Established sessions over TCP', sessions - 1],
    ['wireauth_udp_state_initiating_sessions', 'Sessions that begin', initiating],
    ['wireauth_udp_state_total_sessions', 'All sessions', sessions + initiating],
    ['wireauth_udp_state_transport_sessions', 'Established sessions', sessions],
  ]
}

export const databaseGauges = ({ used, capacity }: ReturnType<typeof storageUseAt>): readonly LoadGauge[] => [
  ['triedb_disk_capacity_bytes', 'Capacity of the storage pool', capacity],
  ['triedb_disk_used_bytes', 'Bytes in use', used],
]

/** Per second: what execution does in the database, as it publishes it for consensus. */
const DATABASE_WORK = {
  nodes_created_or_updated: 21_000,
  compaction_reads: 900,
  compacted_bytes_fast_to_slow: 2_600_000,
  compacted_bytes_slow_to_slow: 900_000,
  copied_bytes_slow_to_fast: 40_000,
  expire_nodes_updated: 700,
  expire_reads: 350,
} as const

/** The limits of the cache of trie nodes are constants of the build. */
const CACHE = { bytes: 104_857_600, entries: 1_048_576 } as const

/** The statistics of execution since its start, and of the cache with which consensus reads the state. */
export const trieGauges = (node: SimulatedNode, atMs: number): readonly LoadGauge[] => {
  const { bft, execution } = node.condition().services
  const seconds = Math.max(0, atMs - execution.startedMs) / 1000
  const reads = Math.floor((Math.max(0, atMs - bft.startedMs) / 1000) * 5000)
  const misses = Math.floor(reads / 20)
  const evictions = Math.max(Math.floor(misses / 10), misses - CACHE.entries)
  const entries = misses - evictions
  return [
    ...Object.entries(DATABASE_WORK).map(([name, perSecond]): LoadGauge => [
      `triedb_${name}`,
      `${name.replaceAll('_', ' ')}, cumulative`,
      Math.floor(seconds * perSecond),
    ]),
    ['triedb_node_cache_hits', 'Cache hits', reads - misses],
    ['triedb_node_cache_misses', 'Cache misses', misses],
    ['triedb_node_cache_evictions', 'Nodes dropped', evictions],
    ['triedb_node_cache_used_bytes', 'Bytes cached', entries * 100],
    ['triedb_node_cache_entries', 'Nodes cached', entries],
    ['triedb_node_cache_max_bytes', 'Limit of bytes', CACHE.bytes],
    ['triedb_node_cache_max_entries', 'Limit of nodes', CACHE.entries],
  ]
}

/** Microseconds of work per second of each part of consensus. */
const WORK = { config_file: 20, ledger: 4000, parent: 900, router: 15_000, statesync: 10, txpool: 9000 } as const

/** Working time since the start, the transaction pool, and how long blocks take to arrive. */
export const workGauges = (node: SimulatedNode, atMs: number): readonly LoadGauge[] => {
  const { startedMs } = node.condition().services.bft
  const seconds = Math.max(0, atMs - startedMs) / 1000
  const about = (least: number, spread: number, what: string): number =>
    least + pick(spread, node.name, what, Math.floor(atMs / SPAN_MS))
  return [
    ...Object.entries(WORK).map(([part, micros]): LoadGauge => [
      `executor_${part}_total_exec_us`,
      'Execution time',
      Math.floor(seconds * micros),
    ]),
    ['state_total_update_us', 'Time spent updating state', Math.floor(seconds * 80_000)],
    ['bft_txpool_pool_tracked_txs', 'Transactions in the pool', about(1800, 600, 'pool')],
    ['bft_raptorcast_udp_primary_broadcast_latency_p99_ms', 'Primary latency', about(70, 30, 'primary')],
    ['bft_raptorcast_udp_secondary_broadcast_latency_p99_ms', 'Secondary latency', about(110, 60, 'secondary')],
  ]
}

/** How long after the start of the timer the last votes were ready. */
export const voteGauges = (
  node: SimulatedNode,
  voteDelayMs: number | undefined,
  atMs: number,
): readonly LoadGauge[] => {
  const usual = 120 + pick(40, node.name, 'votes', Math.floor(atMs / SPAN_MS))
  const slowest = voteDelayMs ?? usual
  const shares = { p50: 0.3, p90: 0.7, p99: 1 }
  return Object.entries(shares).map(([percentile, share]) => [
    `state_vote_delay_ready_after_timer_start_${percentile}_ms`,
    `Delay of votes, ${percentile}`,
    Math.round(slowest * share),
  ])
}

/** Go's float format: an exponent of two digits from a million on. */
export const float = (value: number): string => {
  if (Math.abs(value) < 1e6) return String(value)
  const [digits = '', exponent = ''] = value.toExponential().split('e+')
  return `${digits}e+${exponent.padStart(2, '0')}`
}
