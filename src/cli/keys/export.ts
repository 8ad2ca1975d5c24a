import { resolve } from 'node:path'
import { Command } from 'commander'
import { toJson } from '../../core/json.ts'
import { KEY_TYPES } from '../../core/key-places.ts'
import type { Recipient } from '../../keys/age.ts'
import { type Exported, exportKeys } from '../../keys/export.ts'
import type { KeyDesk } from '../../tasks/keys.ts'
import { configOptions, type ConfigOptions } from '../config-options.ts'
import type { ExitCode, Io } from '../io.ts'
import { createStyle, type Style } from '../page/style.ts'
import { atDesk, typeOption } from './desk.ts'
import { LEGACY, page } from './page.ts'
import { UsageError } from '../usage-error.ts'

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
      'for whom; repeatable, and each of them can open it',
      (value: string, before: readonly string[]) => [...before, value],
      NONE,
    )
    .option('-R, --recipients-file <file>', 'a recipient a line: age1...; # begins a comment')
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
The file holds the backup as it is, and opens without this program: age -d -i KEYFILE secp-backup.age.
Make the key pair where the vault is, not here: age-keygen -o KEYFILE prints the recipient. Whoever has
the file without KEYFILE has nothing; whoever loses KEYFILE has nothing, too. No file is overwritten.

The copies still lie on this host when this is done. When you have brought one away and tried to open it
there, note it: chain-agent keys off-node 'safe in the office'.

Examples:
  sudo chain-agent keys export --recipient age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p
  sudo chain-agent keys export --recipients-file team.txt --output-directory /mnt/stick
  chain-agent keys restore --from secp-backup.age --identity KEYFILE --type secp --dry-run`,
    )
    .action(async (options: Options) => {
      await atDesk({ io, exit, options }, async (desk) => {
        const recipients = await recipientsOf(desk, options)
        const folder = resolve(options.outputDirectory)
        const isArmored = options.armor === true
        const keys = options.type ?? KEY_TYPES
        const done = await exportKeys(desk.kit, { keys, recipients, folder, isArmored })
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
    'Nobody is named who could open it: say --recipient age1..., or --recipients-file FILE',
  )
}
