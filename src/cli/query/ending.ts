import { asError } from '../../core/outcome.ts'
import { StandardError } from '../../tokens/errors.ts'
import { QueryError, type QueryErrorKind } from '../../query/client/errors.ts'
import type { ExitCode, Io } from '../io.ts'

const CODES: Readonly<Record<QueryErrorKind, ExitCode>> = {
  fatal: 1,
  auth: 3,
  protocol: 5,
  'no-progress': 5,
  'no-data': 1,
  unreachable: 1,
}

/** Says what the client met, and gives its exit code; what is none of its errors is thrown on. */
export const endWith = (io: Io, exit: (code: ExitCode) => void, thrown: unknown): void => {
  const error = asError(thrown)
  if (!(error instanceof QueryError || error instanceof StandardError)) throw error
  io.stderr.write(`${error.message}\n`)
  exit(error instanceof QueryError ? CODES[error.kind] : 2)
}

export const CODES_NOTE = `Exit codes: 0 all of it was read, 1 it could not be done, 2 it was asked for in a wrong way, 3 the key was
not accepted, 4 what was written is not all, and says so, 5 the service gives no usable answer or does not
move on, 130 it was interrupted.`
