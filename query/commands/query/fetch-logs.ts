import type { Clock } from '../../../src/core/clock.ts'
import { createFingerprint } from '../../../src/core/hash.ts'
import { QueryError } from '../../client/errors.ts'
import type { LogQuery, Page, Progress, QueryClient, RunResult } from '../../client/types.ts'
import {
  openPartialFile,
  partialBytes,
  type PartialFile,
  partialPath,
  readPartial,
} from '../../../src/sources/durable.ts'
import {
  type CheckpointFile,
  createCheckpointSchedule,
  heightDecreased,
  identityOf,
  openCheckpoint,
  unfinishedRun,
  unusable,
} from '../../client/checkpoint.ts'
import { checkOutput, checkpointOf, withCheckpointLocked } from './output.ts'
import type { RenderedPage } from './rows.ts'

interface FetchLogsOptions {
  readonly client: QueryClient
  /** The address of the service, which identifies the chain of a checkpoint. */
  readonly url: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly query: LogQuery
  /** Written before the first row. */
  readonly head: string
  readonly render: (page: Page) => RenderedPage
  /** A file that grows with each page, or a function that receives the text. */
  readonly output: { readonly file: string; readonly resume: boolean } | { send(text: string): Promise<void> }
  readonly onProgress: (progress: Progress) => void
}

export interface FetchedLogs {
  readonly run: RunResult
  /** The number of logs, including earlier runs that were resumed. */
  readonly logs: number
  /** The same of those that were left out, because the query did not request them. */
  readonly unrequested: number
}

/** Fetches the logs page by page. Throws the errors of the client, and a SourceError for the file. */
export const fetchLogs = async (options: FetchLogsOptions): Promise<FetchedLogs> => {
  const { output } = options
  if (!('file' in output)) return fetchToStream(options, output)
  await checkOutput(output.file)
  return withCheckpointLocked(checkpointOf(output.file), () => fetchToFile(options, output))
}

const fetchToStream = async (options: FetchLogsOptions, { send }: { send(text: string): Promise<void> }) => {
  const { client, query, head, render, signal, onProgress } = options
  let logs = 0
  let unrequested = 0
  await send(head)
  const run = await client.run(
    query,
    {
      page: async (page) => {
        const rendered = render(page)
        await send(rendered.text)
        logs += rendered.rows
        unrequested += rendered.unrequested
      },
      reset: () => {
        if (logs > 0) throw printedBlocksReplaced
      },
    },
    { signal, onProgress },
  )
  return { run, logs, unrequested }
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
  const height = await client.height(signal)
  const written = createFingerprint()
  const point = await resumePointOf({ file, resume, checkpoint, signal }, written)
  const target = point?.target ?? Math.min(options.query.toBlock ?? height, height)
  let { logs, unrequested } = point?.output ?? { logs: 0, unrequested: 0 }
  // A run that was killed after its last step may have left a checkpoint.
  if (!point) await checkpoint.remove()
  // Created with the first page: until then there is nothing to resume.
  let growing = point && (await openPartialFile(file, point.output.bytes))
  const append = async (text: string): Promise<PartialFile> => {
    const added = growing ? text : `${head}${text}`
    growing ??= await openPartialFile(file)
    await growing.append(added)
    written.add(added)
    return growing
  }
  const schedule = createCheckpointSchedule({
    clock,
    height,
    isEager: true,
    write: checkpoint.write,
  })
  try {
    const run = await client.run(
      { ...options.query, toBlock: target },
      {
        page: async (page) => {
          const rendered = render(page)
          const bytes = await (await append(rendered.text)).sync()
          logs += rendered.rows
          unrequested += rendered.unrequested
          await schedule.afterPage({
            target,
            next: page.next,
            last: page.last ?? null,
            output: { bytes, fingerprint: written.value(), logs, unrequested },
          })
        },
        reset: async () => {
          schedule.discard()
          await checkpoint.remove()
          await growing?.discard()
          growing = undefined
          written.clear()
          logs = 0
          unrequested = 0
        },
      },
      { signal, onProgress, ...(point && { from: point.next, after: point.last }) },
    )
    if (!run.complete || signal.aborted) {
      await growing?.close()
      return { run, logs, unrequested }
    }
    if (run.through < target) throw heightDecreased(target)
    await (await append('')).finish()
    await checkpoint.remove()
    return { run, logs, unrequested }
  } catch (error) {
    await growing?.close().catch(() => undefined)
    throw error
  }
}

interface Resumed {
  readonly file: string
  readonly resume: boolean
  readonly checkpoint: CheckpointFile
  readonly signal: AbortSignal
}

/**
 * Undefined for a new run. Otherwise adds the complete part of the output to `written`. Throws a SourceError if an earlier
 * run exists that cannot be resumed, or without --resume.
 */
const resumePointOf = async (
  { file, resume, checkpoint, signal }: Resumed,
  written: ReturnType<typeof createFingerprint>,
) => {
  const size = await partialBytes(file)
  if (size === undefined) return undefined
  if (!resume) throw unfinishedRun(partialPath(file))
  const { mark } = (await checkpoint.read()) ?? {}
  // The earlier run ended before its first page.
  if (!mark?.output) return undefined
  const { output } = mark
  for await (const chunk of readPartial(file, { bytes: output.bytes, signal })) written.add(chunk)
  // What follows was written after the last checkpoint, and is written again.
  if (size >= output.bytes && written.value() === output.fingerprint) return { ...mark, output }
  throw unusable(
    partialPath(file),
    size < output.bytes ? 'it is shorter than at its last checkpoint' : 'it was changed after its last checkpoint',
    'remove it to start again',
  )
}
