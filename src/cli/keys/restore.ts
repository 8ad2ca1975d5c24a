import { Command } from 'commander'
import { SourceError } from '../../core/errors.ts'
import { toJson } from '../../core/json.ts'
import { KEY_TYPES, type KeyType } from '../../core/key-places.ts'
import { readNodePassword } from '../../keys/kit.ts'
import { type Plan, planRestore, restore, type Restored } from '../../keys/restore.ts'
import type { KeyDesk } from '../../tasks/keys.ts'
import { configOptions, type ConfigOptions } from '../config-options.ts'
import type { ExitCode, Io } from '../io.ts'
import { askYes } from '../page/ask.ts'
import { createStyle } from '../page/style.ts'
import { atDesk, typeOption, warn } from './desk.ts'
import { renderPlan, renderRestored } from './restore-page.ts'

interface Options extends ConfigOptions {
  readonly type: readonly KeyType[]
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
    .addHelpText(
      'after',
      `
The new keystore is made beside the old one by the node's own tool, and proven: the same secret must come
out of it again. Then the old one is kept under its time in UTC, as in id-secp.20260301121000.bak, and
the new one takes its place, with the same owner and for him alone. Compare the public key that is shown
with the one that your validator is registered with.

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
  sudo chain-agent keys restore --from /mnt/stick --identity /mnt/stick/identity.txt`,
    )
    .action(async (options: Options) => {
      await atDesk({ io, exit, options }, async (desk, progress) => {
        const types = [...new Set(options.type)]
        if (!options.dryRun) await refuseWhileRunning(desk, options)
        const password = await readNodePassword(desk.kit)
        warn(io, desk, 'the keystore password and the secret that is restored')
        const source = { from: options.from, identity: options.identity }
        // All are planned before the first is done: one backup that is missing stops both.
        const plans: Plan[] = []
        for (const type of types) {
          plans.push(await planRestore(desk.kit, { type, source, password }, io.signal))
        }
        refuseOneForTwo(plans)
        progress.end()
        const style = createStyle(options.json ? { ...io, stdout: io.stderr } : io)
        const page = plans.map((plan) => renderPlan(plan, style)).join('')
        if (options.dryRun) {
          io.stdout.write(
            options.json ? jsonOf(plans.map(planned)) : `${page}Nothing was changed.\n`,
          )
          exit(0)
          return
        }
        ;(options.json ? io.stderr : io.stdout).write(page)
        const isNew = plans.every(({ before }) => before === undefined)
        if (!options.yes && !isNew && !(await askYes(io, 'Replace?', '--yes'))) {
          io.stderr.write('Nothing was changed.\n')
          exit(1)
          return
        }
        const done: Restored[] = []
        for (const plan of plans) done.push(await restore(desk.kit, { plan, password }, io.signal))
        progress.end()
        io.stdout.write(
          options.json ? jsonOf(done) : done.map((one) => renderRestored(one, style)).join(''),
        )
        exit(0)
      })
    })

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
const refuseOneForTwo = (plans: readonly Plan[]): void => {
  const files = plans.map(({ source }) => source.file)
  if (new Set(files).size === files.length) return
  throw new SourceError({
    doing: 'restore keys',
    happened: `${files[0]} would be restored as ${plans.map(({ type }) => type).join(' and ')}`,
    advice: 'say which key it holds: --type secp or --type bls',
  })
}
