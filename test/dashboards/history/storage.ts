import { BLOCK_STATES, CHUNK_LISTS, TIMELINES } from '../../../src/collectors/storage/definition.ts'
import { statesyncBlocks } from './chain.ts'
import { BLOCKS_PER_SECOND, type NodeState } from './node-states.ts'
import type { Recorder } from './recorder.ts'

const DEVICE = '/dev/nvme3n1p2'
const CAPACITY = 1_990_116_046_275
const CHUNK = 268_435_456
const CHUNKS = Math.floor(CAPACITY / CHUNK)
const THRESHOLD = 0.8

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
  to.gauge('chain_storage_used_ratio', Math.round(storage * 10_000) / 10_000, { device })
  const chunks = chunksOf(moment)
  for (const list of CHUNK_LISTS) {
    to.gauge('chain_storage_chunks', chunks[list], { list })
    to.gauge('chain_execution_storage_chunks', chunks[list], { list })
  }
  to.gauge('chain_execution_storage_used_ratio', Math.round(storage * 10_000) / 10_000)
  const growth = (profile.storage[1] - profile.storage[0]) / (6 * 3600)
  if (storage < THRESHOLD) to.gauge('chain_storage_compaction_eta_seconds', (THRESHOLD - storage) / growth)
}

const recordTimelines = (to: Recorder, { own, consensusRuns }: NodeState): void => {
  for (const timeline of TIMELINES) {
    to.gauge('chain_storage_timeline_info', 1, {
      timeline,
      kind: timeline === 'primary' ? 'chain' : 'page',
    })
  }
  for (const [depth, state] of BLOCK_STATES.entries())
    to.gauge('chain_storage_latest_block', own - (consensusRuns ? depth : 0), { state })
}

const recordExecution = (to: Recorder, moment: NodeState): void => {
  const blocks = moment.follows ? BLOCKS_PER_SECOND : 0
  to.total('chain_execution_blocks_total', blocks)
  const slower = (moment.isSlow ? 9 : 1) * (1 + 0.2 * moment.noise(31))
  to.observe('chain_execution_block_duration_seconds', { perSecond: blocks, median: 0.0018 * slower })
  if (!moment.nodeRuns) return
  if (moment.statesync === null) {
    to.gauge('chain_execution_block_number', moment.own)
    to.gauge('chain_execution_block_started_timestamp_seconds', moment.blockTime)
    to.gauge('chain_execution_finalized_block_number', moment.own - 2)
  }
}

/** The report is read every five minutes; in between the values are constant. */
const recordStatus = (to: Recorder, moment: NodeState): void => {
  const { own, statesync, consensusRuns, nodeRuns } = moment
  if (!nodeRuns) return
  const blocks = statesyncBlocks(moment)
  to.gauge('chain_status_statesync_progress_ratio', statesync)
  to.gauge('chain_status_statesync_progress_block', blocks?.reached ?? null)
  to.gauge('chain_status_statesync_target_block', blocks?.target ?? null)
  if (consensusRuns && blocks === null) to.gauge('chain_status_block_number', own)
}
