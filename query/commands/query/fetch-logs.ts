import type { Clock } from '../../../src/core/clock.ts'
import { QueryError } from '../../client/errors.ts'
import type { LogQuery, Page, Progress, QueryClient, RunResult } from '../../client/types.ts'
import { openPartialFile, partialBytes, partialPath } from '../../../src/sources/durable.ts'
import {
  type CheckpointFile,
  createCheckpointSchedule,
  heightDecreased,
  identityOf,
  openCheckpoint,
  unfinishedRun,
} from '../../client/checkpoint.ts'
import { checkOutput, checkpointOf } from './output.ts'

interface FetchLogsOptions {
  readonly client: QueryClient
  /** The address of the service, which identifies the chain of a checkpoint. */
  readonly url: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly query: LogQuery
  /** Written before the first row. */
  readonly head: string
  /** Renders the rows of a page. */
  readonly render: (page: Page) => { readonly text: string; readonly rows: number }
  /** A file that grows with each page, or a function that receives the text. */
  readonly output: { readonly file: string; readonly resume: boolean } | { send(text: string): Promise<void> }
  readonly onProgress: (progress: Progress) => void
}

export interface FetchedLogs {
  readonly run: RunResult
  /** The number of logs, including earlier runs that were resumed. */
  readonly logs: number
}

/** Fetches the logs page by page. Throws the errors of the client, and a SourceError for the file. */
export const fetchLogs = async (options: FetchLogsOptions): Promise<FetchedLogs> => {
  const { output } = options
  return 'file' in output ? fetchToFile(options, output) : fetchToStream(options, output)
}

const fetchToStream = async (options: FetchLogsOptions, { send }: { send(text: string): Promise<void> }) => {
  const { client, query, head, render, signal, onProgress } = options
  let logs = 0
  await send(head)
  const run = await client.run(
    query,
    {
      page: async (page) => {
        const { text, rows } = render(page)
        await send(text)
        logs += rows
      },
      reset: () => {
        if (logs > 0) throw printedBlocksReplaced
      },
    },
    { signal, onProgress },
  )
  return { run, logs }
}

const printedBlocksReplaced = new QueryError('protocol', {
  doing: 'continue the query',
  happened: 'a reorg replaced blocks that have been printed',
  advice: 'run the query again; with --output the file is rewritten automatically',
})

const fetchToFile = async (
  options: FetchLogsOptions,
  { file, resume }: { readonly file: string; readonly resume: boolean },
): Promise<FetchedLogs> => {
  const { client, url, clock, signal, head, render, onProgress } = options
  const checkpoint = openCheckpoint(checkpointOf(file), identityOf({ service: url, head, ...options.query }))
  await checkOutput(file)
  const height = await client.height(signal)
  const point = await resumePointOf(file, checkpoint, resume)
  const target = point?.target ?? Math.min(options.query.toBlock ?? height, height)
  let logs = point?.logs ?? 0
  let offset = point?.offset ?? 0
  // A run that was killed after its last step may have left a checkpoint.
  if (!point) await checkpoint.remove()
  const growing = await openPartialFile(file, offset)
  const schedule = createCheckpointSchedule({
    clock,
    height,
    isEager: true,
    write: checkpoint.write,
  })
  try {
    if (!point) await growing.append(head)
    const run = await client.run(
      { ...options.query, toBlock: target },
      {
        page: async (page) => {
          const { text, rows } = render(page)
          await growing.append(text)
          offset = await growing.sync()
          logs += rows
          await schedule.afterPage({
            target,
            next: page.next,
            last: page.last ?? null,
            logs,
            offset,
          })
        },
        reset: async () => {
          schedule.discard()
          await checkpoint.remove()
          await growing.clear()
          await growing.append(head)
          logs = 0
        },
      },
      { signal, onProgress, ...(point && { from: point.next, after: point.last }) },
    )
    if (!run.complete || signal.aborted) {
      await growing.close()
      return { run, logs }
    }
    if (run.through < target) throw heightDecreased(target)
    await growing.finish()
    await checkpoint.remove()
    return { run, logs }
  } catch (error) {
    await growing.close().catch(() => undefined)
    throw error
  }
}

/** Undefined for a new run. Throws a SourceError if an earlier run exists that cannot be resumed, or without --resume. */
const resumePointOf = async (file: string, checkpoint: CheckpointFile, resume: boolean) => {
  const written = await partialBytes(file)
  if (written === undefined) return undefined
  if (!resume) throw unfinishedRun(partialPath(file))
  const found = await checkpoint.read()
  // The earlier run ended before its first page.
  if (!found) return undefined
  if (written >= found.mark.offset) return found.mark
  throw tooShort(partialPath(file))
}

const tooShort = (file: string): QueryError =>
  new QueryError('fatal', {
    doing: `resume ${file}`,
    happened: 'it is shorter than at its last checkpoint',
    advice: 'remove it to start again',
  })
