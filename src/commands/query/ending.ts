import { ConfigError } from '../../core/errors.ts'
import { asError } from '../../core/outcome.ts'
import { QueryError, type QueryErrorKind } from '../../query/client/errors.ts'
import { isKept } from './output.ts'
import { StandardError } from '../../tokens/errors.ts'
import { type ExitCode, type Io, UsageError } from '../../cli/io.ts'

const CODES: Readonly<Record<QueryErrorKind, ExitCode>> = {
  fatal: 1,
  auth: 3,
  protocol: 5,
  'no-progress': 5,
  'no-data': 1,
  unreachable: 1,
}

interface Ended {
  readonly thrown: unknown
  /** Where the run has its checkpoint, if it has written one. */
  readonly checkpoint?: string | undefined
}

/**
 * Says what the client met, and gives its exit code; what is none of its errors is thrown on. What it
 * refuses as configuration stood in the command.
 */
export const endWith = async (
  io: Io,
  exit: (code: ExitCode) => void,
  { thrown, checkpoint }: Ended,
): Promise<void> => {
  const error = asError(thrown)
  if (error instanceof ConfigError) throw new UsageError(error.message, { cause: error })
  if (!(error instanceof QueryError || error instanceof StandardError)) throw error
  io.stderr.write(`${error.message}\n`)
  // What would be refused again is not gone on with.
  if (error instanceof QueryError && error.kind !== 'fatal') await sayHowToGoOn(io, checkpoint)
  exit(error instanceof QueryError ? CODES[error.kind] : 2)
}

/** Where a checkpoint was written, and only there. */
export const sayHowToGoOn = async (io: Io, checkpoint: string | undefined): Promise<void> => {
  if (checkpoint === undefined || !(await isKept(checkpoint))) return
  io.stderr.write(
    `The checkpoint is kept in ${checkpoint}. The same command with --resume goes on.\n`,
  )
}

export const CODES_NOTE = `A request that fails is sent again, with waits of up to 5 s in between; each wait is reported on standard error. A
connection that is refused on this host fails at once, unless the service has answered before.

Exit codes: 0 everything was read, 1 failed, 2 usage error, 3 the key was not accepted, 5 the service returns no
usable answer or makes no progress, 130 interrupted.`
