import { type CommandContext, type ExitCode, type Io, UsageError } from '../../../src/terminal/io.ts'
import { createProgress } from '../../../src/terminal/progress.ts'
import { withCheckpointLocked } from '../../client/checkpoint.ts'
import { openService, type ServiceOptions } from './service.ts'
import { asError, ConfigError } from '../../../src/core/errors.ts'
import { QueryError, type QueryErrorKind } from '../../client/errors.ts'
import {
  type Progress,
  type QueryClient,
  type Retry,
  type RunOptions,
  type RunResult,
  UNSETTLED_BLOCKS,
} from '../../client/types.ts'
import { StandardError } from '../../tokens/types.ts'
import { checkWritable, exists } from '../../../src/sources/durable.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { duration, figure } from '../../../src/core/format.ts'
import { redactUrl } from '../../../src/core/redaction/redact.ts'
import { second } from '../../../src/core/units.ts'

export const createProgressLine = ({ elapsed }: Pick<Clock, 'elapsed'>): ((now: Progress) => string) => {
  const startedAt = elapsed()
  return ({ from, through, target, logs, retries, waitedMs }) => {
    const seconds = Math.max(0.001, (elapsed() - startedAt) / second)
    const [done, all] = [Math.max(0, through - from + 1), Math.max(1, target - from + 1)]
    const left = done === 0 ? undefined : (seconds / done) * (all - done)
    const parts = [
      // Only a complete run has 100 %.
      `Block ${figure(through)} of ${figure(target)} (${Math.min(99, Math.floor((100 * done) / all))} %)`,
      `${figure(logs)} logs`,
      `${figure(Math.round(logs / seconds))} logs/s`,
      `${figure(Math.round(done / seconds))} blocks/s`,
      left !== undefined && `${duration(left * second)} left`,
      retries > 0 && `${figure(retries)} retries`,
      waitedMs >= second && `waited ${duration(waitedMs)}`,
    ]
    return parts.filter((part) => part !== false).join(', ')
  }
}

/** Requests run in parallel, and all of them fail when the service is down. */
const MIN_INTERVAL_MS = second

/** Reports on standard error why and when a request is sent again, at most once a second; `before` is called each time. */
export const createRetryReporter = ({ stderr, clock }: Pick<Io, 'stderr' | 'clock'>, url: string, before = nothing) => {
  let last = -Infinity
  return ({ happened, reported, waitMs, attempt }: Retry): void => {
    before()
    const now = clock.elapsed()
    if (now - last < MIN_INTERVAL_MS) return
    last = now
    const count = attempt === null ? '' : ` (attempt ${attempt.number} of ${attempt.of})`
    const wait = `${(waitMs / second).toFixed(waitMs < 10 * second ? 1 : 0)} s`
    const why = reported === '' ? happened : `${happened} (${reported})`
    stderr.write(`Query service ${redactUrl(url)}: ${why}; retrying in ${wait}${count}\n`)
  }
}

const nothing = (): void => undefined

type FetchOptions = ServiceOptions & { readonly quiet?: true; readonly output?: string }

/** What a command fetches pages with. */
export interface Fetching extends Required<Pick<RunOptions, 'signal' | 'onProgress'>> {
  readonly client: QueryClient
  /** The address of the service, which identifies the chain of a checkpoint. */
  readonly url: string
  readonly clock: Clock
  readonly show: (text: string) => void
  readonly endProgress: () => void
}

interface FetchCommand {
  /** The file that no other run on this host may use at the same time. */
  readonly checkpoint: string | undefined
  /** Returns the exit code; undefined if it was interrupted. */
  readonly run: (fetching: Fetching) => Promise<ExitCode | undefined>
  readonly exitInterrupted: (error?: unknown) => Promise<void> | void
}

/** Runs a command that fetches pages, and shows its progress and its retries. */
export const fetchPages = async (context: CommandContext<FetchOptions>, command: FetchCommand): Promise<void> => {
  const { io, exit, options } = context
  const { checkpoint } = command
  const { url, output, quiet } = options
  const progress = createProgress(io)
  const progressLine = createProgressLine(io.clock)
  const show = (text: string): void => {
    if (!quiet) progress.show(text)
  }
  const run = async (): Promise<ExitCode | undefined> =>
    command.run({
      client: await openService(options, { ...io, onRetry: createRetryReporter(io, url, progress.end) }),
      url,
      clock: io.clock,
      signal: io.signal,
      show,
      endProgress: progress.end,
      onProgress: (now) => show(progressLine(now)),
    })
  try {
    if (output !== undefined) await checkWritable(output)
    const code = await (checkpoint === undefined ? run() : withCheckpointLocked(checkpoint, run))
    progress.end()
    if (code === undefined) await command.exitInterrupted()
    else exit(code)
  } catch (error) {
    progress.end()
    if (io.signal.aborted) await command.exitInterrupted(error)
    else await exitWithError(context, error, checkpoint)
  }
}

/** 1 for the other kinds. */
const EXIT_CODES: Readonly<Partial<Record<QueryErrorKind, ExitCode>>> = { auth: 3, protocol: 5, 'no-progress': 5 }

/**
 * Prints an error of the client or the ledger and exits with its code; throws any other error. A ConfigError of the
 * client is an error in the options of the command. The checkpoint file of the run may not exist.
 */
export const exitWithError = async (
  { io, exit }: { readonly io: Pick<Io, 'stderr'>; readonly exit: (code: ExitCode) => void },
  thrown: unknown,
  checkpoint?: string,
): Promise<void> => {
  const error = asError(thrown)
  if (error instanceof ConfigError) throw new UsageError(error.message, { cause: error })
  if (!(error instanceof QueryError || error instanceof StandardError)) throw error
  io.stderr.write(`${error.message}\n`)
  // A rejected request would be rejected again.
  if (error instanceof QueryError && !['fatal', 'pruned'].includes(error.kind)) await printResumeHint(io, checkpoint)
  exit(error instanceof QueryError ? (EXIT_CODES[error.kind] ?? 1) : 2)
}

/** Prints how to resume, if the checkpoint file exists. */
export const printResumeHint = async (io: Pick<Io, 'stderr'>, checkpoint: string | undefined): Promise<void> => {
  if (checkpoint === undefined || !(await exists(checkpoint))) return
  io.stderr.write(`The checkpoint is in ${checkpoint}. Run the same command with --resume to continue.\n`)
}

/**
 * The service returned no hashes that prove that the pages near the head are of one chain: a reorg between two of them
 * would mix two histories.
 */
export const UNGUARDED = `Unproven: the service returns no block hashes, and a reorg may still replace the last blocks. Run the command again in a few minutes, or with --to-block ${UNSETTLED_BLOCKS} below the height.`

/** Logs that the service returned although the query did not request them; false if there are none. */
export const unrequestedNote = (count: number): string | false =>
  count > 0 &&
  `Left out: ${count} logs of another contract or with other topics, which were not requested. A service that returns such logs may also lack requested ones: report it to its operator.`

/** Limitations of the result of a complete run, one sentence each. */
export const notesOfRun = ({ target, toBlock, stats }: RunResult, unrequested: number): readonly string[] => {
  const notes = [
    unrequestedNote(unrequested),
    toBlock !== null &&
      toBlock > target &&
      `Through block ${target}, not ${toBlock}: the service has no later block yet.`,
    stats.unguarded > 0 && UNGUARDED,
  ]
  return notes.filter((note) => note !== false)
}
