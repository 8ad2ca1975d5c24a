import { z } from 'zod'
import type { Clock } from '../../src/core/clock.ts'
import { SourceError } from '../../src/core/errors.ts'
import { fingerprint } from '../../src/core/hash.ts'
import { isObject, tryJson } from '../../src/core/json.ts'
import { readWhole, removeFile, replaceFile } from '../../src/sources/durable.ts'
import { withLock } from '../../src/sources/lock.ts'
import { QueryError } from './errors.ts'
import {
  type LogQuery,
  type Page,
  type QueryClient,
  type RunOptions,
  type RunResult,
  UNSETTLED_BLOCKS,
} from './types.ts'

/** The options of a run, each as a fingerprint, because an address may contain a key. */
type RunIdentity = Readonly<Record<string, string>>

export const identityOf = (parts: Readonly<Record<string, unknown>>): RunIdentity =>
  Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, fingerprint(JSON.stringify(part ?? null))]))

/** Another one after each change of the point, of the state of a ledger, or of what a ledger counts. */
const VERSION = 3
const count = z.int().nonnegative()
/** Where a run resumes. */
const pointSchema = z
  .object({
    /** The last block of the run, determined at its start. */
    target: count,
    /** The first block that has not been read. */
    next: count,
    /** The block before `next` and its hash, if known: the next page must be of the same chain. */
    last: z.object({ block: count, hash: z.string() }).nullable(),
    /**
     * The complete part of the output with the fingerprint of its bytes, and the number of logs that were left out,
     * because the query did not request them; null if the output is written at the end.
     */
    output: z.object({ bytes: count, fingerprint: z.string(), logs: count, unrequested: count }).nullable(),
  })
  .refine(({ target, next, last }) => next <= target + 1 && (last === null || last.block === next - 1))
const headSchema = z.object({
  identity: z.record(z.string(), z.string()),
  mark: pointSchema,
})

export type ResumePoint = z.output<typeof pointSchema>
export type CheckpointFile = ReturnType<typeof openCheckpoint>

const NO_PAYLOAD = new Uint8Array()
const LINE_END = 0x0a

/**
 * The file is a line of JSON, a line with the fingerprint of everything else, and the state that the run needs. It
 * contains no key and no address.
 */
export const openCheckpoint = (file: string, identity: RunIdentity) => ({
  /** Undefined if the file does not exist. Throws a SourceError if it is damaged or of another run. */
  read: async () => {
    const bytes = await readWhole(file)
    if (!bytes) return undefined
    const { head, payload, isIntact } = partsOf(bytes)
    const parsed = tryJson(Buffer.from(head).toString())
    if (isIntact && isObject(parsed) && parsed['version'] !== VERSION) {
      throw unusable(file, 'another version of this program wrote it')
    }
    const checked = headSchema.safeParse(parsed).data
    if (!isIntact || !checked) {
      throw unusable(file, 'it is damaged: it was changed or truncated', 'remove it to start again')
    }
    const differing = [...new Set([...Object.keys(checked.identity), ...Object.keys(identity)])].filter(
      (part) => checked.identity[part] !== identity[part],
    )
    if (differing.length > 0) {
      throw unusable(file, `it is of a run with other options: ${differing.join(', ')}`)
    }
    return { mark: checked.mark, payload }
  },
  write: async (mark: ResumePoint, payload: Uint8Array = NO_PAYLOAD): Promise<void> => {
    const head = Buffer.from(`${JSON.stringify({ version: VERSION, identity, mark })}\n`)
    await replaceFile(file, [head, Buffer.from(`${fingerprint(head, payload)}\n`), payload])
  },
  remove: () => removeFile(file),
})

const partsOf = (bytes: Uint8Array) => {
  const headEnd = bytes.indexOf(LINE_END) + 1
  const markEnd = bytes.indexOf(LINE_END, headEnd) + 1
  const head = bytes.subarray(0, headEnd)
  const payload = bytes.subarray(markEnd)
  const stored = Buffer.from(bytes.subarray(headEnd, markEnd)).toString('latin1')
  return { head, payload, isIntact: stored === `${fingerprint(head, payload)}\n` }
}

export const checkpointOf = (file: string): string => `${file}.checkpoint`

/** Runs `work` while no other run on this host can use the checkpoint file. Throws a SourceError if one does. */
export const withCheckpointLocked = <T>(file: string, work: () => Promise<T>): Promise<T> =>
  // Only Linux has such locks.
  process.platform === 'linux'
    ? withLock([file], { doing: `use ${file}`, taken: 'another run of chain-agent is using it' }, work)
    : work()

