import { type ExitCode, type Io, UsageError } from '../../cli/io.ts'
import { ConfigError } from '../../core/errors.ts'
import { asError } from '../../core/outcome.ts'
import { QueryError, type QueryErrorKind } from '../../query/client/errors.ts'
import { type Progress, type Retry, UNSETTLED_BLOCKS } from '../../query/client/types.ts'
import { StandardError } from '../../tokens/errors.ts'
import { exists } from '../../sources/partial-file.ts'
import type { Clock } from '../../core/clock.ts'
import { duration, figure } from '../../core/format.ts'
import { redactUrl } from '../../core/redact.ts'
import { second } from '../../core/units.ts'

const EXIT_CODES: Readonly<Record<QueryErrorKind, ExitCode>> = {
  fatal: 1,
  auth: 3,
  protocol: 5,
  'no-progress': 5,
  'no-data': 1,
  unreachable: 1,
}

interface FailedRun {
  readonly thrown: unknown
  /** The checkpoint file of the run, which may not exist. */
  readonly checkpoint?: string | undefined
}

/**
 * Prints an error of the client or the ledger and exits with its code; throws any other error. A ConfigError of the
 * client is an error in the options of the command.
 */
export const exitWithError = async (
  io: Io,
  exit: (code: ExitCode) => void,
  { thrown, checkpoint }: FailedRun,
): Promise<void> => {
  const error = asError(thrown)
  if (error instanceof ConfigError) throw new UsageError(error.message, { cause: error })
  if (!(error instanceof QueryError || error instanceof StandardError)) throw error
  io.stderr.write(`${error.message}\n`)
  // A rejected request would be rejected again.
  if (error instanceof QueryError && error.kind !== 'fatal') await printResumeHint(io, checkpoint)
  exit(error instanceof QueryError ? EXIT_CODES[error.kind] : 2)
}

/** Prints how to resume, if the checkpoint file exists. */
export const printResumeHint = async (io: Io, checkpoint: string | undefined): Promise<void> => {
  if (checkpoint === undefined || !(await exists(checkpoint))) return
  io.stderr.write(`The checkpoint is in ${checkpoint}. Run the same command with --resume to continue.\n`)
}

export const EXIT_CODES_NOTE = `A request that fails is sent again, with waits of up to 5 s in between; each wait is reported on standard error. A
connection that is refused on this host fails at once, unless the service has answered before.

Exit codes: 0 everything was read, 1 failed, 2 usage error, 3 the API key was rejected, 5 the service returned no
usable response or makes no progress, 130 interrupted.`

/**
 * The service returned no hashes that prove that the pages near the head are of one chain: a reorg between two of them
 * would mix two histories.
 */
export const UNGUARDED = `Unproven: the service returns no block hashes, and a reorg may still replace the last blocks. Run the command again in a few minutes, or with --to-block ${UNSETTLED_BLOCKS} below the height.`

interface CompletedRun {
  readonly target: number
  readonly toBlock: number | null
  readonly stats: { readonly unguarded: number }
}

/** Limitations of the result of a complete run, one sentence each. */
export const notesOfRun = ({ target, toBlock, stats }: CompletedRun): readonly string[] => [
  ...(toBlock !== null && toBlock > target
    ? [`Through block ${target}, not ${toBlock}: the service has no later block yet.`]
    : []),
  ...(stats.unguarded > 0 ? [UNGUARDED] : []),
]

/** Formats the progress of a query in one line. */
export const createProgressLine = ({ elapsed }: Pick<Clock, 'elapsed'>): ((now: Progress) => string) => {
  const startedAt = elapsed()
  return ({ from, through, target, logs, retries, waitedMs }) => {
    const seconds = Math.max(0.001, (elapsed() - startedAt) / second)
    const [done, all] = [Math.max(0, through - from + 1), Math.max(1, target - from + 1)]
    const left = done === 0 ? undefined : (seconds / done) * (all - done)
    return [
      // Only a complete run has 100 %.
      `Block ${figure(through)} of ${figure(target)} (${Math.min(99, Math.floor((100 * done) / all))} %)`,
      `${figure(logs)} logs`,
      `${figure(Math.round(logs / seconds))} logs/s`,
      `${figure(Math.round(done / seconds))} blocks/s`,
      ...(left === undefined ? [] : [`${duration(left * second)} left`]),
      ...(retries > 0 ? [`${figure(retries)} retries`] : []),
      ...(waitedMs >= second ? [`waited ${duration(waitedMs)}`] : []),
    ].join(', ')
  }
}

/** Requests run in parallel, and all of them fail when the service is down. */
const MIN_INTERVAL_MS = second

/** Reports on standard error why and when a request is sent again, at most once a second. */
export const createRetryReporter = (
  { stderr, clock }: Pick<Io, 'stderr' | 'clock'>,
  url: string,
): ((retry: Retry) => void) => {
  let last = -Infinity
  return ({ happened, waitMs, attempt }) => {
    const now = clock.elapsed()
    if (now - last < MIN_INTERVAL_MS) return
    last = now
    const count = attempt === null ? '' : ` (attempt ${attempt.number} of ${attempt.of})`
    const wait = `${(waitMs / second).toFixed(waitMs < 10 * second ? 1 : 0)} s`
    stderr.write(`Query service ${redactUrl(url)}: ${happened}; retrying in ${wait}${count}\n`)
  }
}

/** The checkpoint file of a run that writes this output file. */
export const checkpointOf = (file: string): string => `${file}.checkpoint`
