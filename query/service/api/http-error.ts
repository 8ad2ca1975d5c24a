import { asError, SourceError } from '../../../src/core/errors.ts'
import { StoreError } from '../../store/errors.ts'

/** Error codes of the API and their HTTP status. */
const STATUS = {
  bad_json: 400,
  unknown_field: 400,
  bad_value: 400,
  too_many: 400,
  /** The store keeps only a part of the requested logs. */
  not_indexed: 400,
  /** Only the hosted service supports this. */
  not_served: 400,
  /** Of requests that do not reach the API. */
  bad_request: 400,
  forbidden: 403,
  misdirected: 421,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  pruned: 410,
  too_large: 413,
  media_type: 415,
  rate_limited: 429,
  internal: 500,
  busy: 503,
  starting: 503,
  stopped: 503,
  empty: 503,
  unavailable: 503,
  too_slow: 503,
} as const

type HttpErrorCode = keyof typeof STATUS

interface HttpErrorDetails {
  /** Path in the body: `logs[0].topics[1][3]`. */
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  /** With `pruned`: the first block in the store. */
  readonly first?: number
}

/** An error response. Its message is sent to the client and contains nothing about this host. */
export class HttpError extends Error {
  override name = 'HttpError'
  readonly code: HttpErrorCode
  readonly status: number
  readonly details: HttpErrorDetails
  constructor(code: HttpErrorCode, message: string, details: HttpErrorDetails = {}) {
    super(message)
    this.code = code
    this.status = STATUS[code]
    this.details = details
  }
}

/** An error with Retry-After, in seconds. */
export const retryLater = (
  code: 'busy' | 'empty' | 'starting' | 'stopped' | 'unavailable' | 'too_slow',
  message: string,
  seconds: number,
): HttpError => new HttpError(code, message, { headers: { 'retry-after': String(seconds) } })

const RETRY_SECONDS = 5

/**
 * The error response for a failure. Failures that the client did not cause are passed to `onError`, and the client gets
 * no details.
 */
export const toHttpError = (thrown: unknown, onError: (error: Error) => void): HttpError => {
  const error = asError(thrown)
  if (error instanceof HttpError) return error
  if (error instanceof StoreError) {
    if (error.kind === 'pruned') return pruned(error)
    if (error.kind === 'empty') return retryLater('empty', 'the store has no blocks yet', RETRY_SECONDS)
    // The client has disconnected or the timeout has passed: both are recorded elsewhere.
    if (error.kind !== 'aborted') onError(error)
    return retryLater('unavailable', 'the logs cannot be read at the moment', RETRY_SECONDS)
  }
  onError(error)
  return error instanceof SourceError && error.timeout
    ? retryLater('too_slow', 'reading the logs timed out; ask for fewer', RETRY_SECONDS)
    : new HttpError('internal', 'internal error')
}

const pruned = ({ first }: StoreError): HttpError =>
  new HttpError(
    'pruned',
    first === null ? 'the block from_block is not in the store' : `blocks before ${first} are not in the store`,
    { path: 'from_block', ...(first !== null && { first }) },
  )
