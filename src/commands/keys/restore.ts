import {
  assertSameKey,
  compareKeys,
  type Comparison,
  type KnownKeys,
  readNodePassword,
} from '../../keys/key-context.ts'
import { jsonText, linesText, type OutputOptions } from '../../terminal/output.ts'
import { createStyle, type Style } from '../../terminal/style.ts'
import { identityLine, page, runForEach, runKeyCommand, warnOfExposure, type KeySession } from './session.ts'
import { SourceError } from '../../core/errors.ts'
import { KEY_TYPES, type KeyType } from '../../domain/key-paths.ts'
import {
  planRestore,
  type PreparedKeystore,
  prepareKeystore,
  publicKeyOf,
  replaceKeystore,
  type RestorePlan,
  type RestoreResult,
} from '../../keys/restore.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { UsageError } from '../../terminal/io.ts'
import { type Progress } from '../../terminal/progress.ts'
import { confirm, requireTerminal } from '../../terminal/prompt.ts'

interface RestoreOptions extends OutputOptions {
  readonly type?: readonly KeyType[]
  readonly from?: string
  readonly identity?: string
  readonly yes?: true
  readonly dryRun?: true
  readonly whileRunning?: true
  readonly replaceIdentity?: true
}

export const restore = async (command: ConfiguredContext<RestoreOptions>): Promise<void> => {
  const { io, options } = command
  if (!options.yes && !options.dryRun) requireTerminal(io, '--yes')
  await runKeyCommand(command, async (session, progress) => {
    await assertOneType(session, options)
    if (!options.dryRun) await assertStopped(session, options)
    warnOfExposure(io, session, `the keystore password${options.dryRun ? '' : ' and the secret that is restored'}`)
    await restoreAll(command, session, progress)
  })
}

/** Plans all keys before it makes a keystore, and makes and verifies all keystores before it replaces one. */
const restoreAll = async (
  command: ConfiguredContext<RestoreOptions>,
  session: KeySession,
  progress: Progress,
): Promise<void> => {
  const { io, options, exit } = command
  const { context } = session
  const password = await readNodePassword(context)
  const source = { from: options.from, identity: options.identity }
  const plans: RestorePlan[] = []
  for (const type of options.type ?? KEY_TYPES) plans.push(await planRestore(context, { type, password }, source))
  const known = await session.readKnownKeys({ mayRun: true })
  const compared = plans.map((plan) => ({ plan, identity: compareKeys(known[plan.type], publicKeyOf(plan)) }))
  progress.end()
  const side = options.json ? io.stderr : io.stdout
  const style = createStyle({ ...io, stdout: side })
  if (options.dryRun && options.json) io.stdout.write(jsonText(compared.map(planAsJson)))
  else side.write(linesText(compared.flatMap((one) => renderPlan(one, style))))
  for (const plan of plans) assertIdentity(plan, publicKeyOf(plan), { known, options })
  if (options.dryRun) {
    if (!options.json) io.stdout.write('Nothing was changed.\n')
    return
  }
  const isNew = plans.every(({ before }) => before === undefined)
  if (!options.yes && !isNew && !(await confirm(io, 'Replace?', '--yes'))) {
    io.stderr.write('Nothing was changed.\n')
    exit(1)
    return
  }
  const prepared: PreparedKeystore[] = []
  for (const plan of plans) prepared.push(await prepareKeystore(context, plan, password))
  // The key of a backup without a public key is known only now.
  for (const { plan, publicKey } of prepared) assertIdentity(plan, publicKey, { known, options })
  // The service may have been started in the meantime.
  await assertStopped(session, options)
  const work = new Map(prepared.map((one) => [one.plan.type, () => replaceKeystore(context, one)]))
  await runForEach(command, { work, progress, replaces: true }, renderRestored)
}

/** `--replace-identity` overrides the status report, never the configuration. */
const assertIdentity = (
  { type, source }: RestorePlan,
  publicKey: string | null,
  { known, options }: { readonly known: KnownKeys; readonly options: RestoreOptions },
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

const assertStopped = async (session: KeySession, { whileRunning }: RestoreOptions): Promise<void> => {
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
const assertOneType = async ({ context }: KeySession, { type: types = KEY_TYPES, from }: RestoreOptions) => {
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
const renderPlan = ({ plan, identity }: Compared, style: Style): readonly string[] => {
  const { type, source, keystore } = plan
  return page(`${type}: ${keystore}`, style, [
    ['from', `${source.file}${source.isEncrypted ? ' (decrypted)' : ''}`],
    ['public key', source.key.publicKey ?? 'not in the backup; shown when the keystore is made'],
    ['now', nowOf(plan)],
    ...identity.map((one) => ['compared', identityOf(one, publicKeyOf(plan))] as const),
  ])
}

const identityOf = (comparison: Comparison, publicKey: string | null): string => {
  const [tone, text] = identityLine(comparison, publicKey)
  return tone === 'bad' ? `MISMATCH: ${text}` : text
}

const nowOf = ({ before, held, whyUnknown }: RestorePlan): string => {
  if (before === undefined) return 'no keystore'
  if (held === null) return `a keystore that cannot be opened: ${whyUnknown ?? ''}`
  if (held.isSame) return 'a keystore with the same key'
  return `a keystore with ANOTHER key, ${held.publicKey ?? 'public key unknown'}`
}

/** The result for one key. */
const renderRestored = (one: RestoreResult, style: Style): readonly string[] =>
  page(`${style.paint('good', style.sign('good'))} ${one.type}: ${one.keystore}, verified`, style, [
    ['public key', one.publicKey ?? 'the tool did not print it'],
    ['previous', one.kept],
    ...one.removed.map((file) => ['removed', `${file}, left by an interrupted run`] as const),
  ])
