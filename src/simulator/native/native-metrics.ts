import { pick } from '../chain/random.ts'
import { isSyncing, progressAt, rpcListens } from '../consensus/statesync.ts'
import { drift } from '../format-drift.ts'
import type { SimulatedNode } from '../node.ts'
import type { Condition } from '../scenario/timeline.ts'
import type { Storage } from '../storage/storage.ts'
import { runningVersion } from '../versions.ts'
import { isVoting, type Native } from './native.ts'

/** The metrics of consensus itself: plain integers, no timestamps. */
export const renderNative = (node: SimulatedNode): string => {
  const { frozenMs } = node.condition().native
  const gauges = gaugesAt(node, Math.min(node.now(), frozenMs ?? Infinity))
  return render(node, gauges, { labels: labelsOf(node), write: String })
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
    isServed ? render(node, gaugesAt(node, pushedMs), otelOf(node, pushedMs)) : '',
    rpcListens(node.condition(), now) ? renderRpc(node) : '',
  ].join('')
}

interface ExpositionStyle {
  /** The text between the braces. */
  readonly labels: string
  readonly write: (value: number) => string
}

const render = (
  { prefix, condition }: SimulatedNode,
  gauges: readonly Gauge[],
  { labels, write }: ExpositionStyle,
): string => {
  const text = gauges
    .map(({ name, help, value }) =>
      [
        `# HELP ${prefix}_${name} ${help}`,
        `# TYPE ${prefix}_${name} gauge`,
        `${prefix}_${name}{${labels}} ${write(value)}\n`,
      ].join('\n'),
    )
    .join('')
  return condition().formatsDrift ? drift.native(text) : text
}

const NETWORK = 'rehearsal'
const NODE = 'simulated'

const versionOf = (node: SimulatedNode): string => {
  const { versions, services } = node.condition()
  return runningVersion(versions, services.bft)
}

const labelsOf = (node: SimulatedNode): string =>
  `network="${NETWORK}",service_name="${NETWORK}_${NODE}",service_version="${versionOf(node)}"`

const otelOf = (node: SimulatedNode, atMs: number): ExpositionStyle => ({
  labels: `job="${NETWORK}_${NODE}",network="${NETWORK}",otel_scope_name="opentelemetry",otel_scope_version="",service_name="${NETWORK}_${NODE}",service_version="${versionOf(node)}"`,
  write: (value) => `${float(value)} ${atMs}`,
})

const renderRpc = ({ prefix, now }: SimulatedNode): string => {
  const labels = `job="${NODE}",server_address="localhost",server_port="8080",service_name="${NODE}"`
  return [
    `# TYPE ${prefix}_rpc_active_requests gauge`,
    `${prefix}_rpc_active_requests{${labels}} 0 ${now()}`,
    '# TYPE target_info gauge',
    `target_info{job="${NODE}",service_name="${NODE}"} 1 ${now()}`,
    '',
  ].join('\n')
}

/** Go's float format: an exponent of two digits from a million on. */
const float = (value: number): string => {
  if (Math.abs(value) < 1e6) return String(value)
  const [digits = '', exponent = ''] = value.toExponential().split('e+')
  return `${digits}e+${exponent.padStart(2, '0')}`
}

/** A metric of consensus: its name without the name prefix, and its value. All are gauges. */
interface Gauge {
  readonly name: string
  readonly help: string
  readonly value: number
}

