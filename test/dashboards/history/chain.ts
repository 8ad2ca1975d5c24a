import { BLOCK_TAGS, REQUEST_FAILURES } from '../../../src/collectors/rpc/definition.ts'
import { TRAFFIC_DURATIONS } from '../../../src/collectors/traffic/definition.ts'
import { LEDGER_EVENTS } from '../../../src/collectors/ledger/definition.ts'
import { BLOCKS_PER_SECOND, type NodeState } from './node-states.ts'
import type { Recorder } from './recorder.ts'
import { stakeOf } from './staking.ts'

/** Blocks that a tag is behind the newest one. */
const DEPTH = { latest: 0, safe: 1, finalized: 2, proposed: 0 } as const
const WINDOW_BLOCKS = 800
const CHAIN_ID = '31143'
const STATESYNC_BLOCKS = 120_000

/** The chapters rpc, reference and ledger, and the height metrics of derived. */
export const recordChain = (to: Recorder, moment: NodeState): void => {
  recordRpc(to, moment)
  recordTraffic(to, moment)
  recordReferences(to, moment)
  recordLedger(to, moment)
  recordLag(to, moment)
}

/** The metrics that longer windows are computed from: enough for the days before the complete hours. */
export const recordBefore = (to: Recorder, moment: NodeState): void => {
  to.gauge('chain_native_statesync_active', moment.statesync !== null)
  if (moment.consensusRuns) to.gauge('chain_native_stake_ratio', moment.statesync === null ? stakeOf(moment) : 0)
  if (!moment.consensusRuns || moment.statesync !== null) return
  to.gauge('chain_ledger_block_timestamp_seconds', moment.blockTime, { event: 'proposed' })
}

const recordRpc = (to: Recorder, moment: NodeState): void => {
  const { rpcAnswers, at } = moment
  to.gauge('chain_rpc_up', rpcAnswers)
  for (const method of ['eth_blockNumber', 'eth_getBlockByNumber'] as const) {
    const perSecond = method === 'eth_blockNumber' ? 0.5 : 1.5
    const median = (moment.isSlow ? 0.2 : 0.008) * (1 + 0.3 * moment.noise(1))
    to.observe('chain_rpc_request_duration_seconds', { perSecond: rpcAnswers ? perSecond : 0, median }, { method })
    for (const reason of REQUEST_FAILURES) {
      const fails = (!rpcAnswers && reason === 'refused') || (moment.isSlow && reason === 'timeout')
      const share = rpcAnswers ? 0.02 : 1
      to.total('chain_rpc_errors_total', fails ? perSecond * share : 0, { method, reason })
    }
  }
  if (!rpcAnswers) return
  for (const tag of BLOCK_TAGS) {
    to.gauge('chain_rpc_block_number', moment.own - DEPTH[tag], { tag })
    const time = Math.floor(moment.blockTime - DEPTH[tag] / BLOCKS_PER_SECOND)
    to.gauge('chain_rpc_block_timestamp_seconds', time, { tag })
  }
  to.gauge('chain_rpc_last_advance_timestamp_seconds', moment.follows ? at - 0.2 : moment.blockTime)
  to.gauge('chain_rpc_info', 1, {
    client_version: `Chain/${moment.version}`,
    chain_id: CHAIN_ID,
    net_version: CHAIN_ID,
  })
}

/** Requests of users a second, by method, with the mean of their duration in seconds. */
const REQUESTS = {
  eth_blockNumber: [2, 0.001],
  eth_call: [12, 0.02],
  eth_getLogs: [1, 0.4],
  other: [3, 0.004],
} as const

