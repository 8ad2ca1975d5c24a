import { type ErrorDetails, SourceError } from '../../../src/core/errors.ts'
import type { INGEST_FAILURES } from '../metrics.ts'

export type IngestErrorKind = (typeof INGEST_FAILURES)[number]

/** An ingest step failed and is retried. */
export class IngestError extends SourceError {
  override name = 'IngestError'
  readonly kind: IngestErrorKind
  /** Retry-After of the node in milliseconds; null if it sent none. */
  readonly wait: number | null
  constructor(kind: IngestErrorKind, account: ErrorDetails, wait: number | null = null) {
    super(account)
    this.kind = kind
    this.wait = wait
  }
}

/** The node rejected the method or its parameters; a retry would fail in the same way. */
export class NodeRejectedError extends IngestError {
  override name = 'NodeRejectedError'
  /** The error message of the node. */
  readonly nodeMessage: string
  /** The JSON-RPC error code; null if there is none. */
  readonly rpcCode: number | null
  constructor(account: ErrorDetails, nodeMessage: string, rpcCode: number | null) {
    super('refused', account)
    this.nodeMessage = nodeMessage
    this.rpcCode = rpcCode
  }
}

/** An error code that is used for an overload and for a request that is too large, with a text that names neither. */
export class LimitExceededError extends IngestError {
  override name = 'LimitExceededError'
}

/** A request or response was too large; a smaller request may succeed. */
export class TooLargeError extends IngestError {
  override name = 'TooLargeError'
}

/** The node did not respond in time; a smaller request may succeed. */
export class NodeTimeoutError extends IngestError {
  override name = 'NodeTimeoutError'
}

/** A permanent conflict between the store and the node: the ingest stops. */
export class FatalIngestError extends SourceError {
  override name = 'FatalIngestError'
}
