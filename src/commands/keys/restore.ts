import {
  assertSameKey,
  compareKeys,
  type Comparison,
  describeMismatch,
  type KnownKeys,
  readNodePassword,
} from '../../keys/key-context.ts'
import { createStyle, type Style } from '../../cli/terminal/style.ts'
import {
  type KeyFailure,
  type KeySession,
  page,
  printResults,
  runKeyCommand,
  typeOption,
  warnOfExposure,
} from './session.ts'
import { Command } from 'commander'
import { SourceError } from '../../core/errors.ts'
import { toJson } from '../../core/json.ts'
import { KEY_TYPES, type KeyType } from '../../core/key-paths.ts'
import { asError } from '../../core/outcome.ts'
import {
  planRestore,
  type PreparedKeystore,
  prepareKeystore,
  publicKeyOf,
  replaceKeystore,
  type RestorePlan,
  type RestoreResult,
} from '../../keys/restore.ts'
import { configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { type ExitCode, type Io, UsageError } from '../../cli/io.ts'
import { confirm, requireTerminal } from '../../cli/terminal/confirm.ts'
import type { Progress } from '../../cli/terminal/progress.ts'

interface Options extends ConfigOptions {
  readonly type?: readonly KeyType[]
  readonly from?: string
  readonly identity?: string
  readonly yes?: true
  readonly dryRun?: true
  readonly whileRunning?: true
  readonly replaceIdentity?: true
  readonly json?: true
}

export const restoreCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('restore'))
    .description('restore the keystores from their backups; earlier keystores are kept as .bak')
    .addOption(typeOption(KEY_TYPES, 'which: secp, bls'))
    .option('--from <path>', 'directory with the backups, or one file; plain or encrypted with age')
    .option('--identity <file>', 'decrypts an encrypted backup: the file that age-keygen wrote')
    .option('-y, --yes', 'replace keystores without confirmation')
    .option('--dry-run', 'print what would be done, and change nothing')
    .option('--while-running', 'restore even if the consensus service is running')
    .option('--replace-identity', 'restore even if the status report of the node has another public key')
    .option('--json', 'as JSON')
    .addHelpText('after', NOTES)
    .action(async (options: Options) => {
      const types = options.type ?? KEY_TYPES
      if (!options.yes && !options.dryRun) requireTerminal(io, '--yes')
      await runKeyCommand({ io, exit, options }, async (session, progress) => {
        await assertOneType(session, types, options)
        if (!options.dryRun) await assertStopped(session, options)
        const isDry = options.dryRun === true
        warnOfExposure(
          io,
          session,
          isDry ? 'the keystore password' : 'the keystore password and the secret that is restored',
        )
        const restoring = { io, session, progress, options }
        exit(await restoreAll(restoring, types))
      })
    })

const NOTES = `
The keystore tool of the node makes the new keystores outside the node's directories, and must recover the
same key from each. Then each old keystore is kept with its time in UTC, as in id-secp.20260301121000.bak,
and the new one replaces it, with the same owner and readable only by its owner.

Before anything is replaced, the public key is compared with node.publicKey in the configuration and with
the status report of the node. A mismatch ends the command with exit code 1. On a new host whose status
report still has a temporary key, use --replace-identity. It does not override node.publicKey: correct that
first. A source that is not set, not installed or does not answer within 20 seconds is "not compared"; then
compare the public key that is printed with the one that your validator is registered with.

The consensus service must be stopped: otherwise it keeps signing with the key in its memory, and two nodes
that sign with the same key are penalized. For the same reason, stop the old host permanently before you
restore its keys on another.

A backup of another node is detected only if one of the two sources has the public key. The secret is an
argument of the tool for about a second, and is readable in the process list unless /proc is mounted with
hidepid=2: on a host with other users, restore the keys before they can log in.

Examples:
  sudo chain-agent keys restore --dry-run
  sudo chain-agent keys restore
  sudo chain-agent keys restore --replace-identity
  sudo chain-agent keys restore --type secp --from /mnt/stick/secp-backup
  sudo chain-agent keys restore --from /mnt/stick --identity /mnt/stick/identity.txt`

interface RestoreCommand {
  readonly io: Io
  readonly session: KeySession
  readonly progress: Progress
  readonly options: Options
}

/** Plans all keys before it makes a keystore, and makes and verifies all keystores before it replaces one. */
const restoreAll = async (
  { io, session, progress, options }: RestoreCommand,
  types: readonly KeyType[],
): Promise<ExitCode> => {
  const { context } = session
  const { signal } = io
  const password = await readNodePassword(context)
  const source = { from: options.from, identity: options.identity }
  const plans: RestorePlan[] = []
  for (const type of types) plans.push(await planRestore(context, { type, source, password }, signal))
  const known = await session.readKnownKeys({ mayRun: true })
  const compared = plans.map((plan) => ({ plan, identity: compareKeys(known[plan.type], publicKeyOf(plan)) }))
  progress.end()
  const side = options.json ? io.stderr : io.stdout
  const style = createStyle({ ...io, stdout: side })
  if (options.dryRun && options.json) io.stdout.write(jsonOf(compared.map(planAsJson)))
  else side.write(compared.map((one) => renderPlan(one, style)).join(''))
  for (const plan of plans) assertIdentity(plan, publicKeyOf(plan), { known, options })
  if (options.dryRun) {
    if (!options.json) io.stdout.write('Nothing was changed.\n')
    return 0
  }
  const isNew = plans.every(({ before }) => before === undefined)
  if (!options.yes && !isNew && !(await confirm(io, 'Replace?', '--yes'))) {
    io.stderr.write('Nothing was changed.\n')
    return 1
  }
  const prepared: PreparedKeystore[] = []
  for (const plan of plans) prepared.push(await prepareKeystore(context, { plan, password }, signal))
  // The key of a backup without a public key is known only now.
  for (const { plan, publicKey } of prepared) assertIdentity(plan, publicKey, { known, options })
  // The service may have been started in the meantime.
  await assertStopped(session, options)
  const results = await replaceAll(session, prepared)
  progress.end()
  return printResults(io, results, options.json ? undefined : (one) => renderRestored(one, style))
}

