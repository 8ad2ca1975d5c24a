import { SourceError } from '../../../core/errors.ts'
import type { IngestErrorKind } from './state.ts'

type Account = ConstructorParameters<typeof SourceError>[0]

/** An ingest step failed and is retried. */
export class IngestError extends SourceError {
  override name = 'IngestError'
  readonly kind: IngestErrorKind
  /** Retry-After of the node in milliseconds; null if it sent none. */
  readonly wait: number | null
  constructor(kind: IngestErrorKind, account: Account, wait: number | null = null) {
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
  constructor(account: Account, nodeMessage: string) {
    super('refused', account)
    this.nodeMessage = nodeMessage
  }
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

/**
 * Class of a JSON-RPC error. Error codes differ between versions and vendors (-32005 means both "slower" and "less"),
 * so the message decides, and the code only if the message is not conclusive.
 */
export type RpcErrorClass = 'overload' | 'too large' | 'unknown tag' | 'no'

export const classifyRpcError = (code: number | null, message: string): RpcErrorClass => {
  if (OVERLOAD.test(message)) return 'overload'
  if (TOO_LARGE.some((pattern) => pattern.test(message))) return 'too large'
  if (code === LIMIT_EXCEEDED || code === 429) return 'overload'
  return UNKNOWN_TAG.test(message) ? 'unknown tag' : 'no'
}

const LIMIT_EXCEEDED = -32_005

const OVERLOAD =
  /overload|try again later|too many (?:requests|connections)|rate.?limit|requests? (?:count|rate|limit)|limit of requests|requests? per|throttl|capacity|busy|compute units/i

const THING = String.raw`(?:range|blocks?|results?|logs?|response|answer|body|payload|content|size|entit(?:y|ies)|query|batch|items)`
const MUCH = String.raw`(?:too (?:large|big|wide|long|many|high)|exceed\w*|limit(?:ed|s)?|more than|greater than|larger than|max(?:imum)?|up to)`

const TOO_LARGE = [
  new RegExp(String.raw`\b${THING}\b.*\b${MUCH}\b`, 'is'),
  new RegExp(String.raw`\b${MUCH}\b.*\b${THING}\b`, 'is'),
  /time.{0,2}out|timed out|deadline exceeded|took too long/i,
]

/** "Not found" is different: the tag is known, and there is no such block yet. */
const UNKNOWN_TAG =
  /invalid|unknown (?:block )?tag|unsupported|not supported|cannot unmarshal|without 0x|hex string|parse/i