/** The metrics of the process at a time at which it ran. */
const gaugesAt = (node: SimulatedNode, atMs: number): readonly Gauge[] => {
  const condition = node.timeline.conditionAt(atMs)
  const { startedMs } = node.condition().services.bft
  const block = node.heights.consensus(atMs)
  return [
    gauge('execution_ledger_block_num', 'Block number of the ledger', Number(block)),
    gauge('node_info', 'Node info indicator (always 1)', 1),
    ...peerGauges(node, condition.native, atMs),
    ...eventGauges(node, atMs),
    gauge('state_node_state_self_stake_bps', 'Own stake in basis points of the total', condition.native.stakeBps),
    ...voteGauges(node, condition.native, atMs),
    ...statesyncGauges(node, atMs),
    gauge('total_uptime_us', 'Uptime of the node in microseconds', Math.max(0, atMs - startedMs) * 1000),
    gauge(
      'triedb_migration_phase',
      'Phase of the migration of the database: 0=legacy, 1=dual-timeline, 2=page-encoded',
      phaseOf(condition.storage),
    ),
  ]
}

const gauge = (name: string, help: string, value: number): Gauge => ({ name, help, value })

const SPAN_MS = 10_000

/** The numbers of peers vary every ten seconds: about 350 known peers, a few dozen sessions. */
const peerGauges = (node: SimulatedNode, native: Native, atMs: number): readonly Gauge[] => {
  const about = (least: number, spread: number, what: string): number =>
    least + pick(spread, node.name, what, Math.floor(atMs / SPAN_MS))
  const sessions = native.sessions ?? about(22, 9, 'sessions')
  const initiating = about(1, 4, 'initiating')
  return [
    gauge('peer_disc_num_downstream_fullnodes', 'Full nodes downstream', about(4, 3, 'fed')),
    gauge('peer_disc_num_peers', 'Known peers', native.peers ?? about(340, 21, 'peers')),
    gauge('peer_disc_num_pending_peers', 'Peers that were not met yet', about(3, 9, 'pending')),
    gauge('peer_disc_num_upstream_validators', 'Validators upstream', native.upstream),
    gauge('wireauth_tcp_state_transport_sessions', 'Established sessions over TCP', sessions - 1),
    gauge('wireauth_udp_state_initiating_sessions', 'Sessions that begin', initiating),
    gauge('wireauth_udp_state_total_sessions', 'All sessions', sessions + initiating),
    gauge('wireauth_udp_state_transport_sessions', 'Established sessions', sessions),
  ]
}

const eventGauges = (node: SimulatedNode, atMs: number): readonly Gauge[] => {
  const counts = countsAt(node, atMs)
  const event = (name: string, value: number): Gauge =>
    gauge(`state_consensus_events_${name}`, name.replaceAll('_', ' '), value)
  return [
    event('commit_block', counts.commits),
    event('created_vote', counts.votes),
    event('enter_new_round_qc', counts.commits),
    event('enter_new_round_tc', counts.timeouts),
    event('handle_proposal', counts.commits + counts.timeouts),
    event('local_timeout', counts.localTimeouts),
    event('rx_bad_state_root', counts.badStateRoots),
    event('rx_base_fee_error', 0),
    event('rx_execution_lagging', counts.executionLagging),
    event('trigger_state_sync', counts.statesyncs),
  ]
}

/** How long after the start of the timer the last votes were ready. */
const voteGauges = (node: SimulatedNode, { voteDelayMs }: Native, atMs: number): readonly Gauge[] => {
  const usual = 120 + pick(40, node.name, 'votes', Math.floor(atMs / SPAN_MS))
  const slowest = voteDelayMs ?? usual
  const shares = { p50: 0.3, p90: 0.7, p99: 1 }
  return Object.entries(shares).map(([quantile, share]) =>
    gauge(
      `state_vote_delay_ready_after_timer_start_${quantile}_ms`,
      `Delay of votes, ${quantile}`,
      Math.round(slowest * share),
    ),
  )
}

/** Both are 0 if this process never needed statesync, even if the one before it did. */
const statesyncGauges = (node: SimulatedNode, atMs: number): readonly Gauge[] => {
  const condition = node.timeline.conditionAt(atMs)
  const { statesync } = condition
  const own = statesync && statesync.fromMs >= node.condition().services.bft.startedMs ? statesync : undefined
  const { progress, target } = progressAt(node.chain, own, atMs)
  return [
    gauge('statesync_last_target', 'Last target block of state sync', Number(target)),
    gauge('statesync_progress_estimate', 'Estimated progress of state sync', Number(progress)),
    gauge('statesync_syncing', 'Whether state sync is active', isSyncing(condition, atMs) ? 1 : 0),
  ]
}

