import { SourceError } from '../../core/errors.ts'

/**
 * Why a query ended: `fatal` and `auth`, it would be refused again; `protocol`, what came is no answer;
 * `no-progress`, the service answers and does not move on; `no-data`, it has no such blocks yet;
 * `unreachable`, no answer in all tries.
 */
export type QueryErrorKind =
  | 'fatal'
  | 'auth'
  | 'protocol'
  | 'no-progress'
  | 'no-data'
  | 'unreachable'

type SourceErrorAccount = ConstructorParameters<typeof SourceError>[0]

/** The query service gave no answer that could be used. Nothing in it shows the key. */
export class QueryError extends SourceError {
  override name = 'QueryError'
  readonly kind: QueryErrorKind
  constructor(kind: QueryErrorKind, account: SourceErrorAccount) {
    super(account)
    this.kind = kind
  }
}
