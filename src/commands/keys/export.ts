import { resolve } from 'node:path'
import { Command } from 'commander'
import { toJson } from '../../core/json.ts'
import { KEY_TYPES } from '../../core/key-paths.ts'
import { createEncrypt, type Recipient } from '../../keys/age.ts'
import { exportKeys, type ExportResult } from '../../keys/export.ts'
import type { KeySession } from './session.ts'
import { configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { type ExitCode, type Io, UsageError } from '../../cli/io.ts'
import { createStyle, type Style } from '../../cli/terminal/style.ts'
import { LEGACY, page, runKeyCommand, typeOption } from './key-command.ts'

interface Options extends ConfigOptions {
  readonly type?: readonly ExportResult['key'][]
  readonly recipient: readonly string[]
  readonly recipientsFile?: string
  readonly outputDirectory: string
  readonly armor?: true
  readonly json?: true
}

const NONE: readonly string[] = []

export const exportCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('export'))
    .description('encrypt copies of the backups with age, for storage off this host')
    .addOption(typeOption([...KEY_TYPES, 'password'], 'which: secp, bls, password'))
    .option(
      '-r, --recipient <age1...>',
      'the recipient; repeatable, and each of them can decrypt the file',
      (value: string, before: readonly string[]) => [...before, value],
      NONE,
    )
    .option('-R, --recipients-file <file>', 'file with one recipient per line: age1...; # starts a comment')
    .option(
      '-o, --output-directory <directory>',
      'the directory for secp-backup.age, bls-backup.age, keystore-password-backup.age',
      '.',
    )
    .option('-a, --armor', 'write text (ASCII armor), for vaults that store text')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
The file contains the backup unchanged. age decrypts it without this program:
age -d -i KEYFILE secp-backup.age. Create the key pair on the host of the vault, not on this host:
age-keygen -o KEYFILE prints the recipient; replace age1YOUR-RECIPIENT with it. Without KEYFILE the file
cannot be decrypted. Recipients known from public documentation are rejected. No file is overwritten.

If the public key of a backup differs from node.publicKey or from the status report of the node, nothing
is exported.

The copies are still on this host after the export. Move one off the host, check that you can decrypt it
there, and record it: chain-agent keys off-node 'safe in the office'.

Examples:
  sudo chain-agent keys export --recipient age1YOUR-RECIPIENT
  sudo chain-agent keys export --recipients-file team.txt --output-directory /mnt/stick
  chain-agent keys restore --from secp-backup.age --identity KEYFILE --type secp --dry-run`,
    )
    .action(async (options: Options) => {
      await runKeyCommand({ io, exit, options }, async (session, progress) => {
        const encrypt = createEncrypt(await recipientsOf(session, options))
        const folder = resolve(options.outputDirectory)
        const isArmored = options.armor === true
        const keys = options.type ?? KEY_TYPES
        const known = await session.readKnownKeys({ mayRun: true })
        const request = { keys, encrypt, known, folder, isArmored }
        const done = await exportKeys(session.context, request)
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
  "Move them off this host, decrypt one there (age -d -i KEYFILE), and record it: chain-agent keys off-node 'where'\n"

const render = ({ key, file, publicKey, isLegacy }: ExportResult, style: Style): string =>
  page(`${style.paint('good', style.sign('good'))} ${key}: ${file}`, style, [
    ...(publicKey === null ? [] : [['public key', publicKey] as const]),
    ...(isLegacy ? [['legacy', LEGACY] as const] : []),
  ])

const recipientsOf = async ({ context }: KeySession, options: Options): Promise<readonly Recipient[]> => {
  const { recipient, recipientsFile } = options
  const given = recipient.map((text, at) => ({ text, place: `--recipient number ${at + 1}` }))
  const listed =
    recipientsFile === undefined
      ? []
      : (await context.files.read(recipientsFile, { isNamed: true }))
          .toString('utf8')
          .split('\n')
          .map((line, at) => ({ text: line.trim(), place: `${recipientsFile}:${at + 1}` }))
          .filter(({ text }) => text !== '' && !text.startsWith('#'))
  const all = [...given, ...listed]
  if (all.length > 0) return all
  throw new UsageError(
    'No recipient: use --recipient age1... or --recipients-file FILE (age-keygen -o KEYFILE creates one)',
  )
}
