import { basisPoints, directiveTable, duration, peerCount, setIn, settingOf } from './scenario/directives.ts'
import { isSyncing, ownStatesync, progressAt, REQUEST_MS, rpcListens } from './consensus/statesync.ts'
import { drift } from './format-drift.ts'
import type { SimulatedNode } from './subject.ts'
import { float, renderTraffic } from './rpc/traffic.ts'
import { pick } from './chain.ts'
import { type Storage, storageUseAt } from './storage.ts'
import { runningVersion } from './versions.ts'
import { type Condition, intervals } from './scenario/timeline.ts'
import { widen } from '../src/core/widen.ts'

/** The state of the metrics endpoint of consensus, and of what only these metrics show. */
type Native = Readonly<typeof usualNative>

const MINUTE = 60_000

export const usualNative = {
  /** Whether its endpoint listens while it runs. */
  listens: true,
  /** Since when its values are frozen; undefined while they change. */
  frozenMs: widen<number | undefined>(undefined),
  /** How long the OpenTelemetry collector serves the last values it received, in milliseconds. */
  keptMs: MINUTE,
  /** Undefined for the usual number. */
  peers: widen<number | undefined>(undefined),
  sessions: widen<number | undefined>(undefined),
  upstream: 3,
  /** In basis points of the network's stake; 0 outside the active set. */
  stakeBps: 480,
  votes: true,
  /** Delay of late votes; undefined while votes are in time. */
  voteDelayMs: widen<number | undefined>(undefined),
  executionLags: false,
  stateRootsDiffer: false,
  /** One other leader proposes blocks with wrong results: the rounds that time out are its own. */
  leaderDiverges: false,
  /** The clocks of other leaders are off: this node rejects their proposals, and their rounds time out. */
  clocksDiffer: false,
}

const changeNative = setIn('native')

/** Directives for the metrics of consensus, and for what only these metrics show. */
export const nativeDirectives = directiveTable({
  'native freezes': [
    "consensus' metrics keep their current values, at both endpoints",
    changeNative((_, atMs) => ({ frozenMs: atMs })),
  ],
  'native moves': ["consensus' metrics are current again", changeNative({ frozenMs: undefined })],
  'native vanishes': ['consensus does not serve metrics: its port is closed', changeNative({ listens: false })],
  'native returns': ['consensus serves its metrics again', changeNative({ listens: true })],
  'otelcol keeps': [
    'how long the OpenTelemetry collector serves the last values it received',
    settingOf('native', 'keptMs', duration),
  ],
  'peers number': ['the number of peers that consensus has discovered', settingOf('native', 'peers', peerCount)],
  'peers sessions': ['the number of peers with a session', settingOf('native', 'sessions', peerCount)],
  'peers upstream': ['the number of upstream validators', settingOf('native', 'upstream', peerCount)],
  'stake is': [
    "the node's share of the stake; with 0 it is outside the active set, and counts and logs votes that it does not send",
    settingOf('native', 'stakeBps', basisPoints),
  ],
  'votes stop': ['the node follows the network and does not vote', changeNative({ votes: false })],
  'votes resume': ['the node votes again, in time', changeNative({ votes: true, voteDelayMs: undefined })],
  'votes late': ['one vote in a hundred takes that long, or longer', settingOf('native', 'voteDelayMs', duration)],
  'bft lags': ['consensus waits for execution once a second', changeNative({ executionLags: true })],
  'bft badroot': [
    'consensus receives proposals of a leader with a wrong state root, one in five seconds',
    changeNative({ stateRootsDiffer: true }),
  ],
  'leaders diverge': [
    'one other leader proposes blocks with wrong results: its rounds time out, and consensus checks each block four times',
    changeNative({ leaderDiverges: true }),
  ],
  'leaders drift': [
    'the clocks of other leaders are off: consensus rejects their proposals, and their rounds time out',
    changeNative({ clocksDiffer: true }),
  ],
  'bft agrees': [
    'consensus no longer waits for execution, and state roots agree again',
    changeNative({ executionLags: false, stateRootsDiffer: false }),
  ],
})

