import { Command, InvalidArgumentError, Option } from 'commander'
import { SourceError } from '../../core/errors.ts'
import { describeFileError } from '../../core/file-errors.ts'
import { closestMatch } from '../../core/suggest.ts'
import type { LogQuery } from '../../query/client/types.ts'
import { LOG_FIELDS, type LogField } from '../../query/log-fields.ts'
import { fetchLogs } from './query.ts'
import { checkpointOf } from './output.ts'
import { openService } from './service.ts'
import { isInterrupted } from '../../cli/interrupted.ts'
import { type ExitCode, type Io, READER_GONE } from '../../cli/io.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { readBody } from './body.ts'
import { CODES_NOTE, endWith } from './ending.ts'
import { createPace } from './pace.ts'
import { createRetryNotices } from './retry-notices.ts'
import { createRows, type RowFormat } from './rows.ts'
import {
  readAddress,
  readBlock,
  type ServiceOptions,
  serviceOf,
  serviceOptions,
} from './service-options.ts'
import { readTopic, type Topics } from './topics.ts'
import { remarksOfRun } from './run-remarks.ts'
import { send } from '../../cli/terminal/send.ts'

interface Options extends ServiceOptions {
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

const FIELDS: readonly LogField[] = [
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

/** `chain-agent query`: event logs, a row each. */
export const queryCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  serviceOptions(new Command('query'))
    .description('fetch event logs from a query service, a row each')
    .option(
      '--address <address>',
      'logs of this contract; repeatable, any contract without it',
      (text: string, before: readonly string[]) => [...before, readAddress(text)],
      NONE,
    )
    .option(
      '--topic <topics>',
      '[POSITION:]VALUE[,VALUE]: a topic, an address, or the text of an event; repeatable',
      readTopic,
      NO_TOPICS,
    )
    .option('--fields <fields>', `only these: ${LOG_FIELDS.join(', ')}`, readFields)
    .option('--from-block <number>', 'the first block; 0 without it', readBlock)
    .option('--to-block <number>', "the last block; the service's height without it", readBlock)
    .option(
      '--query <file>',
      'the body of POST /query as JSON instead; its to_block is the last block',
    )
    .addOption(
      new Option('--format <format>', 'how a row is written')
        .choices(['ndjson', 'csv'])
        .default('ndjson'),
    )
    .option('-o, --output <file>', 'into this file, which is there once it is complete')
    .option('--resume', 'go on where an earlier run into the same file ended')
    .option('-q, --quiet', 'without progress')
    .addHelpText(
      'after',
      `
Rows come ordered by block and log index, each log once, with those two fields always among theirs. Values
for one position of --topic are alternatives; all positions that are named must match. Until it is complete,
the file is FILE.partial, and FILE.checkpoint beside it is where --resume goes on; neither holds the key.

${CODES_NOTE}

Examples:
  chain-agent query --url https://query.example --address 0x1111111111111111111111111111111111111111
  chain-agent query --url https://query.example --topic 'Transfer(address,address,uint256)' --from-block 1000
  chain-agent query --url https://query.example --topic 2:0x2222222222222222222222222222222222222222
  chain-agent query --url https://query.example --query body.json --format csv --output logs.csv --resume`,
    )
    .action(async (options: Options, command: Command) => {
      const { output, resume = false, format } = options
      if (resume && output === undefined)
        command.error('error: --resume goes on with a file: --output')
      const query = await queryOf(options, command)
      const { toBlock } = query
      if (toBlock !== null && toBlock < query.fromBlock) {
        command.error('error: the last block is before the first')
      }
      const progress = createProgress(io)
      const pace = createPace(io.clock)
      const notice = createRetryNotices(io, options.url)
      try {
        const client = await openService(serviceOf(options), {
          ...io,
          onRetry: (retry) => {
            progress.end()
            notice(retry)
          },
        })
        const { run, logs } = await fetchLogs({
          client,
          ...createRows(query.fields, { format, redact: client.redact }),
          url: options.url,
          clock: io.clock,
          signal: io.signal,
          query,
          output:
            output === undefined
              ? { send: async (text) => print(io, text) }
              : { file: output, resume },
          onProgress: (now) => {
            if (!options.quiet) progress.say(pace(now))
          },
        })
        progress.end()
        if (!run.complete) {
          stopped(io, exit, output)
          return
        }
        for (const remark of remarksOfRun(run)) io.stderr.write(`${remark}\n`)
        if (output !== undefined) {
          io.stderr.write(`${logs} logs through block ${run.target}, in ${output}.\n`)
        }
        exit(0)
      } catch (error) {
        progress.end()
        if (io.signal.aborted) stopped(io, exit, output)
        else {
          const checkpoint = output === undefined ? undefined : checkpointOf(output)
          await endWith(io, exit, { thrown: error, checkpoint })
        }
      } finally {
        progress.end()
      }
    })

/** Throws where nobody will ever see the rest. */
const print = async (io: Io, text: string): Promise<void> => {
  await send(io, text)
  const lost = io.stdout.errored
  // A reader that has gone away has had enough: the signal ends that.
  if (!lost || lost.message.includes('EPIPE')) return
  throw new SourceError({ doing: 'write the rows', ...describeFileError(lost) })
}

const stopped = (io: Io, exit: (code: ExitCode) => void, output: string | undefined): void => {
  if (io.signal.reason === READER_GONE || !isInterrupted(io)) {
    exit(0)
    return
  }
  io.stderr.write(
    output === undefined
      ? 'Interrupted; what was printed is not all.\n'
      : `Interrupted; ${output} is not complete. The same command with --resume goes on.\n`,
  )
  exit(130)
}

const queryOf = async (options: Options, command: Command): Promise<LogQuery> => {
  const { query, address, topic, fields, fromBlock, toBlock } = options
  const isSaid =
    address.length + topic.length > 0 ||
    [fields, fromBlock, toBlock].some((one) => one !== undefined)
  if (query === undefined) {
    return {
      addresses: [...new Set(address)],
      topics: topic,
      fields: fields ?? FIELDS,
      fromBlock: fromBlock ?? 0,
      toBlock: toBlock ?? null,
    }
  }
  if (isSaid) command.error('error: --query says all of the query; leave the other options out')
  return readBody(query)
}

const readFields = (text: string): readonly LogField[] =>
  text.split(',').map((word) => {
    const field = LOG_FIELDS.find((one) => one === word.trim())
    if (field) return field
    const meant = closestMatch(word.trim(), LOG_FIELDS)
    throw new InvalidArgumentError(
      meant === undefined ? `there are: ${LOG_FIELDS.join(', ')}` : `Did you mean ${meant}?`,
    )
  })
