import type { Recorder } from '../../core/recorder.ts'
import type { RequestObserver } from '../../query/service/api/response.ts'

/** Of these the first must be seen by `increase()`. */
const EXPECTED = ['200', '400', '500', '503'] as const

/** Counts what the API answers. */
export const countRequests = (recorder: Recorder): RequestObserver => {
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
