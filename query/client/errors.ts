import { type ErrorDetails, SourceError } from '../../src/core/errors.ts'
import { TLS_ADVICE } from '../../src/sources/http-exchange.ts'

/**
 * Why a query failed. `fatal` and `auth`: the service rejects the request and would reject it again. `pruned`: it no longer has blocks of that age. `limited`: a quota
 * or a rate limit is exceeded, or the service requests a wait of more than a few minutes. `protocol`: the response is not a valid one of a query service. `no-progress`: the service responds and returns no further
 * blocks. `untrusted`: TLS failed, and neither the request nor the API key was sent. `no-data`: the service does not have these blocks yet. `unreachable`: no attempt succeeded.
 */
export type QueryErrorKind = keyof typeof ADVICE

/** The query service returned no usable response. The text never contains the API key. */
export class QueryError extends SourceError {
  override name = 'QueryError'
  readonly kind: QueryErrorKind
  /** What the service reported, without the API key; empty if it reported nothing. */
  readonly evidence: string
  constructor(kind: QueryErrorKind, account: ErrorDetails) {
    super(account)
    this.kind = kind
    this.evidence = account.evidence ?? ''
  }
}

/** Creates an error of one service. `happened` has no figures, so that repeated errors are equal; `evidence` may have them. */
export type ErrorFactory = (kind: QueryErrorKind, happened: string, evidence?: string) => QueryError

const ADVICE = {
  auth: 'check that the API key is right and still valid, and which header the service expects it in',
  fatal: 'check the address and the query: the same request would get the same answer',
  pruned:
    'name a later first block: for a token that was created later --created-in, which keeps the result of `balances` full, else --from-block; or use a service with the whole history',
  untrusted: `${TLS_ADVICE}. The API key was not sent`,
  limited:
    'retry when the service accepts requests again; against a quota or a rate limit, use fewer processes, another API key, or a plan with a higher limit',
  protocol: 'check that the address belongs to a query service; if it does, retry later or contact its operator',
  'no-progress': 'retry later: what has been fetched so far ends before that block',
  'no-data': 'retry once the service has these blocks',
  unreachable: 'check that the service is running and that the address and the port are right, then retry',
}

/** `doing` completes "Could not …", without the address, of which `shown` is the redacted form. */
export const createErrorFactory =
  (doing: string, { shown, redact }: { readonly shown: string; redact(text: string): string }): ErrorFactory =>
  (kind, happened, evidence) =>
    new QueryError(kind, {
      doing: `${doing} at ${shown}`,
      happened,
      evidence: evidence === undefined ? undefined : redact(evidence),
      advice: ADVICE[kind],
    })

/** The error for two logs at one position of one response. In pages that overlap, a log may be repeated; within one it may not. */
export const repeatedPosition = (block: number, index: number): QueryError =>
  new QueryError('protocol', {
    doing: 'read a page of logs',
    happened: 'two logs of one response have the same block_number and log_index',
    evidence: `log_index ${index} in block ${block}`,
    advice:
      'the service returned a log twice, or its log_index begins again in each transaction, so that it does not identify a log: use a service that numbers the logs of a block, or report it to the operator',
  })