/** The metrics of consensus itself: plain integers, no timestamps. */
export const renderNative = (node: SimulatedNode): string => {
  const { frozenMs } = node.condition().native
  const gauges = gaugesAt(node, Math.min(node.now(), frozenMs ?? Infinity))
  return renderGauges(node, gauges, { labels: labelsOf(node), write: String })
}

/** Consensus pushes its values to the OpenTelemetry collector each second. */
const PUSH_INTERVAL_MS = 1000

/**
 * The metrics of the collector: floats, each with its timestamp. It serves the last values for a while after consensus
 * has stopped, then only those of the RPC.
 */
export const renderOtel = (node: SimulatedNode): string => {
  const now = node.now()
  const { services, native } = node.condition()
  const { bft, otelcol } = services
  const lastMs = Math.min(bft.state === 'active' ? now : bft.changedMs, native.frozenMs ?? now)
  const pushedMs = Math.floor(lastMs / PUSH_INTERVAL_MS) * PUSH_INTERVAL_MS
  const isServed = pushedMs > otelcol.startedMs && now - pushedMs <= native.keptMs
  return [
    isServed ? renderGauges(node, gaugesAt(node, pushedMs), otelOf(node, pushedMs)) : '',
    rpcListens(node.condition(), now) ? renderTraffic(node) : '',
  ].join('')
}

