import { counter, externalCounter, gauge, histogram, metricsOf, open } from '../../src/core/metric.ts'
import { ofProcess } from '../../src/core/process-metrics.ts'

/** What the ingest is doing. */
export const INGEST_PHASES = ['starting', 'backfill', 'tail', 'waiting', 'incomplete', 'stopped'] as const
/** Why a step of the ingest failed. */
export const INGEST_FAILURES = [
  'unreachable',
  'overload',
  'refused',
  'incomplete',
  'unlinked',
  'invalid',
  'store',
] as const
/** The paths of requests; every other path is `other`. */
export const QUERY_PATHS = [
  '/query',
  '/query/arrow-ipc',
  '/query/arrow-ipc/capnp',
  '/height',
  '/height/sse',
  '/chain_id',
  'other',
] as const

/** The metrics of the query service. */
export const queryService = {
  introduction:
    'The query service, `chain-agent serve-query`: a separate process that exports its own /metrics on `serveQuery.metricsListen`, with `process_*` of that process. Its counters start at 0 with each run.',
  metrics: {
    chain_query_service_node_height: gauge(
      'Last finalized block that the node reports to the query service; absent while the node does not respond.',
    ),
    chain_query_service_height: gauge(
      'Last block that the query service indexed; every block since the first one is indexed.',
    ),
    chain_query_service_first_block: gauge('First block that the query service indexed.'),
    chain_query_service_indexed_block_timestamp_seconds: gauge(
      'Timestamp of the last block that the query service indexed.',
    ),
    chain_query_service_phase: gauge(
      'Phase of the ingest of the query service as a state set; exactly one is 1; in `waiting`, the node is behind, does not respond, or returns incomplete blocks; in `incomplete`, it has returned the next block without its logs for more than ten minutes.',
      { phase: INGEST_PHASES },
    ),
    chain_query_service_blocks_indexed_total: externalCounter('Blocks that this process of the query service indexed.'),
    chain_query_service_logs_indexed_total: externalCounter('Logs that this process of the query service indexed.'),
    chain_query_service_blocks_corrected_total: externalCounter(
      'Blocks of which the node returned more logs when they were read again, and which were replaced in the store.',
    ),
    chain_query_service_ingest_errors_total: externalCounter('Steps of the ingest of the query service that failed.', {
      kind: INGEST_FAILURES,
    }),
    chain_query_service_requests_total: counter(
      'Responses of the query service, by status code; 499: the client closed the connection before the response.',
      { path: QUERY_PATHS, code: open },
    ),
    chain_query_service_request_duration_seconds: histogram(
      'Duration from a request to the query service to the end of the response, in seconds.',
      [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      { path: QUERY_PATHS },
    ),
    chain_query_service_response_bytes_total: counter('Bytes of the responses of the query service, as sent.', {
      path: QUERY_PATHS,
    }),
    chain_query_service_height_streams: gauge('Clients that follow the height of the query service on /height/sse.'),
    chain_query_service_logs_returned_total: counter('Logs in the responses of the query service.'),
    chain_query_service_store_bytes: gauge('Disk usage of the store of the query service.'),
    chain_query_service_store_limit_bytes: gauge(
      'Limit of the disk usage of the store of the query service; absent if it is not limited by bytes.',
    ),
    chain_query_service_store_logs: gauge('Logs in the store of the query service.'),
  },
} as const

/** Every metric that this process exports. */
export const serviceMetrics = metricsOf([queryService, ofProcess])
