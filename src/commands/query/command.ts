import { readFile } from 'node:fs/promises'
import { Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { excerpt, SourceError } from '../../core/errors.ts'
import { describeFileError } from '../../core/file-errors.ts'
import { closestMatch } from '../../core/suggest.ts'
import type { LogQuery } from '../../query/client/types.ts'
import { LOG_FIELDS, type LogField } from '../../query/log-fields.ts'
import { fetchLogs } from './fetch-logs.ts'
import {
  checkpointOf,
  createProgressLine,
  createRetryReporter,
  EXIT_CODES_NOTE,
  exitWithError,
  notesOfRun,
} from './report.ts'
import { type ExitCode, type Io, isInterrupted, READER_GONE, UsageError, writeAll } from '../../cli/io.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { createRowRenderer, type RowFormat } from './rows.ts'
import {
  openService,
  readAddress,
  readBlock,
  readTopic,
  serviceOf,
  type ServiceOptions,
  serviceOptions,
  type Topics,
} from './service.ts'
import { asError } from '../../core/outcome.ts'

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
const NONE: readonly string[] = []
const NO_TOPICS: Topics = []

/** `chain-agent query`: prints event logs, one row per log. */
export const queryCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  serviceOptions(new Command('query'))
    .option(
      '--address <address>',
      'logs of this contract; repeatable; default: all contracts',
      (text: string, before: readonly string[]) => [...before, readAddress(text)],
      NONE,
    )
    .option(
      '--topic <topics>',
      '[POSITION:]VALUE[,VALUE]: a topic, an address or an event signature; repeatable',
      readTopic,
      NO_TOPICS,
    )
    .option('--fields <fields>', `fields of a row: ${LOG_FIELDS.join(', ')}`, readFields)
    .option('--from-block <number>', 'first block; default 0', readBlock)
    .option('--to-block <number>', 'last block; default: the height of the service', readBlock)
    .option(
      '--query <file>',
      'file with the body of POST /query, instead of the other options; its to_block is the last block',
    )
    .addOption(new Option('--format <format>', 'format of a row').choices(['ndjson', 'csv']).default('ndjson'))
    .option('-o, --output <file>', 'output file; it is created when the run is complete')
    .option('--resume', 'resume an earlier run with the same --output')
    .option('-q, --quiet', 'do not print the progress')
    .addHelpText(
      'after',
      `
Rows are ordered by block and log index, each log once, and always have these two fields. Several --topic values
for one position are alternatives; a log must match every position that is given. Until the run is complete, the
output is in FILE.partial and the state for --resume in FILE.checkpoint; neither contains the API key.

${EXIT_CODES_NOTE}

Examples:
  chain-agent query --url https://query.example --address 0x1111111111111111111111111111111111111111
  chain-agent query --url https://query.example --topic 'Transfer(address,address,uint256)' --from-block 1000
  chain-agent query --url https://query.example --topic 2:0x2222222222222222222222222222222222222222
  chain-agent query --url https://query.example --query body.json --format csv --output logs.csv --resume`,
    )
    .action(async (options: QueryOptions, command: Command) => {
      const { output, resume = false, format } = options
      if (resume && output === undefined) command.error('error: --resume requires --output')
      const query = await queryOf(options, command)
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
        const { run, logs } = await fetchLogs({
          client,
          ...createRowRenderer(query.fields, { format, redact: client.redact }),
          url: options.url,
          clock: io.clock,
          signal: io.signal,
          query,
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
        for (const note of notesOfRun(run)) io.stderr.write(`${note}\n`)
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
    })

/** Throws a SourceError if standard output fails. */
const print = async (io: Io, text: string): Promise<void> => {
  await writeAll(io, text)
  const lost = io.stdout.errored
  // A closed pipe is not an error: the signal ends the run.
  if (!lost || lost.message.includes('EPIPE')) return
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

const queryOf = async (options: QueryOptions, command: Command): Promise<LogQuery> => {
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

const readFields = (text: string): readonly LogField[] =>
  text.split(',').map((word) => {
    const field = LOG_FIELDS.find((one) => one === word.trim())
    if (field) return field
    const meant = closestMatch(word.trim(), LOG_FIELDS)
    throw new InvalidArgumentError(
      meant === undefined ? `the fields are: ${LOG_FIELDS.join(', ')}` : `Did you mean ${meant}?`,
    )
  })

const hex = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${digits}}$`), `expected 0x and ${digits} hex digits`)
    .transform((text) => text.toLowerCase())
const block = z.int('expected a block number').nonnegative()

const schema = z.strictObject({
  from_block: block,
  to_block: block.nullish(),
  logs: z
    .array(
      z.strictObject({
        address: z.array(hex(40)).default([]),
        topics: z
          .array(z.array(hex(64)))
          .max(4, 'expected at most four positions')
          .default([]),
      }),
    )
    .length(1, 'expected one filter: run one query for each'),
  field_selection: z.strictObject({
    log: z.array(z.enum(LOG_FIELDS, `expected fields of a log: ${LOG_FIELDS.join(', ')}`)).min(1),
  }),
})

/** Reads a query from a file with the body of POST /query. Throws a UsageError that lists every error. */
const readQueryFile = async (file: string): Promise<LogQuery> => {
  const { data, error } = schema.safeParse(await readJson(file))
  if (!data) {
    const problems = error.issues.map(({ path, message }) =>
      [file, ...(path.length > 0 ? [path.join('.')] : []), message].join(': '),
    )
    throw invalid(problems.join('\n'))
  }
  const [filter] = data.logs
  return {
    addresses: filter?.address ?? [],
    topics: filter?.topics ?? [],
    fields: data.field_selection.log,
    fromBlock: data.from_block,
    toBlock: data.to_block ?? null,
  }
}

const readJson = async (file: string): Promise<unknown> => {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(
      `${file} cannot be read: ${describeFileError(error).happened}\n  what to do: check the path after --query`,
    )
  })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`${file}: it is not JSON: ${excerpt(asError(error).message)}`)
  }
}

const invalid = (problems: string): UsageError =>
  new UsageError(
    `${problems}\n  what to do: use the format of the body of POST /query: from_block, to_block, logs with one filter, field_selection.log`,
  )