export const unusable = (
  file: string,
  happened: string,
  advice = 'use the same options as in the first run, or remove the file to start again',
): SourceError => new SourceError({ doing: `resume from ${file}`, happened, advice })

/** Starting again must be explicit: the earlier run may have taken hours. */
export const unfinishedRun = (file: string): SourceError =>
  new SourceError({
    doing: 'start',
    happened: `${file} exists: an earlier run was not finished`,
    advice: 'resume it with --resume, or remove the file to start again',
  })

/** Writing may take one twentieth of the time. */
const INTERVAL_FACTOR = 20

type PageEnd = Pick<Page, 'next' | 'last'>

interface ScheduleOptions {
  readonly clock: Clock
  /** The service's height when the run began. */
  readonly height: number
  /** Writes the point together with the state at the time of the call. */
  readonly write: (point: ResumePoint) => Promise<void>
}

export const createCheckpointSchedule = ({ clock, height, write }: ScheduleOptions) => {
  let pending: ResumePoint | undefined
  let nextWriteAt = 0
  // Blocks that a reorg may replace are no resume point, unless a hash identifies them.
  const isSettled = ({ next, last }: PageEnd): boolean =>
    next <= height - UNSETTLED_BLOCKS + 1 || (last ?? null) !== null
  /** Writes the last settled point if it has not been written. */
  const flush = async (): Promise<void> => {
    if (!pending) return
    const before = clock.elapsed()
    await write(pending)
    pending = undefined
    const after = clock.elapsed()
    nextWriteAt = after + (after - before) * INTERVAL_FACTOR
  }
  return {
    /** Call before a page is applied: writes the last settled point if the page is not settled, while the state still matches it. */
    beforePage: async (page: PageEnd): Promise<void> => {
      if (!isSettled(page)) await flush()
    },
    afterPage: async (point: ResumePoint): Promise<void> => {
      if (!isSettled(point)) return
      pending = point
      if (clock.elapsed() >= nextWriteAt) await flush()
    },
    flush,
    /** Discards the last settled point, after a reorg. */
    discard: (): void => {
      pending = undefined
    },
  }
}

interface ResumableRun extends Pick<RunOptions, 'signal' | 'onProgress'> {
  readonly client: QueryClient
  readonly clock: Clock
  readonly query: Omit<LogQuery, 'toBlock'>
  /** The last block of the run, even if the service has fewer blocks now. */
  readonly target: number
  /** The service's height now. */
  readonly height: number
  /** Undefined: no run can be resumed. */
  readonly checkpoint: CheckpointFile | undefined
  /** Where the earlier run ended. */
  readonly point: ResumePoint | undefined
  /** The state after the last page. */
  readonly payload?: () => Uint8Array
  /** Applies a page. Returns what the checkpoint has of the output. */
  readonly page: (page: Page) => ResumePoint['output'] | Promise<ResumePoint['output']>
  /** Discards all pages so far. */
  readonly reset: () => Promise<void> | void
}

/** Fetches the logs, with checkpoints from which a later run resumes. Throws the errors of the client, of the sink and of the checkpoint. */
export const runResumable = async (options: ResumableRun): Promise<RunResult> => {
  const { client, query, target, checkpoint, point, payload, signal, onProgress } = options
  const write = async (mark: ResumePoint): Promise<void> => checkpoint?.write(mark, payload?.())
  const schedule = createCheckpointSchedule({ ...options, write })
  const sink = {
    page: async (page: Page) => {
      await schedule.beforePage(page)
      const output = await options.page(page)
      await schedule.afterPage({ target, next: page.next, last: page.last ?? null, output })
    },
    reset: async () => {
      schedule.discard()
      await checkpoint?.remove()
      await options.reset()
    },
  }
  const resumed = point && { from: point.next, after: point.last }
  const run = await client
    .run({ ...query, toBlock: target }, sink, { signal, onProgress, ...resumed })
    .catch(async (error: unknown) => {
      // The error of the query is more important than an error of the checkpoint.
      await schedule.flush().catch(() => undefined)
      throw error
    })
  await schedule.flush()
  if (signal.aborted || run.through >= target) return run
  throw new QueryError('no-data', {
    doing: 'finish the run',
    happened: 'the service has fewer blocks now than at its start',
    evidence: `the last block of the run is ${target}`,
    advice: 'retry once the service has that block',
  })
}
