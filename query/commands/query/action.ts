import { describeFileError, errorCode, SourceError } from '../../../src/core/errors.ts'
import type { LogQuery, Page } from '../../client/types.ts'
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
import { createRetryReporter, exitWithError, type Fetching, fetchPages, notesOfRun } from './report.ts'
import { LEDGER_FIELDS } from '../../tokens/signatures.ts'
import { createRowRenderer, filterFieldsOf, type RowFormat } from './rows.ts'
import { openService, type ServiceOptions, type Topics } from './service.ts'
import { createFingerprint } from '../../../src/core/hash.ts'
import { QueryError } from '../../client/errors.ts'
import {
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
  const fetched = { ...query, fields: [...query.fields, ...filterFieldsOf(query)] }
  await fetchPages(context, {
    checkpoint: output === undefined ? undefined : checkpointOf(output),
    exitInterrupted: () => exitStopped(io, exit, output),
    run: async (fetching) => {
      const renderer = createRowRenderer({ query, format, redact: fetching.client.redact })
      const rows = { ...fetching, ...renderer, query: fetched }
      const { run, logs, unrequested } =
        output === undefined ? await fetchToStream(rows, io) : await fetchToFile(rows, output, resume)
      fetching.endProgress()
      if (!run.complete) return undefined
      for (const note of notesOfRun(run, unrequested)) io.stderr.write(`${note}\n`)
      if (output !== undefined) io.stderr.write(`${logs} logs through block ${run.target}, in ${output}.\n`)
      return 0
    },
  })
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

interface FetchRows extends Fetching, ReturnType<typeof createRowRenderer> {
  readonly query: LogQuery
}

const fetchToStream = async ({ client, query, head, render, signal, onProgress }: FetchRows, io: Io) => {
  const count = { logs: 0, unrequested: 0 }
  const sink = {
    page: async (page: Page) => {
      const { text, rows, unrequested } = render(page)
      await print(io, text)
      count.logs += rows
      count.unrequested += unrequested
    },
    reset: () => {
      if (count.logs > 0) throw printedBlocksReplaced
    },
  }
  await print(io, head)
  return { run: await client.run(query, sink, { signal, onProgress }), ...count }
}

const printedBlocksReplaced = new QueryError('protocol', {
  doing: 'continue the query',
  happened: 'a reorg replaced blocks that have been printed',
  advice: 'run the query again; with --output the file is rewritten automatically',
})

/** Counts the logs of earlier runs that were resumed, too. Throws the errors of the client, and a SourceError for the file. */
const fetchToFile = async (options: FetchRows, file: string, resume: boolean) => {
  const { client, url, signal, head, render } = options
  const checkpoint = openCheckpoint(checkpointOf(file), identityOf({ service: url, head, ...options.query }))
  const height = await client.height(signal)
  const written = createFingerprint()
  const point = await resumePointOf({ file, resume, signal }, checkpoint, written)
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
  { file, resume, signal }: { readonly file: string; readonly resume: boolean; readonly signal: AbortSignal },
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
