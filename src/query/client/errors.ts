import { SourceError } from '../../core/errors.ts'

/**
 * Why a query failed. `fatal` and `auth`: the service rejects the request and would reject it again. `protocol`:
 * the response is not a valid one of a query service. `no-progress`: the service responds and returns no further
 * blocks. `no-data`: the service does not have these blocks yet. `unreachable`: no attempt succeeded.
 */
export type QueryErrorKind = 'fatal' | 'auth' | 'protocol' | 'no-progress' | 'no-data' | 'unreachable'

type SourceErrorAccount = ConstructorParameters<typeof SourceError>[0]

/** The query service returned no usable response. The text never contains the API key. */
export class QueryError extends SourceError {
  override name = 'QueryError'
  readonly kind: QueryErrorKind
  constructor(kind: QueryErrorKind, account: SourceErrorAccount) {
    super(account)
    this.kind = kind
  }
}

/** Creates an error of one service. `happened` has no figures, so that repeated errors are equal; `evidence` may have them. */
export type ErrorFactory = (kind: QueryErrorKind, happened: string, evidence?: string) => QueryError

const ADVICE: Readonly<Record<QueryErrorKind, string>> = {
  auth: 'check that the API key is right and still valid, and which header the service expects it in',
  fatal: 'check the address and the query: the service would reject the same request again',
  protocol: 'check that the address is that of a query service; if it is, retry later or contact its operator',
  'no-progress': 'retry later: what has been fetched so far ends before that block',
  'no-data': 'retry once the service has these blocks',
  unreachable: 'check that the service is running and that the address and the port are right, then retry',
}

interface ErrorService {
  /** The address of the service, redacted. */
  readonly shown: string
  readonly redact: (text: string) => string
}

/** `doing` completes "Could not …", without the address. */
export const createErrorFactory =
  (doing: string, { shown, redact }: ErrorService): ErrorFactory =>
  (kind, happened, evidence) =>
    new QueryError(kind, {
      doing: `${doing} at ${shown}`,
      happened,
      evidence: evidence === undefined ? undefined : redact(evidence),
      advice: ADVICE[kind],
    })