/** Nodes with reports of older layouts have not started the migration. */
const phaseOf = ({ layout, timelines }: Storage): number => {
  if (layout !== 'E') return 0
  return { legacy: 0, dual: 1, single: 2 }[timelines]
}

/** The counters of consensus since the start of its process. */
interface NativeCounts {
  readonly commits: number
  readonly votes: number
  /** Rounds that ended without a block. */
  readonly timeouts: number
  /** Local timeouts: in those rounds, and repeatedly while the node is stalled. */
  readonly localTimeouts: number
  readonly executionLagging: number
  readonly badStateRoots: number
  readonly statesyncs: number
}

/** As in the log: a stalled node has a local timeout in every third round of the network. */
const STUCK_EVERY = 3n
/** A healthy consensus waits for execution about once a day. */
const DAY_MS = 86_400_000
const LAGS_EVERY_MS = 1000
const DIFFERS_EVERY_MS = 5000

/** Computed from scenario and chain; nothing is counted as time passes. */
const countsAt = (node: SimulatedNode, atMs: number): NativeCounts => {
  const { chain, heights } = node
  const { startedMs } = node.condition().services.bft
  const fromMs = followsSince(node.timeline.conditionAt(atMs), atMs, startedMs)
  const roundAt = (ms: number): bigint => chain.block(heights.consensus(ms))?.round ?? 0n
  const commitsIn = (from: number, to: number): number => Number(heights.consensus(to) - heights.consensus(from))
  const sum = (holds: (condition: Condition) => boolean, amount: (from: number, to: number) => number): number =>
    intervals(node, fromMs, atMs)
      .filter(({ condition }) => holds(condition))
      .reduce((total, { from, to }) => total + amount(from, to), 0)
  const every = (ms: number) => (from: number, to: number) => Math.floor((to - from) / ms)
  const stuckIn = (from: number, to: number): number =>
    Number(chain.headAt(to).round / STUCK_EVERY - chain.headAt(from).round / STUCK_EVERY)

  const commits = commitsIn(fromMs, atMs)
  const timeouts = Number(roundAt(atMs) - roundAt(fromMs)) - commits
  const { statesync } = node.timeline.conditionAt(atMs)
  return {
    commits,
    timeouts,
    votes: sum(({ native, consensusRuns, behind }) => isVoting(native) && consensusRuns && behind === 0n, commitsIn),
    localTimeouts: timeouts + sum(({ consensusRuns }) => !consensusRuns, stuckIn),
    executionLagging:
      Math.floor((atMs - startedMs) / DAY_MS) + sum(({ native }) => native.executionLags, every(LAGS_EVERY_MS)),
    badStateRoots: sum(({ native }) => native.stateRootsDiffer, every(DIFFERS_EVERY_MS)),
    statesyncs: statesync && statesync.fromMs >= startedMs ? 1 : 0,
  }
}

/** Blocks that came by statesync were not committed one by one. */
const followsSince = ({ statesync }: Condition, atMs: number, startedMs: number): number =>
  statesync && statesync.fromMs >= startedMs ? Math.min(statesync.untilMs, atMs) : startedMs

/** The parts of a time range with one condition each. */
const intervals = ({ timeline: { segments } }: SimulatedNode, fromMs: number, toMs: number) =>
  segments
    .map(({ fromMs: begins, condition }, index) => ({
      condition,
      from: Math.max(begins, fromMs),
      to: Math.min(segments[index + 1]?.fromMs ?? Infinity, toMs),
    }))
    .filter(({ from, to }) => from < to)
