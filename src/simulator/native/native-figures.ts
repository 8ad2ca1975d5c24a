import { pick } from '../chain/random.ts'
import type { SimulatedNode } from '../node.ts'
import type { Native } from '../scenario/native.ts'
import { isSyncing, progressAt } from '../scenario/statesync.ts'
import type { Storage } from '../scenario/storage.ts'
import { countsAt } from './native-counts.ts'

/** A metric of consensus: its name behind the maker's word, and its value. All are gauges. */
export interface Figure {
  readonly name: string
  readonly help: string
  readonly value: number
}

/** What the process tells of itself at a moment at which it ran. */
export const figuresAt = (node: SimulatedNode, atMs: number): readonly Figure[] => {
  const condition = node.timeline.conditionAt(atMs)
  const { startedMs } = node.condition().services.bft
  const block = node.heights.consensus(atMs)
  return [
    figure('execution_ledger_block_num', 'Block number of the ledger', Number(block)),
    figure('node_info', 'Node info indicator (always 1)', 1),
    ...peerFigures(node, condition.native, atMs),
    ...eventFigures(node, atMs),
    figure(
      'state_node_state_self_stake_bps',
      'Own stake in basis points of the total',
      condition.native.stakeBps,
    ),
    ...voteFigures(node, condition.native, atMs),
    ...statesyncFigures(node, atMs),
    figure(
      'total_uptime_us',
      'Uptime of the node in microseconds',
      Math.max(0, atMs - startedMs) * 1000,
    ),
    figure(
      'triedb_migration_phase',
      'Phase of the migration of the database: 0=legacy, 1=dual-timeline, 2=page-encoded',
      phaseOf(condition.storage),
    ),
  ]
}

const figure = (name: string, help: string, value: number): Figure => ({ name, help, value })

const SPAN_MS = 10_000

/** Peers come and go, some in ten seconds; some three hundred and fifty are known, a few dozen met. */
const peerFigures = (node: SimulatedNode, native: Native, atMs: number): readonly Figure[] => {
  const about = (least: number, spread: number, what: string): number =>
    least + pick(spread, node.name, what, Math.floor(atMs / SPAN_MS))
  const sessions = native.sessions ?? about(22, 9, 'sessions')
  const initiating = about(1, 4, 'initiating')
  return [
    figure('peer_disc_num_downstream_fullnodes', 'Full nodes downstream', about(4, 3, 'fed')),
    figure('peer_disc_num_peers', 'Known peers', native.peers ?? about(340, 21, 'peers')),
    figure('peer_disc_num_pending_peers', 'Peers that were not met yet', about(3, 9, 'pending')),
    figure('peer_disc_num_upstream_validators', 'Validators upstream', native.upstream),
    figure('wireauth_tcp_state_transport_sessions', 'Established sessions over TCP', sessions - 1),
    figure('wireauth_udp_state_initiating_sessions', 'Sessions that begin', initiating),
    figure('wireauth_udp_state_total_sessions', 'All sessions', sessions + initiating),
    figure('wireauth_udp_state_transport_sessions', 'Established sessions', sessions),
  ]
}

const eventFigures = (node: SimulatedNode, atMs: number): readonly Figure[] => {
  const counts = countsAt(node, atMs)
  const event = (name: string, value: number): Figure =>
    figure(`state_consensus_events_${name}`, name.replaceAll('_', ' '), value)
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

/** Of the last votes: how long after the start of the timer they were ready. */
const voteFigures = (
  node: SimulatedNode,
  { voteDelayMs }: Native,
  atMs: number,
): readonly Figure[] => {
  const usual = 120 + pick(40, node.name, 'votes', Math.floor(atMs / SPAN_MS))
  const slowest = voteDelayMs ?? usual
  const shares = { p50: 0.3, p90: 0.7, p99: 1 }
  return Object.entries(shares).map(([quantile, share]) =>
    figure(
      `state_vote_delay_ready_after_timer_start_${quantile}_ms`,
      `Delay of votes, ${quantile}`,
      Math.round(slowest * share),
    ),
  )
}

/** 0 of 0 where this very process never needed it, though the one before it may have. */
const statesyncFigures = (node: SimulatedNode, atMs: number): readonly Figure[] => {
  const condition = node.timeline.conditionAt(atMs)
  const { statesync } = condition
  const own =
    statesync && statesync.fromMs >= node.condition().services.bft.startedMs ? statesync : undefined
  const { progress, target } = progressAt(node.chain, own, atMs)
  return [
    figure('statesync_last_target', 'Last target block of state sync', Number(target)),
    figure('statesync_progress_estimate', 'Estimated progress of state sync', Number(progress)),
    figure('statesync_syncing', 'Whether state sync is active', isSyncing(condition, atMs) ? 1 : 0),
  ]
}

/** Reports of older layouts come from nodes that have not begun to move. */
const phaseOf = ({ layout, timelines }: Storage): number => {
  if (layout !== 'E') return 0
  return { legacy: 0, dual: 1, single: 2 }[timelines]
}
