import { Command } from 'commander'
import { SourceError } from '../../core/errors.ts'
import { QueryError } from '../../query/client/errors.ts'
import type { Retry } from '../../query/client/types.ts'
import { rebuildBalances, type Rebuilt, type Token } from './balances.ts'
import { type Verified, verifyBalances } from './verify.ts'
import { checkOutput, checkpointOf, isKept } from '../query/output.ts'
import { openService } from '../query/service.ts'
import { standardOf } from '../../tokens/signatures.ts'
import { balancesOptions, type Options } from './options.ts'
import { show } from './show.ts'
import { loadFor } from '../../cli/config-options.ts'
import { type ExitCode, type Io, READER_GONE } from '../../cli/io.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { CODES_NOTE, endWith, sayHowToGoOn } from '../query/ending.ts'
import { createPace } from '../query/pace.ts'
import { createRetryNotices } from '../query/retry-notices.ts'
import { serviceOf } from '../query/service-options.ts'

type Exit = (code: ExitCode) => void

/** `chain-agent balances`: who holds a token, from its events. */
export const balancesCommand = (io: Io, exit: Exit): Command =>
  balancesOptions(new Command('balances'))
    .description('rebuild who holds a token, from its events')
    .addHelpText(
      'after',
      `
Balances are exact integers, in the token's smallest unit; --decimals adds amounts. The zero address is no holder,
and burned tokens are left out. Partial, hybrid and non-conserving histories are marked, in JSON and on standard
error. What is not complete is written as JSON or table alone, with its mark, and into FILE.partial in the place of
FILE: CSV has no room for a mark.

${CODES_NOTE}
Besides: 1 where --verify finds a difference, or could ask for no holder; 4 what was written is not all, and says so.

Examples:
  chain-agent balances --url https://query.example --standard erc20 --token 0x1111111111111111111111111111111111111111
  chain-agent balances --url https://query.example --standard erc721 --token 0x1111111111111111111111111111111111111111 --format csv -o holders.csv --resume
  chain-agent balances --url https://query.example --standard erc20 --token 0x1111111111111111111111111111111111111111 --decimals 18 --verify 20 --format json`,
    )
    .action(async (options: Options, command: Command) => {
      const wrong = mistakeIn(options)
      if (wrong !== undefined) command.error(`error: ${wrong}`)
      const { standard, token: contract, profile = null, output, checkpoint } = options
      const token = { standard, contract, profile }
      const file = checkpoint ?? (output === undefined ? undefined : checkpointOf(output))
      const rpcUrl = rpcOf(io, options)
      const progress = createProgress(io)
      const say = (text: string): void => {
        if (!options.quiet) progress.show(text)
      }
      try {
        if (output !== undefined) await checkOutput(output)
        const notice = createRetryNotices(io, options.url)
        const onRetry = (retry: Retry): void => {
          progress.end()
          notice(retry)
        }
        const rebuilt = await rebuild({ io, options, token, file, say, onRetry })
        if (!rebuilt) {
          await interrupted(io, exit, { file })
          return
        }
        if (options.verify !== undefined) say('Asking the contract')
        const verified = await verify({ io, token, rebuilt, sample: options.verify, rpcUrl })
        progress.end()
        const { decimals = null, checksum = false } = options
        await show(io, options, { token, rebuilt, verified, decimals, checksum })
        if (rebuilt.complete) await rebuilt.forget()
        else await sayHowToGoOn(io, file)
        exit(rebuilt.complete ? (isBorneOut(verified) ? 0 : 1) : 4)
      } catch (error) {
        progress.end()
        if (io.signal.aborted) await interrupted(io, exit, { file, error })
        else await endWith(io, exit, { thrown: error, checkpoint: file })
      } finally {
        progress.end()
      }
    })

/** What was asked for and could not be told bears nothing out. */
const isBorneOut = (verified: Verified | null): boolean => {
  if (!verified) return true
  const { asked, equal, different, supply } = verified
  return different.length === 0 && supply?.ours === supply?.theirs && (asked === 0 || equal > 0)
}

const mistakeIn = (options: Options): string | undefined => {
  const {
    fromBlock = 0,
    toBlock = Infinity,
    resume,
    checkpoint,
    output,
    rpc,
    verify: sample,
  } = options
  const { profile, standard } = options
  // Who owns a token now does not depend on what was before.
  if (sample !== undefined && fromBlock > 0 && standard !== 'erc721') {
    return '--verify compares balances, and with --from-block they are changes alone: leave one of them out'
  }
  if (options.createdIn !== undefined && options.fromBlock !== undefined) {
    return '--created-in says that nothing was before that block, --from-block leaves out what was: one of them'
  }
  if (toBlock < (options.createdIn ?? fromBlock)) return 'the last block is before the first'
  if (resume && checkpoint === undefined && output === undefined) {
    return '--resume goes on from a checkpoint: --checkpoint or --output'
  }
  if (rpc !== undefined && sample === undefined) return '--rpc is for --verify'
  if (profile !== undefined && standardOf(profile) !== standard) {
    return `the profile ${profile} is of --standard ${standardOf(profile)}`
  }
  return undefined
}

/** Null where nobody is to be asked. */
const rpcOf = (io: Io, { verify: sample, rpc }: Options): string | null => {
  if (sample === undefined) return null
  return rpc ?? loadFor(io, undefined).config.rpc.url
}

interface Asked {
  readonly io: Io
  readonly options: Options
  readonly token: Token
  readonly file: string | undefined
  readonly say: (text: string) => void
  readonly onRetry: (retry: Retry) => void
}

const rebuild = async (asked: Asked): Promise<Rebuilt | undefined> => {
  const { io, options, token, file, say, onRetry } = asked
  const pace = createPace(io.clock)
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
      say(pace(now))
    },
  })
}

interface ToVerify extends Pick<Asked, 'io' | 'token'> {
  readonly rebuilt: Rebuilt
  readonly sample: number | undefined
  readonly rpcUrl: string | null
}

const verify = async (asked: ToVerify): Promise<Verified | null> => {
  const { io, token, rebuilt, sample, rpcUrl } = asked
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

interface Broken {
  readonly file: string | undefined
  readonly error?: unknown
}

const interrupted = async (io: Io, exit: Exit, { file, error }: Broken): Promise<void> => {
  if (io.signal.reason === READER_GONE) {
    exit(0)
    return
  }
  // What was broken off is none; that the checkpoint could not be written is one.
  if (error instanceof SourceError && !(error instanceof QueryError)) {
    io.stderr.write(`${error.message}\n`)
  }
  io.stderr.write(
    file === undefined
      ? 'Interrupted; nothing was written. With --checkpoint FILE it could be gone on with.\n'
      : (await isKept(file))
        ? `Interrupted; the checkpoint is kept in ${file}. The same command with --resume goes on.\n`
        : 'Interrupted; nothing was written, and there is no checkpoint to go on from yet.\n',
  )
  exit(130)
}
