import { Command } from 'commander'
import { SourceError } from '../../core/errors.ts'
import { toJson } from '../../core/json.ts'
import { KEY_TYPES, type KeyType } from '../../core/key-places.ts'
import { asError } from '../../core/outcome.ts'
import { readNodePassword } from '../../keys/kit.ts'
import {
  place,
  type Plan,
  planRestore,
  type Prepared,
  prepare,
  type Restored,
} from '../../keys/restore.ts'
import type { KeyDesk } from '../../tasks/keys.ts'
import { configOptions, type ConfigOptions } from '../config-options.ts'
import type { ExitCode, Io } from '../io.ts'
import { askYes, mustBeAskable } from '../page/ask.ts'
import type { Progress } from '../page/progress.ts'
import { createStyle } from '../page/style.ts'
import { atDesk, typeOption, warn } from './desk.ts'
import { asJson, complain, type Failed } from './outcome.ts'
import { renderPlan, renderRestored } from './restore-page.ts'
import { UsageError } from '../usage-error.ts'

interface Options extends ConfigOptions {
  readonly type?: readonly KeyType[]
  readonly from?: string
  readonly identity?: string
  readonly yes?: true
  readonly dryRun?: true
  readonly whileRunning?: true
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
The new keystores are made by the node's own tool where nothing of the node is, and proven: the same key
must come out of them again. Then each old one is kept under its time in UTC, as in
id-secp.20260301121000.bak, and the new one takes its place, with the same owner and for him alone. Compare
the public key that is shown with the one that your validator is registered with.

The consensus service must not run: it would go on with the key that it has in its memory, and two nodes
that sign with one key are punished. For the same reason: stop the old host for good before you restore
its keys on another.

It does not protect against a wrong backup: one of another node is a whole key, too. And the secret is an
argument of the tool for about a second, readable in the process list where /proc is not mounted with
hidepid=2: of a host with other users on it, restore before they are let in.

Examples:
  sudo chain-agent keys restore --dry-run
  sudo chain-agent keys restore
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
  progress.end()
  const side = options.json ? io.stderr : io.stdout
  const style = createStyle({ ...io, stdout: side })
  const page = plans.map((plan) => renderPlan(plan, style)).join('')
  if (options.dryRun) {
    io.stdout.write(options.json ? jsonOf(plans.map(planned)) : `${page}Nothing was changed.\n`)
    return 0
  }
  side.write(page)
  const isNew = plans.every(({ before }) => before === undefined)
  if (!options.yes && !isNew && !(await askYes(io, 'Replace?', '--yes'))) {
    io.stderr.write('Nothing was changed.\n')
    return 1
  }
  const prepared: Prepared[] = []
  for (const plan of plans) prepared.push(await prepare(kit, { plan, password }, signal))
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

/** The plan without what it holds of the key. */
const planned = ({ type, source, keystore, before, held, whyUnknown }: Plan) => ({
  type,
  from: source.file,
  isEncrypted: source.isEncrypted,
  publicKey: source.key.publicKey,
  keystore,
  isReplaced: before !== undefined,
  held,
  whyUnknown,
})

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
