import { BLOCK_STATES, CHUNK_LISTS, TIMELINES } from '../../../src/collectors/storage/definition.ts'
import { EXECUTION_PHASES } from '../../../src/collectors/execution/definition.ts'
import { statesyncBlocks } from './chain.ts'
import { BLOCKS_PER_SECOND, type NodeState } from './node-states.ts'
import type { Recorder } from './recorder.ts'
import { epochOf } from './staking.ts'

const DEVICE = '/dev/nvme3n1p2'
const CAPACITY = 1_990_116_046_275
const CHUNK = 268_435_456
const CHUNKS = Math.floor(CAPACITY / CHUNK)
const THRESHOLD = 0.8
const HISTORY = 642_000
const GAS_PER_BLOCK = 2_500_000

/** The chapters storage, execution and status. */
export const recordStorage = (to: Recorder, moment: NodeState): void => {
  if (moment.nodeRuns) {
    recordDatabase(to, moment)
    recordTimelines(to, moment)
  }
  recordExecution(to, moment)
  recordStatus(to, moment)
}

const chunksOf = ({ storage }: NodeState) => {
  const used = Math.round(CHUNKS * storage)
  const slow = Math.round(used * 0.13)
  return { fast: used - slow, slow, free: CHUNKS - used }
}

const recordDatabase = (to: Recorder, moment: NodeState): void => {
  const { storage, profile } = moment
  const device = DEVICE
  to.gauge('chain_storage_capacity_bytes', CAPACITY, { device })
  to.gauge('chain_storage_used_bytes', Math.round(CAPACITY * storage), { device })
  to.gauge('chain_storage_used_ratio', Math.round(storage * 10_000) / 10_000, { device })
  const chunks = chunksOf(moment)
  for (const list of CHUNK_LISTS) {
    to.gauge('chain_storage_chunks', chunks[list], { list })
    to.gauge('chain_storage_chunks_capacity_bytes', chunks[list] * CHUNK, { list })
    const used = list === 'free' ? 0 : Math.round(chunks[list] * CHUNK * 0.999)
    to.gauge('chain_storage_chunks_used_bytes', used, { list })
    to.gauge('chain_execution_storage_chunks', chunks[list], { list })
  }
  to.gauge('chain_execution_storage_used_ratio', Math.round(storage * 10_000) / 10_000)
  to.gauge('chain_storage_compaction_threshold_ratio', THRESHOLD)
  const growth = (profile.storage[1] - profile.storage[0]) / (6 * 3600)
  if (storage < THRESHOLD) to.gauge('chain_storage_compaction_eta_seconds', (THRESHOLD - storage) / growth)
}

const recordTimelines = (to: Recorder, { own, consensusRuns }: NodeState): void => {
  for (const timeline of TIMELINES) {
    const blocks = timeline === 'primary' ? HISTORY : HISTORY / 10
    const earliest = own - blocks
    to.gauge('chain_storage_history_blocks', blocks, { timeline })
    to.gauge('chain_storage_history_earliest_block', earliest, { timeline })
    to.gauge('chain_storage_history_latest_block', own, { timeline })
    to.gauge('chain_storage_auto_expire_block', earliest, { timeline })
    to.gauge('chain_execution_history_earliest_block', earliest, { timeline })
    to.gauge('chain_storage_timeline_info', 1, {
      timeline,
      kind: timeline === 'primary' ? 'chain' : 'page',
    })
  }
  to.gauge('chain_storage_history_max_blocks', 16_777_216)
  for (const [depth, state] of BLOCK_STATES.entries())
    to.gauge('chain_storage_latest_block', own - (consensusRuns ? depth : 0), { state })
}

const recordExecution = (to: Recorder, moment: NodeState): void => {
  const blocks = moment.follows ? BLOCKS_PER_SECOND : 0
  const transactions = blocks * (30 + 10 * moment.noise(30))
  to.total('chain_execution_blocks_total', blocks)
  to.total('chain_execution_reexecutions_total', blocks * 0.0004)
  to.total('chain_execution_transactions_total', transactions)
  to.total('chain_execution_retried_transactions_total', transactions * 0.034)
  to.total('chain_execution_gas_total', blocks * GAS_PER_BLOCK)
  const slower = (moment.isSlow ? 9 : 1) * (1 + 0.2 * moment.noise(31))
  const median = { sender_recovery: 0.0002, execution: 0.0009, commit: 0.0006 }
  to.observe('chain_execution_block_duration_seconds', { perSecond: blocks, median: 0.0018 * slower })
  for (const phase of EXECUTION_PHASES)
    to.observe(
      'chain_execution_phase_duration_seconds',
      { perSecond: blocks, median: median[phase] * slower },
      { phase },
    )
  for (const timeline of TIMELINES)
    to.observe('chain_execution_upsert_duration_seconds', { perSecond: blocks, median: 0.0008 * slower }, { timeline })
  if (!moment.nodeRuns) return
  if (moment.statesync === null) {
    to.gauge('chain_execution_block_number', moment.own)
    to.gauge('chain_execution_block_started_timestamp_seconds', moment.blockTime)
    to.gauge('chain_execution_finalized_block_number', moment.own - 2)
  }
  if (moment.follows) to.gauge('chain_execution_memory_bytes', Math.round(6.3e9 * (1 + 0.02 * moment.noise(32))))
}

/** The report is read every five minutes; in between the values are constant. */
const recordStatus = (to: Recorder, moment: NodeState): void => {
  const { at, height, own, statesync, consensusRuns, nodeRuns, profile } = moment
  if (!nodeRuns) return
  to.gauge('chain_status_info', 1, {
    hostname: profile.name,
    version: moment.version,
    network: 'simulated',
    chain: 'chain_simulated',
    chain_id: '31143',
    self_address: '198.51.100.10:8000',
    record_seq_num: '3',
    secp_public_key: `02${profile.name.replaceAll(/\W/g, '')}`,
  })
  for (const service of ['bft', 'execution', 'rpc', 'otelcol'])
    to.gauge('chain_status_service_running', service !== 'bft' || consensusRuns, { service })
  to.gauge('chain_status_in_sync', moment.behind < 5 && statesync === null)
  to.gauge('chain_status_live', consensusRuns)
  to.gauge('chain_status_rpc_active', moment.rpcAnswers)
  to.gauge('chain_status_state_info', 1, {
    consensus: statesync === null ? 'in-sync' : 'syncing',
    mode: consensusRuns ? 'live' : 'stopped',
    rpc: moment.rpcAnswers ? 'active' : 'inactive',
  })
  to.gauge('chain_status_external_block_number', height)
  to.gauge('chain_status_cleanup_activated', 1)
  to.gauge('chain_status_cleanup_last_timestamp_seconds', at - (at % 3600))
  to.gauge('chain_status_cleanup_next_timestamp_seconds', at - (at % 3600) + 3600)
  const blocks = statesyncBlocks(moment)
  to.gauge('chain_status_statesync_progress_ratio', statesync)
  to.gauge('chain_status_statesync_progress_block', blocks?.reached ?? null)
  to.gauge('chain_status_statesync_target_block', blocks?.target ?? null)
  if (!consensusRuns) return
  to.gauge('chain_status_uptime_seconds', at - moment.consensusSince)
  to.gauge('chain_status_peers', Math.round(187 + 5 * moment.noise(33)))
  to.gauge('chain_status_epoch', epochOf(moment))
  to.gauge('chain_status_round', moment.round)
  if (blocks !== null) return
  to.gauge('chain_status_rpc_block_number', own)
  to.gauge('chain_status_block_number', own)
  to.gauge('chain_status_blocks_behind', moment.behind)
}
