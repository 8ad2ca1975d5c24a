import { Command, InvalidArgumentError, Option } from 'commander'
import { SourceError } from '../../core/errors.ts'
import { QueryError } from '../../query/client/errors.ts'
import type { Retry } from '../../query/client/types.ts'
import { writeBalances } from './output.ts'
import { rebuildBalances, type RebuiltBalances, type TokenContract } from './rebuild.ts'
import { type Verification, verifyBalances } from './verify.ts'
import {
  checkpointOf,
  createProgressLine,
  createRetryReporter,
  EXIT_CODES_NOTE,
  exitWithError,
  printResumeHint,
} from '../query/report.ts'
import { checkWritable, exists } from '../../sources/partial-file.ts'
import { standardOf } from '../../tokens/signatures.ts'
import { loadFor } from '../../cli/config-options.ts'
import { type ExitCode, type Io, READER_GONE } from '../../cli/io.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import {
  openService,
  readAddress,
  readAddressOf,
  readBlock,
  serviceOf,
  type ServiceOptions,
  serviceOptions,
} from '../query/service.ts'
import type { Profile, Standard } from '../../tokens/types.ts'

type Exit = (code: ExitCode) => void

/** `chain-agent balances`: computes the holders of a token from its events. */
export const balancesCommand = (io: Io, exit: Exit): Command =>
  balancesOptions(new Command('balances'))
    .addHelpText(
      'after',
      `
Balances are exact integers in the smallest unit of the token; --decimals adds amounts. The zero address and burned
tokens are not listed. Partial, hybrid and non-conserving histories are marked in JSON and on standard error. An
incomplete result is written only as JSON or a table, which mark it, and to FILE.partial instead of FILE; CSV
cannot mark it.

${EXIT_CODES_NOTE}
In addition: 1 --verify found a difference or could check no holder, 4 the output is incomplete and marked as such.

Examples:
  chain-agent balances --url https://query.example --standard erc20 --token 0x1111111111111111111111111111111111111111
  chain-agent balances --url https://query.example --standard erc721 --token 0x1111111111111111111111111111111111111111 --format csv -o holders.csv --resume
  chain-agent balances --url https://query.example --standard erc20 --token 0x1111111111111111111111111111111111111111 --decimals 18 --verify 20 --format json`,
    )
    .action(async (options: BalancesOptions, command: Command) => {
      const problem = conflictIn(options)
      if (problem !== undefined) command.error(`error: ${problem}`)
      const { standard, token: contract, profile = null, output, checkpoint } = options
      const token = { standard, contract, profile }
      const file = checkpoint ?? (output === undefined ? undefined : checkpointOf(output))
      const rpcUrl = rpcOf(io, options)
      const progress = createProgress(io)
      const showProgress = (text: string): void => {
        if (!options.quiet) progress.show(text)
      }
      try {
        if (output !== undefined) await checkWritable(output)
        const reportRetry = createRetryReporter(io, options.url)
        const onRetry = (retry: Retry): void => {
          progress.end()
          reportRetry(retry)
        }
        const rebuilt = await rebuild({ io, options, token, file, showProgress, onRetry })
        if (!rebuilt) {
          await exitInterrupted(io, exit, { file })
          return
        }
        if (options.verify !== undefined) showProgress('Comparing with the contract')
        const verified = await verify({ io, token, rebuilt, sample: options.verify, rpcUrl })
        progress.end()
        const { decimals = null, checksum = false } = options
        await writeBalances(io, options, { token, rebuilt, verified, decimals, checksum })
        if (rebuilt.complete) await rebuilt.removeCheckpoint()
        else await printResumeHint(io, file)
        exit(rebuilt.complete ? (isVerified(verified) ? 0 : 1) : 4)
      } catch (error) {
        progress.end()
        if (io.signal.aborted) await exitInterrupted(io, exit, { file, error })
        else await exitWithError(io, exit, { thrown: error, checkpoint: file })
      } finally {
        progress.end()
      }
    })

/** False if there was a difference, or if no holder could be checked. */
const isVerified = (verified: Verification | null): boolean => {
  if (!verified) return true
  const { asked, equal, different, supply } = verified
  return different.length === 0 && supply?.ours === supply?.theirs && (asked === 0 || equal > 0)
}

const conflictIn = (options: BalancesOptions): string | undefined => {
  const { fromBlock = 0, toBlock = Infinity, resume, checkpoint, output, rpc, verify: sample } = options
  const { profile, standard } = options
  // The owner of a token does not depend on the history before.
  if (sample !== undefined && fromBlock > 0 && standard !== 'erc721') {
    return '--verify cannot be combined with --from-block, which makes the balances partial'
  }
  if (options.createdIn !== undefined && options.fromBlock !== undefined) {
    return '--created-in cannot be combined with --from-block'
  }
  if (toBlock < (options.createdIn ?? fromBlock)) return 'the last block is before the first'
  if (resume && checkpoint === undefined && output === undefined) {
    return '--resume requires --checkpoint or --output'
  }
  if (rpc !== undefined && sample === undefined) return '--rpc requires --verify'
  if (profile !== undefined && standardOf(profile) !== standard) {
    return `the profile ${profile} requires --standard ${standardOf(profile)}`
  }
  return undefined
}

