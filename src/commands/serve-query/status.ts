import { type Recorder, type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { minute } from '../../core/units.ts'
import { INGEST_FAILURES, INGEST_PHASES } from '../../query/service/metrics.ts'
import type { RequestObserver } from '../../query/service/api/response.ts'
import type { IngestPhase, IngestState } from '../../query/service/ingest/state.ts'
import type { StoreSize } from '../../query/store/store.ts'

/** State of the service; unknown values are null. */
interface ReadinessState {
  /** Null until the store is open. */
  readonly phase: IngestPhase | null
  readonly nodeHeight: number | null
  readonly height: number | null
  readonly readyLag: number
}

/** Conditions that the service waits for before it is ready; empty if it is ready. */
export const waitingFor = (state: ReadinessState): readonly string[] => {
  const { phase, nodeHeight, height, readyLag } = state
  if (phase === null) return ['the store']
  if (phase === 'stopped') return ['the operator: the ingest has stopped, and the log has the reason']
  if (nodeHeight === null) return ['the finalized block of the node']
  if (height === null) return ['the first block']
  const behind = nodeHeight - height
  return behind > readyLag ? [`${behind} more blocks of the node`] : []
}

/** State of the service at a scrape; unknown values are null. */
export interface ServiceState {
  readonly state: IngestState | null
  readonly held: { readonly first: number; readonly last: number } | null
  readonly size: StoreSize | null
  readonly limitBytes: number | null
}

/** After this time, in milliseconds, the height of the node counts as unknown. */
const HEIGHT_LASTS_MS = minute

/** The finalized height of the node, if it is recent. */
export const nodeHeight = (state: IngestState | null, now: number): number | null =>
  state === null || state.nodeHeightAt === null || now - state.nodeHeightAt > HEIGHT_LASTS_MS ? null : state.nodeHeight

export const samplesOf = (service: ServiceState, now: number): readonly Sample[] => {
  const { state, held, size, limitBytes } = service
  const phase = state?.phase ?? 'starting'
  // The measured size is outdated once the store has blocks.
  const measured = held !== null && size?.blocks === 0 ? null : size
  return [
    ...sampleIfKnown('chain_query_service_node_height', nodeHeight(state, now)),
    ...sampleIfKnown('chain_query_service_height', held?.last),
    ...sampleIfKnown('chain_query_service_first_block', held?.first),
    ...sampleIfKnown('chain_query_service_indexed_block_timestamp_seconds', state?.indexedTimestamp),
    ...INGEST_PHASES.map((one) => sample('chain_query_service_phase', one === phase, { phase: one })),
    ...(state === null ? [] : countsOf(state)),
    ...sampleIfKnown('chain_query_service_store_bytes', measured?.bytes),
    ...sampleIfKnown('chain_query_service_store_limit_bytes', limitBytes),
    ...sampleIfKnown('chain_query_service_store_logs', measured?.logs),
    ...sampleIfKnown('chain_query_service_store_blocks', held && held.last - held.first + 1),
  ]
}

const countsOf = ({ blocks, logs, errors }: IngestState): readonly Sample[] => [
  sample('chain_query_service_blocks_indexed_total', blocks),
  sample('chain_query_service_logs_indexed_total', logs),
  ...INGEST_FAILURES.map((kind) => sample('chain_query_service_ingest_errors_total', errors[kind], { kind })),
]

/** Exported as 0 from the start, so that increase() sees the first one. */
const EXPECTED = ['200', '400', '500', '503'] as const

/** Records the requests of the API as metrics. */
export const createRequestMetrics = (recorder: Recorder): RequestObserver => {
  for (const path of ['/query', '/height'] as const) {
    recorder.count('chain_query_service_response_bytes_total', 0, { path })
    for (const code of EXPECTED) {
      recorder.count('chain_query_service_requests_total', 0, { path, code })
    }
  }
  recorder.count('chain_query_service_logs_returned_total', 0)
  return {
    requestFinished: ({ path, code, seconds, bytes, logs }) => {
      recorder.count('chain_query_service_requests_total', 1, { path, code: `${code}` })
      recorder.observe('chain_query_service_request_duration_seconds', seconds, { path })
      recorder.count('chain_query_service_response_bytes_total', bytes, { path })
      recorder.count('chain_query_service_logs_returned_total', logs)
    },
  }
}
