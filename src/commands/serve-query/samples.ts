import { minute } from '../../core/units.ts'
import { INGEST_FAILURES, INGEST_PHASES } from '../../query/service/metrics.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import type { IngestState } from '../../query/service/ingest/state.ts'
import type { StoreSize } from '../../query/store/store.ts'

/** What the service knows at a scrape; null where it does not. */
export interface Known {
  readonly state: IngestState | null
  readonly held: { readonly first: number; readonly last: number } | null
  readonly size: StoreSize | null
  readonly limitBytes: number | null
}

/** A height that the node told longer ago says nothing of now. */
const HEIGHT_LASTS_MS = minute

/** The finalized height of the node, where it is of now. */
export const nodeHeight = (state: IngestState | null, now: number): number | null =>
  state === null || state.nodeHeightAt === null || now - state.nodeHeightAt > HEIGHT_LASTS_MS
    ? null
    : state.nodeHeight

export const samplesOf = (known: Known, now: number): readonly Sample[] => {
  const { state, held, size, limitBytes } = known
  const phase = state?.phase ?? 'starting'
  // What was measured while it was empty is no longer so.
  const measured = held !== null && size?.blocks === 0 ? null : size
  return [
    ...sampleIfKnown('chain_query_service_node_height', nodeHeight(state, now)),
    ...sampleIfKnown('chain_query_service_height', held?.last),
    ...sampleIfKnown('chain_query_service_first_block', held?.first),
    ...sampleIfKnown(
      'chain_query_service_indexed_block_timestamp_seconds',
      state?.indexedTimestamp,
    ),
    ...INGEST_PHASES.map((one) =>
      sample('chain_query_service_phase', one === phase, { phase: one }),
    ),
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
  ...INGEST_FAILURES.map((kind) =>
    sample('chain_query_service_ingest_errors_total', errors[kind], { kind }),
  ),
]
