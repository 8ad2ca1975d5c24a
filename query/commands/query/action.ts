import type { Command } from 'commander'
import { describeFileError, errorCode, SourceError } from '../../../src/core/errors.ts'
import { filterFieldsOf } from '../../client/log-filter.ts'
import type { LogQuery } from '../../client/types.ts'
import type { LogField } from '../../log-fields.ts'
import { fetchLogs } from './fetch-logs.ts'
import { checkpointOf } from './output.ts'
import {
  isInterrupted,
  type ExitCode,
  type Io,
  READER_GONE,
  writeAll,
  type CommandContext,
} from '../../../src/terminal/io.ts'
import { createProgress } from '../../../src/terminal/progress.ts'
import { createProgressLine, createRetryReporter } from './progress.ts'
import { readQueryFile } from './query-file.ts'
import { exitWithError, notesOfRun } from './report.ts'
import { createRowRenderer, type RowFormat } from './rows.ts'
import { openService, serviceOf, type ServiceOptions } from './service.ts'
import type { Topics } from './topics.ts'

interface QueryOptions extends ServiceOptions {
  readonly address: readonly string[]
  readonly topic: Topics
  readonly fields?: readonly LogField[]
  readonly fromBlock?: number
  readonly toBlock?: number
  readonly query?: string
  readonly format: RowFormat
  readonly output?: string
  readonly resume?: true
  readonly quiet?: true
}

const DEFAULT_FIELDS: readonly LogField[] = [
  'block_number',
  'log_index',
  'address',
  'topic0',
  'topic1',
  'topic2',
  'topic3',
  'data',
  'removed',
]

export const queryLogs = async ({ io, exit, options, command }: CommandContext<QueryOptions>): Promise<void> => {
  const { output, resume = false, format } = options
  if (resume && output === undefined) command.error('error: --resume requires --output')
  const query = queryOf(options, command)
  const { toBlock } = query
  if (toBlock !== null && toBlock < query.fromBlock) {
    command.error('error: the last block is before the first')
  }
  const progress = createProgress(io)
  const progressLine = createProgressLine(io.clock)
  const reportRetry = createRetryReporter(io, options.url)
  try {
    const client = await openService(serviceOf(options), {
      ...io,
      onRetry: (retry) => {
        progress.end()
        reportRetry(retry)
      },
    })
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
    else {
      const checkpoint = output === undefined ? undefined : checkpointOf(output)
      await exitWithError(io, exit, { thrown: error, checkpoint })
    }
  } finally {
    progress.end()
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

const queryOf = (options: QueryOptions, command: Command): LogQuery => {
  const { query, address, topic, fields, fromBlock, toBlock } = options
  const hasOtherOptions =
    address.length + topic.length > 0 || [fields, fromBlock, toBlock].some((one) => one !== undefined)
  if (query === undefined) {
    return {
      addresses: [...new Set(address)],
      topics: topic,
      fields: fields ?? DEFAULT_FIELDS,
      fromBlock: fromBlock ?? 0,
      toBlock: toBlock ?? null,
    }
  }
  if (hasOtherOptions)
    command.error('error: --query cannot be combined with the options of the filter and the block range')
  return readQueryFile(query)
}
