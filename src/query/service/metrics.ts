import { counter, externalCounter, gauge, histogram, open } from '../../core/metric.ts'

/** What the ingest is doing. */
export const INGEST_PHASES = ['starting', 'back-fill', 'tail', 'waiting', 'stopped'] as const
/** Why a step of the ingest failed. */
export const INGEST_FAILURES = [
  'unreachable',
  'overload',
  'refused',
  'incomplete',
  'unlinked',
  'nonsense',
  'store',
] as const
/** The paths of requests; every other path is `other`. */
const QUERY_PATHS = ['/query', '/height', 'other'] as const

/** The metrics of the query service. */
export const queryService = {
  introduction:
    'The query service, `chain-agent serve-query`: a separate process that exports its own /metrics on `serveQuery.metricsListen`, with `process_*` and `nodejs_*` of that process. Its counters start at 0 with each run.',
  metrics: {
    chain_query_service_node_height: gauge(
      'Finalized block of the node as it was last told; absent until it was, and while the node is silent.',
    ),
    chain_query_service_height: gauge('Last block that is indexed; all from the first on are.'),
    chain_query_service_first_block: gauge('First block that is held.'),
    chain_query_service_indexed_block_timestamp_seconds: gauge(
      'Time that the last indexed block itself carries.',
    ),
    chain_query_service_phase: gauge(
      'What the ingest is at, as a state set; exactly one is 1, and waiting is for a node that is behind or does not answer.',
      { phase: INGEST_PHASES },
    ),
    chain_query_service_blocks_indexed_total: externalCounter(
      'Blocks that were indexed by this run.',
    ),
    chain_query_service_logs_indexed_total: externalCounter('Logs that were indexed by this run.'),
    chain_query_service_ingest_errors_total: externalCounter('Steps of the ingest that failed.', {
      kind: INGEST_FAILURES,
    }),
    chain_query_service_requests_total: counter(
      'Answers, by status code; 499 is a client that left before its answer.',
      { path: QUERY_PATHS, code: open },
    ),
    chain_query_service_request_duration_seconds: histogram(
      'From a request to the end of its answer.',
      [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      { path: QUERY_PATHS },
    ),
    chain_query_service_response_bytes_total: counter('Bytes of answers as they were sent.', {
      path: QUERY_PATHS,
    }),
    chain_query_service_logs_returned_total: counter('Logs in answers.'),
    chain_query_service_store_bytes: gauge('Space that the store takes on disk.'),
    chain_query_service_store_limit_bytes: gauge(
      'Bound on that space; absent where it is not bounded by bytes.',
    ),
    chain_query_service_store_logs: gauge('Logs that are held.'),
    chain_query_service_store_blocks: gauge('Blocks that are held.'),
  },
} as const
