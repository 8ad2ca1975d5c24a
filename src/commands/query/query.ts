import type { Clock } from '../../core/clock.ts'
import { QueryError } from '../../query/client/errors.ts'
import type { LogQuery, Page, Progress, QueryClient, RunResult } from '../../query/client/types.ts'
import { partialBytes, openPartialFile, partialPath } from '../../sources/partial-file.ts'
import {
  type CheckpointFile,
  fellBack,
  identityOf,
  openCheckpoint,
  unfinished,
} from '../../query/resume/checkpoint.ts'
import { createMarks } from '../../query/resume/marks.ts'
import { checkOutput, checkpointOf } from './output.ts'

interface Options {
  readonly client: QueryClient
  /** Of the service: a checkpoint of one chain is none of another. */
  readonly url: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly query: LogQuery
  /** What stands above the first row, and the rows of a page. */
  readonly head: string
  readonly render: (page: Page) => { readonly text: string; readonly rows: number }
  /** A file that comes into being as pages come, or whoever takes them at once. */
  readonly output:
    | { readonly file: string; readonly resume: boolean }
    | { send(text: string): Promise<void> }
  readonly onProgress: (progress: Progress) => void
}

export interface Fetched {
  readonly run: RunResult
  /** Of all runs that it took. */
  readonly logs: number
}

/** Fetches the logs, page by page, into a file or to whoever takes them. Throws what the client throws. */
export const fetchLogs = async (options: Options): Promise<Fetched> => {
  const { output } = options
  return 'file' in output ? intoFile(options, output) : onward(options, output)
}

const onward = async (options: Options, { send }: { send(text: string): Promise<void> }) => {
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
        if (logs > 0) throw takenBack
      },
    },
    { signal, onProgress },
  )
  return { run, logs }
}

const takenBack = new QueryError('protocol', {
  doing: 'go on with the query',
  happened: 'the chain was reorganised below what has been printed already: that is void',
  advice: 'ask anew; with --output the file is begun anew by itself',
})

const intoFile = async (
  options: Options,
  { file, resume }: { readonly file: string; readonly resume: boolean },
): Promise<Fetched> => {
  const { client, url, clock, signal, head, render, onProgress } = options
  const checkpoint = openCheckpoint(
    checkpointOf(file),
    identityOf({ service: url, head, ...options.query }),
  )
  await checkOutput(file)
  const height = await client.height(signal)
  const begun = await markOf(file, checkpoint, resume)
  const target = begun?.target ?? Math.min(options.query.toBlock ?? height, height)
  let logs = begun?.logs ?? 0
  let offset = begun?.offset ?? 0
  // What a run left that was killed after its last step is no checkpoint of this one.
  if (!begun) await checkpoint.remove()
  const growing = await openPartialFile(file, offset)
  const marks = createMarks({ clock, height, isEager: true, write: checkpoint.write })
  try {
    if (!begun) await growing.append(head)
    const run = await client.run(
      { ...options.query, toBlock: target },
      {
        page: async (page) => {
          const { text, rows } = render(page)
          await growing.append(text)
          offset = await growing.sync()
          logs += rows
          await marks.passed({ target, next: page.next, last: page.last ?? null, logs, offset })
        },
        reset: async () => {
          marks.forget()
          await checkpoint.remove()
          await growing.clear()
          await growing.append(head)
          logs = 0
        },
      },
      { signal, onProgress, ...(begun && { from: begun.next, after: begun.last }) },
    )
    if (!run.complete || signal.aborted) {
      await growing.close()
      return { run, logs }
    }
    if (run.through < target) throw fellBack(target)
    await growing.finish()
    await checkpoint.remove()
    return { run, logs }
  } catch (error) {
    await growing.close().catch(() => undefined)
    throw error
  }
}

/** Where to go on; undefined where nothing was begun. Throws a SourceError where what was begun is not ours to go on with. */
const markOf = async (file: string, checkpoint: CheckpointFile, resume: boolean) => {
  const begun = await partialBytes(file)
  if (begun === undefined) return undefined
  if (!resume) throw unfinished(partialPath(file))
  const found = await checkpoint.read()
  // Ended before its first page.
  if (!found) return undefined
  if (begun >= found.mark.offset) return found.mark
  throw unfinishable(partialPath(file))
}

const unfinishable = (file: string): QueryError =>
  new QueryError('fatal', {
    doing: `go on with ${file}`,
    happened: 'it is shorter than it was',
    advice: 'remove it to begin anew',
  })
