import { type Base } from './base.ts'
import { QueryError, type QueryErrorKind } from './errors.ts'

/** Makes an error of one service: `happened` without figures, `evidence` with what was sent or seen. */
export type Tell = (kind: QueryErrorKind, happened: string, evidence?: string) => QueryError

const ADVICE: Readonly<Record<QueryErrorKind, string>> = {
  auth: 'look whether the API key is right and still valid, and whether the service wants it in another header',
  fatal: 'look at the address and at what is asked for: the same request would be refused again',
  protocol:
    'look whether the address is that of a query service; if it is, try again later or ask its operator',
  'no-progress': 'try again later: what has been fetched so far ends before that block',
  'no-data': 'try again when the service has come that far',
  unreachable:
    'check that the service is running and that the address and the port are right, then try again',
}

export const createTell =
  (doing: string, base: Base): Tell =>
  (kind, happened, evidence) =>
    new QueryError(kind, {
      doing: `${doing} at ${base.shown}`,
      happened,
      evidence: evidence === undefined ? undefined : base.redact(evidence),
      advice: ADVICE[kind],
    })