/** Null without --verify. */
const rpcOf = (io: Io, { verify: sample, rpc }: BalancesOptions): string | null => {
  if (sample === undefined) return null
  return rpc ?? loadFor(io, undefined).config.rpc.url
}

interface RebuildContext {
  readonly io: Io
  readonly options: BalancesOptions
  readonly token: TokenContract
  readonly file: string | undefined
  readonly showProgress: (text: string) => void
  readonly onRetry: (retry: Retry) => void
}

const rebuild = async (context: RebuildContext): Promise<RebuiltBalances | undefined> => {
  const { io, options, token, file, showProgress, onRetry } = context
  const progressLine = createProgressLine(io.clock)
  return rebuildBalances({
    ...token,
    client: await openService(serviceOf(options), { ...io, onRetry }),
    url: options.url,
    clock: io.clock,
    signal: io.signal,
    fromBlock: options.createdIn ?? options.fromBlock ?? null,
    fullHistory: (options.fromBlock ?? 0) === 0,
    toBlock: options.toBlock ?? null,
    checkpoint: file === undefined ? null : { file, resume: options.resume ?? false },
    onProgress: (now) => {
      showProgress(progressLine(now))
    },
  })
}

interface VerifyContext extends Pick<RebuildContext, 'io' | 'token'> {
  readonly rebuilt: RebuiltBalances
  readonly sample: number | undefined
  readonly rpcUrl: string | null
}

const verify = async (context: VerifyContext): Promise<Verification | null> => {
  const { io, token, rebuilt, sample, rpcUrl } = context
  if (sample === undefined || rpcUrl === null) return null
  return verifyBalances({
    ...token,
    ledger: rebuilt.ledger,
    sample,
    rpcUrl,
    block: rebuilt.through,
    clock: io.clock,
    signal: io.signal,
    ...io.overrides,
  })
}

interface InterruptedRun {
  readonly file: string | undefined
  readonly error?: unknown
}

const exitInterrupted = async (io: Io, exit: Exit, { file, error }: InterruptedRun): Promise<void> => {
  if (io.signal.reason === READER_GONE) {
    exit(0)
    return
  }
  // An aborted query is not an error; a checkpoint that could not be written is one.
  if (error instanceof SourceError && !(error instanceof QueryError)) {
    io.stderr.write(`${error.message}\n`)
  }
  io.stderr.write(
    file === undefined
      ? 'Interrupted; nothing was written. Use --checkpoint FILE to be able to resume.\n'
      : (await exists(file))
        ? `Interrupted; the checkpoint is in ${file}. Run the same command with --resume to continue.\n`
        : 'Interrupted; nothing was written, and there is no checkpoint yet.\n',
  )
  exit(130)
}

export interface BalancesOptions extends ServiceOptions {
  readonly standard: Standard
  readonly token: string
  readonly profile?: Profile
  readonly fromBlock?: number
  readonly createdIn?: number
  readonly toBlock?: number
  readonly decimals?: number
  readonly checksum?: true
  readonly verify?: number
  readonly rpc?: string
  readonly format: 'table' | 'csv' | 'json'
  readonly lines: number
  readonly output?: string
  readonly checkpoint?: string
  readonly resume?: true
  readonly quiet?: true
}

const balancesOptions = (command: Command): Command =>
  serviceOptions(command)
    .addOption(
      new Option('--standard <standard>', 'standard of the token')
        .choices(['erc20', 'erc721', 'erc1155'])
        .makeOptionMandatory(),
    )
    .requiredOption('--token <address>', 'contract of the token', readAddress)
    .addOption(new Option('--profile <name>', 'contract with additional transfer events').choices(['weth', 'punks']))
    .option('--from-block <number>', 'ignore the history before: the result is partial', readBlock)
    .option(
      '--created-in <number>',
      'block in which the contract was created: start there, with a full result',
      readBlock,
    )
    .option('--to-block <number>', 'last block; default: the height of the service', readBlock)
    .option('--decimals <number>', 'add amounts in units with this number of decimals', readNumber(0, 255))
    .option('--checksum', 'print addresses in the mixed case of EIP-55')
    .option(
      '--verify <number>',
      'compare this number of holders with the contract, at the last block',
      readNumber(1, 1000),
    )
    .option('--rpc <url>', 'RPC for --verify; default: the RPC of the node (rpc.url)', readAddressOf('--rpc'))
    .addOption(
      new Option('--format <format>', 'format of the output').choices(['table', 'csv', 'json']).default('table'),
    )
    .addOption(
      new Option('-n, --lines <number>', 'number of rows of the table').argParser(readNumber(1, 100_000)).default(20),
    )
    .option('-o, --output <file>', 'output file; it is created when the result is complete')
    .option('--checkpoint <file>', 'checkpoint file; default with --output: FILE.checkpoint')
    .option('--resume', 'resume from the checkpoint, if it exists')
    .option('-q, --quiet', 'do not print the progress')

const readNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= min && number <= max) return number
    throw new InvalidArgumentError(`expected a number from ${min} to ${max}`)
  }
