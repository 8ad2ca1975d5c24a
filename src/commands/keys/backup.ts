import { resolve } from 'node:path'
import { Command } from 'commander'
import { KEY_TYPES } from '../../core/key-paths.ts'
import { asError } from '../../core/outcome.ts'
import { backUp, type BackupResult } from '../../keys/backup.ts'
import {
  type KeyFailure,
  type KeySession,
  LEGACY,
  page,
  printResults,
  runKeyCommand,
  typeOption,
  warnOfExposure,
} from './session.ts'
import { configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { type ExitCode, type Io, UsageError } from '../../cli/io.ts'
import { createStyle, type Style } from '../../cli/terminal/style.ts'
import { toJson } from '../../core/json.ts'
import { createEncrypt, type Recipient } from '../../keys/age.ts'
import { exportKeys, type ExportResult } from '../../keys/export.ts'

interface Options extends ConfigOptions {
  readonly type?: readonly BackupResult['key'][]
  readonly json?: true
}

export const backupCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('backup'))
    .description('write backups of the keys; earlier backups are kept as .bak')
    .addOption(typeOption([...KEY_TYPES, 'password'], 'which: secp, bls, password'))
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
The keystore tool of the node recovers each key from its keystore into a new file that only its owner can
read. When the file is complete and synced to disk, the earlier backup is kept with its time in UTC, as in
secp-backup.20260301121000.bak, and the new one replaces it. If the command is interrupted at any point, an
intact backup remains: the old one or the new one.

A backup on the node is not protected: everyone who can read the file has the key. Move a copy off the node
(chain-agent keys export), and fix the mode of files that others can read. --type password writes the
password after checking that it opens the keystore of the secp key.

Examples:
  sudo chain-agent keys backup
  sudo chain-agent keys backup --type password
  sudo chain-agent keys backup --set node.backupDirectory=/root/chain-backup`,
    )
    .action(async (options: Options) => {
      await runKeyCommand({ io, exit, options }, async (session, progress) => {
        warnOfExposure(io, session, 'the keystore password')
        const { done, failed } = await backUpAll(session, options.type ?? KEY_TYPES, io)
        progress.end()
        const style = createStyle(io)
        const code = printResults(io, { done, failed }, options.json ? undefined : (one) => render(one, style))
        if (!options.json && done.length > 0) io.stdout.write(CLOSING)
        exit(code)
      })
    })

const CLOSING = 'These files contain the keys. Move a copy off this host: chain-agent keys export --recipient age1...\n'

/** A key that fails does not prevent the backup of the others. */
const backUpAll = async ({ context }: KeySession, keys: readonly BackupResult['key'][], { signal }: Io) => {
  const done: BackupResult[] = []
  const failed: KeyFailure[] = []
  for (const key of keys) {
    try {
      done.push(await backUp(context, key, signal))
    } catch (thrown) {
      if (signal.aborted && done.length === 0) throw thrown
      failed.push({ key, error: asError(thrown) })
      if (signal.aborted) break
    }
  }
  return { done, failed }
}

const render = (one: BackupResult, style: Style): string =>
  page(`${style.paint('good', style.sign('good'))} ${one.key}: ${one.file}`, style, [
    ...(one.publicKey === null ? [] : [['public key', one.publicKey] as const]),
    ...(one.isLegacy ? [['legacy', LEGACY] as const] : []),
    ...(one.kept === null ? [] : [['previous', one.kept] as const]),
    ...(one.copies === 0 ? [] : [['earlier', earlierOf(one)] as const]),
    ...(one.isKeptExposed
      ? [['exposed', `other users can read the previous backup: chmod 600 ${one.kept}`] as const]
      : []),
    ...one.removed.map((file) => ['removed', `${file}, left by an interrupted run`] as const),
    ...one.left.map((file) => ['check', `${file}: left by an interrupted run, and its content differs`] as const),
  ])

const earlierOf = ({ copies }: BackupResult): string =>
  `${copies} .bak ${copies === 1 ? 'file also contains' : 'files also contain'} a key: remove those that you do not need`

interface ExportOptions extends ConfigOptions {
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
    .action(async (options: ExportOptions) => {
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
            : `${done.map((one) => renderExported(one, style)).join('')}${EXPORT_CLOSING}`,
        )
        exit(0)
      })
    })

const EXPORT_CLOSING =
  "Move them off this host, decrypt one there (age -d -i KEYFILE), and record it: chain-agent keys off-node 'where'\n"

const renderExported = ({ key, file, publicKey, isLegacy }: ExportResult, style: Style): string =>
  page(`${style.paint('good', style.sign('good'))} ${key}: ${file}`, style, [
    ...(publicKey === null ? [] : [['public key', publicKey] as const]),
    ...(isLegacy ? [['legacy', LEGACY] as const] : []),
  ])

const recipientsOf = async ({ context }: KeySession, options: ExportOptions): Promise<readonly Recipient[]> => {
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
