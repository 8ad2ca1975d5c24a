import { describeFileError, errorCode, SourceError } from '../../../src/core/errors.ts'
import type { LogQuery, Page, Progress, QueryClient } from '../../client/types.ts'
import type { LogField } from '../../log-fields.ts'
import {
  type CommandContext,
  type ExitCode,
  InterruptedError,
  type Io,
  isInterrupted,
  READER_GONE,
  unlessInterrupted,
  writeAll,
} from '../../../src/terminal/io.ts'
import { createProgress } from '../../../src/terminal/progress.ts'
import { createProgressLine, createRetryReporter, exitWithError, notesOfRun } from './report.ts'
import { LEDGER_FIELDS } from '../../tokens/signatures.ts'
import { createRowRenderer, filterFieldsOf, type RenderedPage, type RowFormat } from './rows.ts'
import { openService, type ServiceOptions, type Topics } from './service.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { createFingerprint } from '../../../src/core/hash.ts'
import { QueryError } from '../../client/errors.ts'
import {
  checkWritable,
  openPartialFile,
  partialBytes,
  type PartialFile,
  partialPath,
  readPartial,
} from '../../../src/sources/durable.ts'
import {
  type CheckpointFile,
  checkpointOf,
  identityOf,
  openCheckpoint,
  runResumable,
  unfinishedRun,
  unusable,
  withCheckpointLocked,
} from '../../client/checkpoint.ts'

interface QueryOptions extends ServiceOptions {
  readonly address: readonly string[]
  readonly topic: Topics
  readonly fields?: readonly LogField[]
  readonly fromBlock?: number
  readonly toBlock?: number
  readonly format: RowFormat
  readonly output?: string
  readonly resume?: true
  readonly quiet?: true
  readonly height?: true
  readonly json?: true
}

export const queryLogs = async (context: CommandContext<QueryOptions>): Promise<void> => {
  const { io, exit, options, command } = context
  const { output, resume = false, format } = options
  if (options.height) {
    await printHeight(context)
    return
  }
  if (options.json) command.error('error: --json requires --height; rows are JSON unless --format csv is set')
  if (resume && output === undefined) command.error('error: --resume requires --output')
  const query = queryOf(options)
  const { toBlock } = query
  if (toBlock !== null && toBlock < query.fromBlock) {
    command.error('error: the last block is before the first')
  }
  const progress = createProgress(io)
  const progressLine = createProgressLine(io.clock)
  try {
    const client = await openService(options, { ...io, onRetry: createRetryReporter(io, options.url, progress.end) })
    const { run, logs, unrequested } = await fetchLogs({
      client,
      ...createRowRenderer({ query, format, redact: client.redact }),
      url: options.url,
      clock: io.clock,
      signal: io.signal,
      query: { ...query, fields: [...query.fields, ...filterFieldsOf(query)] },
      output: output === undefined ? { send: async (text) => print(io, text) } : { file: output, resume },
      onProgress: (now) => {
        if (!options.quiet) progress.show(progressLine(now))
      },
    })
    progress.end()
    if (!run.complete) {
      exitStopped(io, exit, output)
      return
    }
    for (const note of notesOfRun(run, unrequested)) io.stderr.write(`${note}\n`)
    if (output !== undefined) {
      io.stderr.write(`${logs} logs through block ${run.target}, in ${output}.\n`)
    }
    exit(0)
  } catch (error) {
    progress.end()
    if (io.signal.aborted) exitStopped(io, exit, output)
    else await exitWithError(context, error, output === undefined ? undefined : checkpointOf(output))
  } finally {
    progress.end()
  }
}

const printHeight = async (context: CommandContext<QueryOptions>): Promise<void> => {
  const { io, exit, options, command } = context
  const { address, topic, fields, fromBlock, toBlock, output, resume } = options
  const others = [fields, fromBlock, toBlock, output, resume].filter((value) => value !== undefined)
  if (address.length + topic.length + others.length > 0)
    command.error('error: --height fetches no logs: it cannot be combined with a filter, a block range or --output')
  try {
    const client = await openService(options, { ...io, onRetry: createRetryReporter(io, options.url) })
    const height = await unlessInterrupted(io, () => client.height(io.signal), new InterruptedError(undefined, 130))
    io.stdout.write(options.json ? `${JSON.stringify({ height })}\n` : `${height}\n`)
    exit(0)
  } catch (error) {
    await exitWithError(context, error)
  }
}

/** Throws a SourceError if standard output fails. */
const print = async (io: Io, text: string): Promise<void> => {
  await writeAll(io, text)
  const lost = io.stdout.errored
  // A closed pipe is not an error: the signal ends the run.
  if (!lost || errorCode(lost) === 'EPIPE') return
  throw new SourceError({ doing: 'write the rows', ...describeFileError(lost) })
}

const exitStopped = (io: Io, exit: (code: ExitCode) => void, output: string | undefined): void => {
  if (io.signal.reason === READER_GONE || !isInterrupted(io)) {
    exit(0)
    return
  }
  io.stderr.write(
    output === undefined
      ? 'Interrupted; the output is not complete.\n'
      : `Interrupted; ${output} is not complete. Run the same command with --resume to continue.\n`,
  )
  exit(130)
}

const queryOf = ({ address, topic, fields, fromBlock, toBlock }: QueryOptions): LogQuery => ({
  addresses: [...new Set(address)],
  topics: topic,
  fields: fields ?? LEDGER_FIELDS,
  fromBlock: fromBlock ?? 0,
  toBlock: toBlock ?? null,
})

interface OutputFile {
  readonly file: string
  readonly resume: boolean
}

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
  readonly output: OutputFile | { send(text: string): Promise<void> }
  readonly onProgress: (progress: Progress) => void
}

/** Fetches the logs page by page; counts those of earlier runs that were resumed, too. Throws the errors of the client, and a SourceError for the file. */
const fetchLogs = async (options: FetchLogsOptions) => {
  const { output } = options
  if (!('file' in output)) return fetchToStream(options, output)
  await checkWritable(output.file)
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

const fetchToFile = async (options: FetchLogsOptions, output: OutputFile) => {
  const { file } = output
  const { client, url, signal, head, render } = options
  const checkpoint = openCheckpoint(checkpointOf(file), identityOf({ service: url, head, ...options.query }))
  const height = await client.height(signal)
  const written = createFingerprint()
  const point = await resumePointOf({ output, signal }, checkpoint, written)
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
  try {
    const run = await runResumable({
      ...options,
      target,
      height,
      checkpoint,
      point,
      page: async (page) => {
        const rendered = render(page)
        const bytes = await (await append(rendered.text)).sync()
        logs += rendered.rows
        unrequested += rendered.unrequested
        return { bytes, fingerprint: written.value(), logs, unrequested }
      },
      reset: async () => {
        await growing?.discard()
        growing = undefined
        written.clear()
        logs = 0
        unrequested = 0
      },
    })
    if (!run.complete || signal.aborted) {
      await growing?.close()
      return { run, logs, unrequested }
    }
    await (await append('')).finish()
    await checkpoint.remove()
    return { run, logs, unrequested }
  } catch (error) {
    await growing?.close().catch(() => undefined)
    throw error
  }
}

/**
 * Undefined for a new run. Otherwise adds the complete part of the output to `written`. Throws a SourceError if an earlier
 * run exists that cannot be resumed, or without --resume.
 */
const resumePointOf = async (
  { output: { file, resume }, signal }: { readonly output: OutputFile; readonly signal: AbortSignal },
  checkpoint: CheckpointFile,
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
