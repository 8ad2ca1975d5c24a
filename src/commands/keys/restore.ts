import { Command } from 'commander'
import { SourceError } from '../../core/errors.ts'
import { toJson } from '../../core/json.ts'
import { KEY_TYPES, type KeyType } from '../../core/key-paths.ts'
import { asError } from '../../core/outcome.ts'
import { compareKeys, type KnownKeys, refuseOtherKey } from '../../keys/identity.ts'
import { readNodePassword } from '../../keys/kit.ts'
import {
  place,
  type Plan,
  planRestore,
  type Prepared,
  prepare,
  publicKeyOf,
  type Restored,
} from '../../keys/restore.ts'
import type { KeyDesk } from './keys.ts'
import { configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { askYes, mustBeAskable } from '../../cli/terminal/ask.ts'
import type { Progress } from '../../cli/terminal/progress.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { atDesk, typeOption, warn } from './desk.ts'
import { asJson, complain, type Failed } from './outcome.ts'
import { type Compared, renderPlan, renderRestored } from './restore-page.ts'
import { UsageError } from '../../cli/usage-error.ts'

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
    .description(
      'make the keystores anew from their backups; what was there before is kept as .bak',
    )
    .addOption(typeOption(KEY_TYPES, 'which: secp, bls'))
    .option('--from <path>', 'folder with the backups, or one file; plain or encrypted with age')
    .option('--identity <file>', 'what opens an encrypted backup: the file that age-keygen wrote')
    .option('-y, --yes', 'replace a keystore without asking')
    .option('--dry-run', 'only say what would be done')
    .option('--while-running', 'even while the consensus service runs')
    .option(
      '--replace-identity',
      'restore even if the status report of the node has another public key',
    )
    .option('--json', 'as JSON')
    .addHelpText('after', NOTES)
    .action(async (options: Options) => {
      const types = options.type ?? KEY_TYPES
      if (!options.yes && !options.dryRun) mustBeAskable(io, '--yes')
      await atDesk({ io, exit, options }, async (desk, progress) => {
        await refuseOneForTwo(desk, types, options)
        if (!options.dryRun) await refuseWhileRunning(desk, options)
        const isDry = options.dryRun === true
        warn(
          io,
          desk,
          isDry ? 'the keystore password' : 'the keystore password and the secret that is restored',
        )
        const restoring = { io, desk, progress, options }
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

The consensus service must not run: it would go on with the key that it has in its memory, and two nodes
that sign with one key are punished. For the same reason: stop the old host for good before you restore
its keys on another.

A backup of another node is detected only if one of the two sources has the public key. The secret is an
argument of the tool for about a second, and is readable in the process list unless /proc is mounted with
hidepid=2: on a host with other users, restore the keys before they can log in.

Examples:
  sudo chain-agent keys restore --dry-run
  sudo chain-agent keys restore
  sudo chain-agent keys restore --replace-identity
  sudo chain-agent keys restore --type secp --from /mnt/stick/secp-backup
  sudo chain-agent keys restore --from /mnt/stick --identity /mnt/stick/identity.txt`

interface Restoring {
  readonly io: Io
  readonly desk: KeyDesk
  readonly progress: Progress
  readonly options: Options
}

/** All are planned before one is made, and all made and proven before one is put in its place. */
const restoreAll = async (
  { io, desk, progress, options }: Restoring,
  types: readonly KeyType[],
): Promise<ExitCode> => {
  const { kit } = desk
  const { signal } = io
  const password = await readNodePassword(kit)
  const source = { from: options.from, identity: options.identity }
  const plans: Plan[] = []
  for (const type of types) plans.push(await planRestore(kit, { type, source, password }, signal))
  const known = await desk.readKnownKeys({ mayRun: true })
  const compared = plans.map((plan) => ({
    plan,
    identity: compareKeys(known[plan.type], publicKeyOf(plan)),
  }))
  progress.end()
  const side = options.json ? io.stderr : io.stdout
  const style = createStyle({ ...io, stdout: side })
  if (options.dryRun && options.json) io.stdout.write(jsonOf(compared.map(planned)))
  else side.write(compared.map((one) => renderPlan(one, style)).join(''))
  for (const plan of plans) refuseIdentity(plan, publicKeyOf(plan), { known, options })
  if (options.dryRun) {
    if (!options.json) io.stdout.write('Nothing was changed.\n')
    return 0
  }
  const isNew = plans.every(({ before }) => before === undefined)
  if (!options.yes && !isNew && !(await askYes(io, 'Replace?', '--yes'))) {
    io.stderr.write('Nothing was changed.\n')
    return 1
  }
  const prepared: Prepared[] = []
  for (const plan of plans) prepared.push(await prepare(kit, { plan, password }, signal))
  // The key of a backup without a public key is known only now.
  for (const { plan, publicKey } of prepared) refuseIdentity(plan, publicKey, { known, options })
  // It may have been started meanwhile.
  await refuseWhileRunning(desk, options)
  const { done, failed } = await placeAll(desk, prepared)
  progress.end()
  if (options.json) io.stdout.write(asJson({ done, failed }))
  else io.stdout.write(done.map((one) => renderRestored(one, style)).join(''))
  if (!options.json) for (const { error } of failed) complain(io, error)
  return failed.length === 0 ? 0 : 1
}

const placeAll = async ({ kit }: KeyDesk, prepared: readonly Prepared[]) => {
  const done: Restored[] = []
  const failed: Failed[] = []
  for (const one of prepared) {
    try {
      done.push(await place(kit, one))
    } catch (thrown) {
      failed.push({ key: one.plan.type, error: asError(thrown) })
    }
  }
  return { done, failed }
}

const jsonOf = (value: unknown): string => `${JSON.stringify(toJson(value), undefined, 2)}\n`

interface Identity {
  readonly known: KnownKeys
  readonly options: Options
}

/** `--replace-identity` overrides the status report, never the configuration. */
const refuseIdentity = (
  { type, source }: Plan,
  publicKey: string | null,
  { known, options }: Identity,
): void => {
  const doing = `restore the ${type} key from ${source.file}`
  const advice = 'nothing was changed; name the right backup with --from, or '
  for (const one of known[type]) {
    if (options.replaceIdentity && !one.isConfigured) continue
    const otherwise = one.isConfigured
      ? 'set node.publicKey to the key that this node is to have'
      : 'use --replace-identity if this node is to get another identity'
    refuseOtherKey([one], publicKey, { doing, advice: `${advice}${otherwise}` })
  }
}

/** The plan without its secrets. */
const planned = ({ plan, identity }: Compared) => {
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

const refuseWhileRunning = async (desk: KeyDesk, { whileRunning }: Options): Promise<void> => {
  if (whileRunning) return
  const { unit, state, whyUnknown } = await desk.consensusState()
  if (state !== null && STOPPED.has(state)) return
  throw new SourceError({
    doing: 'restore keys',
    happened:
      state === null
        ? `it cannot be told whether ${unit} runs: ${whyUnknown}`
        : `${unit} is ${state}, and would go on with the key that it has in its memory`,
    advice: `stop it: \`sudo systemctl stop ${unit}\`${state === null ? '; if it does not run' : '; or'}, say --while-running`,
  })
}

/** `--from FILE` names one key. */
const refuseOneForTwo = async (
  { kit }: KeyDesk,
  types: readonly KeyType[],
  { from }: Options,
): Promise<void> => {
  if (from === undefined || types.length === 1) return
  if ((await kit.files.look(from)) === undefined || (await kit.files.isFolder(from))) return
  throw new UsageError(
    `--from ${from} is one file, and would be restored as ${types.join(' and ')}. Say which key it holds: --type secp or --type bls`,
  )
}