const replaceAll = async ({ context }: KeySession, prepared: readonly PreparedKeystore[]) => {
  const done: RestoreResult[] = []
  const failed: KeyFailure[] = []
  for (const one of prepared) {
    try {
      done.push(await replaceKeystore(context, one))
    } catch (thrown) {
      failed.push({ key: one.plan.type, error: asError(thrown) })
    }
  }
  return { done, failed }
}

const jsonOf = (value: unknown): string => `${JSON.stringify(toJson(value), undefined, 2)}\n`

/** `--replace-identity` overrides the status report, never the configuration. */
const assertIdentity = (
  { type, source }: RestorePlan,
  publicKey: string | null,
  { known, options }: { readonly known: KnownKeys; readonly options: Options },
): void => {
  const doing = `restore the ${type} key from ${source.file}`
  const advice = 'nothing was changed; name the right backup with --from, or '
  for (const one of known[type]) {
    if (options.replaceIdentity && !one.isConfigured) continue
    const otherwise = one.isConfigured
      ? 'set node.publicKey to the key that this node is to have'
      : 'use --replace-identity if this node is to get another identity'
    assertSameKey([one], publicKey, { doing, advice: `${advice}${otherwise}` })
  }
}

/** The plan without its secrets. */
const planAsJson = ({ plan, identity }: Compared) => {
  const { type, source, keystore, before, held, whyUnknown } = plan
  return {
    type,
    from: source.file,
    isEncrypted: source.isEncrypted,
    publicKey: source.key.publicKey,
    keystore,
    isReplaced: before !== undefined,
    held,
    whyUnknown,
    identity,
  }
}

const STOPPED = new Set(['inactive', 'failed'])

const assertStopped = async (session: KeySession, { whileRunning }: Options): Promise<void> => {
  if (whileRunning) return
  const { unit, state, whyUnknown } = await session.consensusState()
  if (state !== null && STOPPED.has(state)) return
  throw new SourceError({
    doing: 'restore keys',
    happened:
      state === null
        ? `it is unknown whether ${unit} is running: ${whyUnknown}`
        : `${unit} is ${state}, and would keep using the key in its memory`,
    advice: `stop it: \`sudo systemctl stop ${unit}\`; ${state === null ? 'if it is not running' : 'or'}, use --while-running`,
  })
}

/** `--from FILE` is one backup, of one key. */
const assertOneType = async ({ context }: KeySession, types: readonly KeyType[], { from }: Options): Promise<void> => {
  if (from === undefined || types.length === 1) return
  if ((await context.files.look(from)) === undefined || (await context.files.isFolder(from))) return
  throw new UsageError(
    `--from ${from} is one file, and would be restored as ${types.join(' and ')}. Specify which key it contains: --type secp or --type bls`,
  )
}

interface Compared {
  readonly plan: RestorePlan
  /** The public key of the backup, compared with what else reports the key of this node. */
  readonly identity: readonly Comparison[]
}

/** What a restore would do with one key; shown before the operator confirms it. */
const renderPlan = ({ plan, identity }: Compared, style: Style): string => {
  const { type, source, keystore } = plan
  return page(`${type}: ${keystore}`, style, [
    ['from', `${source.file}${source.isEncrypted ? ' (decrypted)' : ''}`],
    ['public key', source.key.publicKey ?? 'not in the backup; shown when the keystore is made'],
    ['now', nowOf(plan)],
    ...identity.map((one) => ['compared', identityOf(one, publicKeyOf(plan))] as const),
  ])
}

const identityOf = (comparison: Comparison, publicKey: string | null): string => {
  const { source, isSame, whyUnknown } = comparison
  if (isSame === false) return `MISMATCH: ${describeMismatch(comparison, publicKey)}`
  if (isSame === true) return `the same as ${source}`
  return `not compared with ${source}: ${whyUnknown ?? 'it is unknown'}`
}

const nowOf = ({ before, held, whyUnknown }: RestorePlan): string => {
  if (before === undefined) return 'no keystore'
  if (held === null) return `a keystore that cannot be opened: ${whyUnknown ?? ''}`
  if (held.isSame) return 'a keystore with the same key'
  return `a keystore with ANOTHER key, ${held.publicKey ?? 'public key unknown'}`
}

/** The result for one key. */
const renderRestored = (one: RestoreResult, style: Style): string =>
  page(`${style.paint('good', style.sign('good'))} ${one.type}: ${one.keystore}, verified`, style, [
    ['public key', one.publicKey ?? 'the tool did not print it'],
    ...(one.kept === null ? [] : [['previous', one.kept] as const]),
    ...one.removed.map((file) => ['removed', `${file}, left by an interrupted run`] as const),
  ])