const renderGauges = (
  { prefix, condition }: SimulatedNode,
  gauges: readonly Gauge[],
  { labels, write }: ReturnType<typeof otelOf>,
): string =>
  gauges
    .map(([gauge, help, value]) => {
      const name = `${prefix}_${condition().formatsDrift ? drift.native(gauge) : gauge}`
      return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name}{${labels}} ${write(value)}\n`
    })
    .join('')

const NETWORK = 'simulated'
const NODE = 'simulated'

const versionOf = (node: SimulatedNode): string => {
  const { versions, services } = node.condition()
  return runningVersion(versions, services.bft)
}

const labelsOf = (node: SimulatedNode): string =>
  `network="${NETWORK}",service_name="${NETWORK}_${NODE}",service_version="${versionOf(node)}"`

const otelOf = (node: SimulatedNode, atMs: number) => ({
  /** The text between the braces. */
  labels: `job="${NETWORK}_${NODE}",network="${NETWORK}",otel_scope_name="opentelemetry",otel_scope_version="",service_name="${NETWORK}_${NODE}",service_version="${versionOf(node)}"`,
  write: (value: number): string => `${float(value)} ${atMs}`,
})

/** A metric of consensus, without the name prefix. All are gauges. */
type Gauge = readonly [name: string, help: string, value: number]

/** The metrics of the process at a time at which it ran. */
const gaugesAt = (node: SimulatedNode, atMs: number): readonly Gauge[] => {
  const condition = node.timeline.conditionAt(atMs)
  const { native } = condition
  const { startedMs } = node.condition().services.bft
  const block = node.heights.consensus(atMs)
  return [
    ['execution_ledger_block_num', 'Block number of the ledger', Number(block)],
    ['node_info', 'Node info indicator (always 1)', 1],
    ...peerGauges(node, native, atMs),
    ...eventGauges(node, atMs),
    ['state_node_state_self_stake_bps', 'Own stake in basis points', isSyncing(condition, atMs) ? 0 : native.stakeBps],
    ...voteGauges(node, native.voteDelayMs, atMs),
    ...workGauges(node, atMs),
    ...statesyncGauges(node, atMs),
    ['total_uptime_us', 'Uptime of the node in microseconds', Math.max(0, atMs - startedMs) * 1000],
    [
      'triedb_migration_phase',
      'Phase of the migration of the database: 0=legacy, 1=dual-timeline, 2=page-encoded, 3=promoted',
      PHASES[condition.storage.timelines],
    ],
    ...databaseGauges(storageUseAt(condition.storage, atMs)),
  ]
}

const eventGauges = (node: SimulatedNode, atMs: number): readonly Gauge[] => {
  const counts = countsAt(node, atMs)
  const events = {
    commit_block: counts.finalized,
    created_vote: counts.votes,
    enter_new_round_qc: counts.commits,
    enter_new_round_tc: counts.timeouts,
    handle_proposal: counts.commits + counts.timeouts,
    local_timeout: counts.localTimeouts,
    rx_bad_state_root: counts.badStateRoots,
    rx_base_fee_error: 0,
    rx_execution_lagging: counts.executionLagging,
    trigger_state_sync: counts.statesyncs,
    // A validator collects the votes of the rounds before its own: one in two hundred.
    creating_proposal: Math.floor(counts.commits / 200),
    vote_received: counts.commits,
    remote_timeout_msg: counts.timeouts * 150,
    failed_ts_validation: counts.rejectedTimestamps,
  }
  const gauges = (beginning: string, all: Readonly<Record<string, number>>): readonly Gauge[] =>
    Object.entries(all).map(([name, value]) => [`${beginning}_${name}`, name.replaceAll('_', ' '), value])
  return [
    ...gauges('state_consensus_events', events),
    ...gauges('state_blocksync_events', {
      self_headers_request: counts.localTimeouts + counts.unanswered,
      request_timeout: counts.unanswered,
      request_failed_no_peers: 0,
    }),
    ['state_validation_errors_invalid_version', 'Messages of another version', 0],
  ]
}

/** Both are 0 if this process never needed statesync, even if the one before it did. */
const statesyncGauges = (node: SimulatedNode, atMs: number): readonly Gauge[] => {
  const condition = node.timeline.conditionAt(atMs)
  const own = ownStatesync(condition, node.condition().services.bft.startedMs)
  const { progress, target } = progressAt(node.chain, own, atMs)
  return [
    ['statesync_last_target', 'Last target block of state sync', Number(target)],
    ['statesync_progress_estimate', 'Estimated progress of state sync', Number(progress)],
    ['statesync_syncing', 'Whether state sync is active', isSyncing(condition, atMs) ? 1 : 0],
  ]
}

const PHASES: Readonly<Record<Storage['timelines'], number>> = { legacy: 0, dual: 1, single: 2, promoted: 3 }

const SPAN_MS = 10_000

/** Numbers that vary every ten seconds. */
const aboutAt =
  ({ name }: SimulatedNode, atMs: number) =>
  (least: number, spread: number, what: string): number =>
    least + pick(spread, name, what, Math.floor(atMs / SPAN_MS))

/** About 350 known peers, a few dozen sessions. */
const peerGauges = (node: SimulatedNode, native: Native, atMs: number): readonly Gauge[] => {
  const about = aboutAt(node, atMs)
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

const databaseGauges = ({ used, capacity }: ReturnType<typeof storageUseAt>): readonly Gauge[] => [
  ['triedb_disk_capacity_bytes', 'Capacity of the storage pool', capacity],
  ['triedb_disk_used_bytes', 'Bytes in use', used],
]

/** Microseconds of work per second of each part of consensus. */
const WORK = { config_file: 20, ledger: 4000, parent: 900, router: 15_000, statesync: 10, txpool: 9000 } as const

/** Working time since the start, the transaction pool, and how long blocks take to arrive. */
const workGauges = (node: SimulatedNode, atMs: number): readonly Gauge[] => {
  const { startedMs } = node.condition().services.bft
  const seconds = Math.max(0, atMs - startedMs) / 1000
  const about = aboutAt(node, atMs)
  return [
    ...Object.entries(WORK).map(([part, micros]): Gauge => [
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
const voteGauges = (node: SimulatedNode, voteDelayMs: number | undefined, atMs: number): readonly Gauge[] => {
  const slowest = voteDelayMs ?? aboutAt(node, atMs)(120, 40, 'votes')
  const shares = { p50: 0.3, p90: 0.7, p99: 1 }
  return Object.entries(shares).map(([percentile, share]) => [
    `state_vote_delay_ready_after_timer_start_${percentile}_ms`,
    `Delay of votes, ${percentile}`,
    Math.round(slowest * share),
  ])
}

/** As in the log: a stalled node has a local timeout in every third round of the network. */
const STUCK_EVERY = 3n
/** A healthy consensus waits for execution about once a day. */
const DAY_MS = 86_400_000
const LAGS_EVERY_MS = 1000
const DIFFERS_EVERY_MS = 5000
/**
 * How often consensus checks a block with a wrong result: when it arrives, and with each block that is added on top of it
 * until its branch is left (blocktree.rs, try_update_coherency).
 */
export const CHECKS_PER_BLOCK = 4

/** The counters of consensus since the start of its process, computed from scenario and chain. */
const countsAt = (node: SimulatedNode, atMs: number) => {
  const { chain, heights } = node
  const { startedMs } = node.condition().services.bft
  const own = ownStatesync(node.timeline.conditionAt(atMs), startedMs)
  // Blocks that came by statesync were not committed one by one.
  const fromMs = own ? Math.min(own.untilMs, atMs) : startedMs
  const roundAt = (ms: number): bigint => chain.block(heights.consensus(ms))?.round ?? 0n
  const commitsIn = (from: number, to: number): number => Number(heights.consensus(to) - heights.consensus(from))
  const sum = (holds: (condition: Condition) => boolean, amount: (from: number, to: number) => number): number =>
    intervals(node.timeline, fromMs, atMs)
      .filter(({ condition }) => holds(condition))
      .reduce((total, { from, to }) => total + amount(from, to), 0)
  const every = (ms: number) => (from: number, to: number) => Math.floor((to - from) / ms)
  const stuckIn = (from: number, to: number): number =>
    Number(chain.headAt(to).round / STUCK_EVERY - chain.headAt(from).round / STUCK_EVERY)

  const timeoutsIn = (from: number, to: number): number => Number(roundAt(to) - roundAt(from)) - commitsIn(from, to)

  const commits = commitsIn(fromMs, atMs)
  const timeouts = timeoutsIn(fromMs, atMs)
  const proposedIn = (from: number, to: number): number => Number(chain.headAt(to).seqNum - chain.headAt(from).seqNum)
  return {
    commits,
    finalized: sum(({ finalityStoppedMs }) => finalityStoppedMs === undefined, commitsIn),
    /** Rounds that ended without a block. */
    timeouts,
    /** Counted before the role is known: a full node counts them, too (consensus-state/src/lib.rs). */
    votes: sum(({ native, consensusRuns, behind }) => native.votes && consensusRuns && behind === 0n, commitsIn),
    /** In those rounds, and repeatedly while the node is stalled. */
    localTimeouts: timeouts + sum(({ consensusRuns }) => !consensusRuns, stuckIn),
    executionLagging:
      Math.floor((atMs - startedMs) / DAY_MS) + sum(({ native }) => native.executionLags, every(LAGS_EVERY_MS)),
    badStateRoots:
      sum(({ native }) => native.stateRootsDiffer, every(DIFFERS_EVERY_MS)) +
      sum(({ divergedMs }) => divergedMs !== undefined, proposedIn) +
      sum(({ native }) => native.leaderDiverges, timeoutsIn) * CHECKS_PER_BLOCK,
    rejectedTimestamps: sum(({ native }) => native.clocksDiffer, timeoutsIn),
    statesyncs: Number(progressAt(chain, own, atMs).target > 0n),
    /** Requests of a start that no peer answers. */
    unanswered: own?.kind === 'start' ? Math.floor((Math.min(atMs, own.untilMs) - own.fromMs) / REQUEST_MS) : 0,
  }
}
