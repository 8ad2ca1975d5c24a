import { ConfigError, SourceError } from '../../../src/core/errors.ts'
import { QueryError } from '../../client/errors.ts'
import { type BalancesReport, writeBalances } from './output.ts'
import { rebuildBalances, type RebuiltBalances, type TokenContract } from './rebuild.ts'
import { otherChainOf, verifyBalances } from './verify.ts'
import { checkpointOf } from '../../client/checkpoint.ts'
import { exists } from '../../../src/sources/durable.ts'
import { standardOf } from '../../tokens/signatures.ts'
import { type BalancesOptions, DEFAULT_SAMPLE } from './options.ts'
import { loadFor } from '../../../src/terminal/config.ts'
import { type CommandContext, type ExitCode, type Io, READER_GONE } from '../../../src/terminal/io.ts'
import { type Fetching, fetchPages, printResumeHint } from '../query/report.ts'

export const computeBalances = async (context: CommandContext<BalancesOptions>): Promise<void> => {
  const { io, options, command } = context
  const problem = conflictIn(options)
  if (problem !== undefined) command.error(`error: ${problem}`)
  const { standard, token: contract, profile = null, output, checkpoint } = options
  const token = { standard, contract, profile }
  const file = checkpoint ?? (output === undefined ? undefined : checkpointOf(output))
  const plan = verifyPlanOf(io, options)
  const run = async ({ show, endProgress, ...fetching }: Fetching): Promise<ExitCode | undefined> => {
    const rebuilt = await rebuildBalances({
      ...fetching,
      ...token,
      fromBlock: options.createdIn ?? options.fromBlock ?? null,
      fullHistory: (options.fromBlock ?? 0) === 0,
      toBlock: options.toBlock ?? null,
      checkpoint: file === undefined ? null : { file, resume: options.resume ?? false },
    })
    if (!rebuilt) return undefined
    if (plan !== null) show('Comparing with the contract')
    const verified = await verify(io, { token, rebuilt }, plan)
    endProgress()
    const { decimals = null, checksum = false } = options
    await writeBalances(io, options, { token, rebuilt, ...verified, decimals, checksum })
    if (rebuilt.complete) await rebuilt.removeCheckpoint()
    else await printResumeHint(io, file)
    return rebuilt.complete ? (isVerified(verified, plan) ? 0 : 1) : 4
  }
  const exitStopped = (error?: unknown) => exitInterrupted(context, file, error)
  await fetchPages(context, { checkpoint: file, run, exitInterrupted: exitStopped })
}

/** Without --verify only a different balance counts: a contract may count its supply in another way. */
const isVerified = ({ verified }: Verified, plan: VerifyPlan): boolean => {
  if (!verified || plan?.isRequested === false) return (verified?.different ?? []).length === 0
  const { asked, equal, different, supply } = verified
  return different.length === 0 && supply?.ours === supply?.theirs && (asked === 0 || equal > 0)
}

const conflictIn = (options: BalancesOptions): string | undefined => {
  const { fromBlock = 0, toBlock = Infinity, resume, checkpoint, output, verify: sample = 0 } = options
  const { profile, standard } = options
  // The owner of a token does not depend on the history before.
  if (sample > 0 && fromBlock > 0 && standard !== 'erc721') {
    return '--verify cannot be combined with --from-block, which makes the balances partial'
  }
  if (options.createdIn !== undefined && options.fromBlock !== undefined) {
    return '--created-in cannot be combined with --from-block'
  }
  if (toBlock < (options.createdIn ?? fromBlock)) return 'the last block is before the first'
  if (resume && checkpoint === undefined && output === undefined) {
    return '--resume requires --checkpoint or --output'
  }
  if (profile !== undefined && standardOf(profile) !== standard) {
    return `the profile ${profile} requires --standard ${standardOf(profile)}`
  }
  return undefined
}

type VerifyPlan = ReturnType<typeof verifyPlanOf>

/** Null if no RPC is configured, or with `--verify 0`. */
const verifyPlanOf = (io: Io, { verify: sample, rpc }: BalancesOptions) => {
  if (sample === 0) return null
  /** Whether --verify was given. */
  const isRequested = sample !== undefined
  const rpcUrl = rpc ?? (isRequested ? loadFor(io, undefined).config.rpc.url : configuredRpcOf(io))
  return rpcUrl === undefined ? null : { sample: sample ?? DEFAULT_SAMPLE, rpcUrl, isRequested }
}

/** Undefined without a configuration, or if this user cannot read it. */
const configuredRpcOf = (io: Io): string | undefined => {
  try {
    const { config, settings } = loadFor(io, undefined)
    return settings.some(({ origin }) => origin !== 'default') ? config.rpc.url : undefined
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

type Verified = Pick<BalancesReport, 'verified' | 'unverified'>

const verify = async (
  io: Io,
  { token, rebuilt }: Pick<BalancesReport, 'token' | 'rebuilt'>,
  plan: VerifyPlan,
): Promise<Verified> => {
  if (plan === null) return { verified: null, unverified: '' }
  const { sample, rpcUrl, isRequested } = plan
  const options = {
    ...token,
    ledger: rebuilt.ledger,
    sample,
    rpcUrl,
    block: rebuilt.through,
    clock: io.clock,
    signal: io.signal,
    ...io.overrides,
  }
  const obstacle = isRequested ? undefined : (obstacleIn(rebuilt, token) ?? (await otherChainOf(rebuilt.last, options)))
  if (obstacle !== undefined) return { verified: null, unverified: obstacle }
  const verified = await verifyBalances(options)
  const isCompared = verified.equal + verified.different.length > 0 || verified.supply !== null
  return { verified, unverified: isCompared ? null : (verified.why ?? 'there is no holder to check') }
}

/** Why a comparison would prove nothing. */
const obstacleIn = ({ complete, ledger }: RebuiltBalances, { standard }: TokenContract): string | undefined => {
  if (!complete) return 'they are not complete'
  if (ledger.nonConserving) return 'its events do not explain the balances'
  return ledger.partial && standard !== 'erc721' ? 'they are partial' : undefined
}

const exitInterrupted = async (
  { io, exit }: CommandContext<BalancesOptions>,
  file: string | undefined,
  error?: unknown,
): Promise<void> => {
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
