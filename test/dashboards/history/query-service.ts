import { INGEST_FAILURES, INGEST_PHASES } from '../../../query/service/metrics.ts'
import { BLOCKS_PER_SECOND, type NodeState } from './node-states.ts'
import type { Recorder } from './recorder.ts'

const FINAL = 2
const LOGS_PER_BLOCK = 120
const BYTES_PER_LOG = 60
const HELD_BLOCKS = 1_500_000
const LIMIT = HELD_BLOCKS * LOGS_PER_BLOCK * BYTES_PER_LOG

/** The chapter queryService: it follows the node, with a full store, and waits while the node does not answer. */
export const recordQueryService = (to: Recorder, moment: NodeState): void => {
  recordIngest(to, moment)
  recordAnswers(to, moment)
}

const recordIngest = (to: Recorder, moment: NodeState): void => {
  const { rpcAnswers, own, blockTime } = moment
  const indexed = own - FINAL
  const phase = rpcAnswers ? 'tail' : 'waiting'
  for (const one of INGEST_PHASES) to.gauge('chain_query_service_phase', one === phase, { phase: one })
  to.gauge('chain_query_service_node_height', rpcAnswers ? indexed + (moment.noise(60) > 0 ? 1 : 0) : null)
  to.gauge('chain_query_service_height', indexed)
  const time = Math.floor(blockTime - FINAL / BLOCKS_PER_SECOND)
  to.gauge('chain_query_service_indexed_block_timestamp_seconds', time)
  const failures = { unreachable: rpcAnswers ? 0 : 0.2, overload: moment.isSlow ? 0.02 : 0.0002 }
  for (const kind of INGEST_FAILURES) {
    const perSecond = kind === 'unreachable' || kind === 'overload' ? failures[kind] : 0
    to.total('chain_query_service_ingest_errors_total', perSecond, { kind })
  }
  to.gauge('chain_query_service_store_bytes', Math.round(LIMIT * (0.97 + 0.01 * moment.noise(62))))
  to.gauge('chain_query_service_store_limit_bytes', LIMIT)
}

const recordAnswers = (to: Recorder, moment: NodeState): void => {
  const busy = 1 + 0.5 * moment.noise(63)
  const answers = [
    ['/query', '200', 2 * busy],
    ['/query', '400', 0.02],
    ['/query', '429', 0.05 * busy],
    ['/query', '499', 0.005],
    ['/query', '503', moment.isSlow ? 0.03 : 0],
    ['/height', '200', 0.2],
    ['other', '404', 0.003],
  ] as const
  for (const [path, code, perSecond] of answers)
    to.total('chain_query_service_requests_total', perSecond, { path, code })
  const slower = moment.isSlow ? 6 : 1
  for (const [path, perSecond, median] of [
    ['/query', 2 * busy, 0.03 * slower],
    ['/height', 0.2, 0.0008],
    ['other', 0.003, 0.0008],
  ] as const)
    to.observe('chain_query_service_request_duration_seconds', { perSecond, median }, { path })
}
