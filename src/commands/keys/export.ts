import { resolve } from 'node:path'
import { Command } from 'commander'
import { toJson } from '../../core/json.ts'
import { KEY_TYPES } from '../../core/key-paths.ts'
import { createEncrypt, type Recipient } from '../../keys/age.ts'
import { type Exported, exportKeys } from '../../keys/export.ts'
import type { KeyDesk } from './keys.ts'
import { configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { createStyle, type Style } from '../../cli/terminal/style.ts'
import { atDesk, typeOption } from './desk.ts'
import { LEGACY, page } from './page.ts'
import { UsageError } from '../../cli/usage-error.ts'

interface Options extends ConfigOptions {
  readonly type?: readonly Exported['key'][]
  readonly recipient: readonly string[]
  readonly recipientsFile?: string
  readonly outputDirectory: string
  readonly armor?: true
  readonly json?: true
}

const NONE: readonly string[] = []

export const exportCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('export'))
    .description('encrypt copies of the backups with age, for a vault off this host')
    .addOption(typeOption([...KEY_TYPES, 'password'], 'which: secp, bls, password'))
    .option(
      '-r, --recipient <age1...>',
      'the recipient; repeatable, and each of them can decrypt the file',
      (value: string, before: readonly string[]) => [...before, value],
      NONE,
    )
    .option(
      '-R, --recipients-file <file>',
      'file with one recipient per line: age1...; # begins a comment',
    )
    .option(
      '-o, --output-directory <folder>',
      'the directory for secp-backup.age, bls-backup.age, keystore-password-backup.age',
      '.',
    )
    .option('-a, --armor', 'as text, to be pasted into a vault')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
The file contains the backup unchanged. age decrypts it without this program:
age -d -i KEYFILE secp-backup.age. Create the key pair where the vault is, not on this host:
age-keygen -o KEYFILE prints the recipient; replace age1YOUR-RECIPIENT with it. Without KEYFILE the file
cannot be decrypted. Recipients known from public documentation are rejected. No file is overwritten.

If the public key of a backup differs from node.publicKey or from the status report of the node, nothing
is exported.

The copies still lie on this host when this is done. When you have brought one away and tried to open it
there, note it: chain-agent keys off-node 'safe in the office'.

Examples:
  sudo chain-agent keys export --recipient age1YOUR-RECIPIENT
  sudo chain-agent keys export --recipients-file team.txt --output-directory /mnt/stick
  chain-agent keys restore --from secp-backup.age --identity KEYFILE --type secp --dry-run`,
    )
    .action(async (options: Options) => {
      await atDesk({ io, exit, options }, async (desk, progress) => {
        const encrypt = createEncrypt(await recipientsOf(desk, options))
        const folder = resolve(options.outputDirectory)
        const isArmored = options.armor === true
        const keys = options.type ?? KEY_TYPES
        const known = await desk.readKnownKeys({ mayRun: true })
        const order = { keys, encrypt, known, folder, isArmored }
        const done = await exportKeys(desk.kit, order)
        progress.end()
        const style = createStyle(io)
        io.stdout.write(
          options.json
            ? `${JSON.stringify(toJson(done), undefined, 2)}\n`
            : `${done.map((one) => render(one, style)).join('')}${CLOSING}`,
        )
        exit(0)
      })
    })

const CLOSING =
  "Bring them away, open one there (age -d -i KEYFILE), and note it: chain-agent keys off-node 'where'\n"

const render = ({ key, file, publicKey, isLegacy }: Exported, style: Style): string =>
  page(`${style.paint('good', style.sign('good'))} ${key}: ${file}`, style, [
    ...(publicKey === null ? [] : [['public key', publicKey] as const]),
    ...(isLegacy ? [['legacy', LEGACY] as const] : []),
  ])

const recipientsOf = async ({ kit }: KeyDesk, options: Options): Promise<readonly Recipient[]> => {
  const { recipient, recipientsFile } = options
  const given = recipient.map((text, at) => ({ text, place: `--recipient number ${at + 1}` }))
  const listed =
    recipientsFile === undefined
      ? []
      : (await kit.files.read(recipientsFile, { isNamed: true }))
          .toString('utf8')
          .split('\n')
          .map((line, at) => ({ text: line.trim(), place: `${recipientsFile}:${at + 1}` }))
          .filter(({ text }) => text !== '' && !text.startsWith('#'))
  const all = [...given, ...listed]
  if (all.length > 0) return all
  throw new UsageError(
    'No recipient is given: use --recipient age1... or --recipients-file FILE (age-keygen -o KEYFILE creates one)',
  )
}
