import { Command } from 'commander'
import { KEY_TYPES } from '../../core/key-paths.ts'
import { asError } from '../../core/outcome.ts'
import { type BackedUp, backUp } from '../../keys/backup.ts'
import type { KeyDesk } from './keys.ts'
import { configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { createStyle, type Style } from '../../cli/terminal/style.ts'
import { atDesk, typeOption, warn } from './desk.ts'
import { asJson, complain, type Failed } from './outcome.ts'
import { LEGACY, page } from './page.ts'

interface Options extends ConfigOptions {
  readonly type?: readonly BackedUp['key'][]
  readonly json?: true
}

export const backupCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('backup'))
    .description('write the backups of the keys; what was there before is kept as .bak')
    .addOption(typeOption([...KEY_TYPES, 'password'], 'which: secp, bls, password'))
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Each key is recovered from its keystore by the node's own tool, into a new file that only its owner may
read. When it is whole and on the disk, the backup before it is kept under its time in UTC, as in
secp-backup.20260301121000.bak, and the new one takes its place. Whatever stops this on the way, a whole
backup is left: the old one or the new one.

It does not protect a backup that lies on the node: who can read the file has the key. Bring a copy off
the node (chain-agent keys export), and mend what is readable for others. With --type password the
password is written, after it has opened the keystore of the secp key.

Examples:
  sudo chain-agent keys backup
  sudo chain-agent keys backup --type password
  sudo chain-agent keys backup --set node.backupDirectory=/root/chain-backup`,
    )
    .action(async (options: Options) => {
      await atDesk({ io, exit, options }, async (desk, progress) => {
        warn(io, desk, 'the keystore password')
        const { done, failed } = await all(desk, options.type ?? KEY_TYPES, io)
        progress.end()
        const style = createStyle(io)
        if (options.json) io.stdout.write(asJson({ done, failed }))
        else io.stdout.write(done.map((one) => render(one, style)).join(''))
        if (!options.json) for (const { error } of failed) complain(io, error)
        if (!options.json && done.length > 0) io.stdout.write(CLOSING)
        exit(failed.length === 0 ? 0 : 1)
      })
    })

const CLOSING =
  'These files contain the keys. Move a copy off this host: chain-agent keys export --recipient age1...\n'

/** One that fails does not keep the others from being backed up. */
const all = async ({ kit }: KeyDesk, keys: readonly BackedUp['key'][], { signal }: Io) => {
  const done: BackedUp[] = []
  const failed: Failed[] = []
  for (const key of keys) {
    try {
      done.push(await backUp(kit, key, signal))
    } catch (thrown) {
      if (signal.aborted && done.length === 0) throw thrown
      failed.push({ key, error: asError(thrown) })
      if (signal.aborted) break
    }
  }
  return { done, failed }
}

const render = (one: BackedUp, style: Style): string =>
  page(`${style.paint('good', style.sign('good'))} ${one.key}: ${one.file}`, style, [
    ...(one.publicKey === null ? [] : [['public key', one.publicKey] as const]),
    ...(one.isLegacy ? [['legacy', LEGACY] as const] : []),
    ...(one.kept === null ? [] : [['before it', one.kept] as const]),
    ...(one.copies === 0 ? [] : [['kept', keptOf(one)] as const]),
    ...(one.isKeptExposed
      ? [['others', `may read the one that was kept: chmod 600 ${one.kept}`] as const]
      : []),
    ...one.removed.map(
      (file) => ['removed', `${file}, which an interrupted run had left`] as const,
    ),
    ...one.left.map(
      (file) =>
        ['look at', `${file}: an interrupted run left it, and it holds something else`] as const,
    ),
  ])

const keptOf = ({ copies }: BackedUp): string =>
  `${copies} .bak ${copies === 1 ? 'file holds' : 'files hold'} a key, too: remove what nobody needs`