const recordTraffic = (to: Recorder, moment: NodeState): void => {
  const { rpcAnswers, isSlow } = moment
  to.gauge('chain_traffic_up', rpcAnswers)
  if (!rpcAnswers) return
  for (const method of ['eth_blockNumber', 'eth_call', 'eth_getLogs', 'other'] as const) {
    const [perSecond, mean] = REQUESTS[method]
    to.total('chain_traffic_requests_total', perSecond, { method })
    to.total('chain_traffic_execution_seconds_total', perSecond * mean * (isSlow ? 5 : 1), { method })
  }
  const perSecond = isSlow ? ([2, 6, 8, 1] as const) : ([14, 2.9, 0.09, 0.01] as const)
  for (const [index, duration] of TRAFFIC_DURATIONS.entries())
    to.total('chain_traffic_bounded_requests_total', perSecond[index] ?? 0, { duration })
  for (const [status, rate] of [
    ['2xx', 18],
    ['4xx', 0.02],
    ['5xx', 0],
  ] as const)
    to.total('chain_traffic_responses_total', rate, { status })
  to.gauge('chain_traffic_active_requests', isSlow ? 60 : 1)
  to.gauge('chain_traffic_websockets', 5)
  to.gauge('chain_rpc_base_fee_wei', 1e11 * (1 + 0.1 * moment.noise(7)))
}

const recordReferences = (to: Recorder, moment: NodeState): void => {
  for (const [reference, late] of [
    ['other-rpc', 1],
    ['query-service', 3],
  ] as const) {
    to.gauge('chain_reference_up', 1, { reference })
    to.gauge('chain_reference_hash_matches', 1, { reference })
    to.gauge('chain_reference_block_number', moment.height - late, { reference })
  }
  to.gauge('chain_reference_agreeing', 2)
  if (moment.rpcAnswers) to.gauge('chain_block_difference', moment.behind)
}

const recordLedger = (to: Recorder, moment: NodeState): void => {
  const { follows, profile, timeoutShare, ownTimeoutShare } = moment
  const blocks = follows ? BLOCKS_PER_SECOND : 0
  const rounds = blocks * (1 + timeoutShare)
  const own = rounds * stakeOf(moment)
  for (const event of LEDGER_EVENTS) {
    const depth = event === 'proposed' ? 0 : DEPTH.finalized
    to.total('chain_ledger_blocks_total', blocks, { event })
    if (profile.isValidator) to.total('chain_ledger_own_blocks_total', own * (1 - ownTimeoutShare), { event })
    if (!moment.consensusRuns || moment.statesync !== null) continue
    to.gauge('chain_ledger_round', moment.round - depth, { event })
    to.gauge('chain_ledger_seq_num', moment.own - depth, { event })
    const time = moment.blockTime - depth / BLOCKS_PER_SECOND
    to.gauge('chain_ledger_block_timestamp_seconds', time, { event })
  }
  to.total('chain_ledger_timeouts_total', blocks * timeoutShare)
  to.total('chain_ledger_empty_blocks_total', blocks * 0.02)
  if (profile.isValidator) {
    to.total('chain_ledger_own_empty_blocks_total', own * 0.02)
    to.total('chain_ledger_own_timeouts_total', own * ownTimeoutShare)
    to.observe('chain_ledger_own_block_interval_seconds', { perSecond: own, median: 0.36 })
    to.observe('chain_ledger_own_delay_seconds', { perSecond: own, median: 0.02 })
    to.gauge('chain_ledger_own_consecutive_timeouts', ownTimeoutShare > 0.2 ? 3 : 0)
  }
}

const recordLag = (to: Recorder, moment: NodeState): void => {
  to.gauge('chain_blocks_per_second', BLOCKS_PER_SECOND * (1 + 0.02 * moment.noise(6)))
  const { statesync } = moment
  if (statesync === null) {
    const left = Math.max(0, WINDOW_BLOCKS - moment.behind)
    to.gauge('chain_blocksync_window_remaining_blocks', left)
  } else {
    const pace = 1.5 * 3600
    to.gauge('chain_statesync_eta_seconds', (1 - statesync) * pace)
    to.gauge('chain_statesync_last_progress_timestamp_seconds', moment.at - 4)
  }
  to.gauge('chain_native_zombie', 0)
}

/** Current and target block of statesync; null if it is not active. */
export const statesyncBlocks = ({
  height,
  statesync,
}: NodeState): { readonly reached: number; readonly target: number } | null =>
  statesync === null ? null : { reached: Math.round(height - (1 - statesync) * STATESYNC_BLOCKS), target: height }
