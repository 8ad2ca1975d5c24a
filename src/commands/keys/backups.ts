import { KEY_TYPES, type KeyType } from '../../domain/key-paths.ts'
import { SourceError } from '../../core/errors.ts'
import { backUp, type BackupResult, type BackupType, exportKeys, type ExportResult } from '../../keys/backup.ts'
import {
  FOLDER_ADVICE,
  identityLine,
  type KeySession,
  LEGACY,
  type Line,
  page,
  runForEach,
  runKeyCommand,
  warnOfExposure,
} from './session.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { UsageError } from '../../terminal/io.ts'
import type { Style } from '../../terminal/style.ts'
import { compareKeys, type Comparison } from '../../keys/key-context.ts'
import { verify, type VerifyResult, noteOffNode } from '../../keys/verify.ts'
import { resolve } from 'node:path'
import { createEncrypt, type Recipient } from '../../keys/age.ts'

export const backup = async (command: ConfiguredContext<{ readonly type?: readonly BackupType[] }>): Promise<void> => {
  const { io, options } = command
  await runKeyCommand(command, async (session, progress) => {
    warnOfExposure(io, session, 'the keystore password')
    const work = new Map((options.type ?? KEY_TYPES).map((key) => [key, () => backUp(session.context, key)]))
    const done = await runForEach(command, { work, progress }, renderBackup)
    if (!options.json && done.length > 0) io.stdout.write(BACKUP_CLOSING)
  })
}

const BACKUP_CLOSING =
  'These files contain the keys. Move a copy off this host: chain-agent keys export --recipient age1...\n'

const renderBackup = (one: BackupResult, style: Style): readonly string[] =>
  page(`${style.paint('good', style.sign('good'))} ${one.key}: ${one.file}`, style, [
    ['public key', one.publicKey],
    ['legacy', one.isLegacy ? LEGACY : null],
    ['directory', one.linkedTo === null ? null : `${one.linkedTo}, to which a link leads`],
    ['previous', one.kept],
    ['earlier', one.copies === 0 ? null : earlierOf(one)],
    ['exposed', one.isKeptExposed ? `other users can read the previous backup: chmod 600 ${one.kept}` : null],
    ['removable', one.folderRisk === null ? null : `${one.folderRisk}: ${FOLDER_ADVICE}`],
    ...one.removed.map((file) => ['removed', `${file}, left by an interrupted run`] as const),
    ...one.left.map((file) => ['check', `${file}: left by an interrupted run, and its content differs`] as const),
  ])

const earlierOf = ({ copies }: BackupResult): string =>
  `${copies} .bak ${copies === 1 ? 'file also contains' : 'files also contain'} a key: remove those that you do not need`

interface TypeOption {
  readonly type?: readonly KeyType[]
}

export const verifyBackups = async (
  command: ConfiguredContext<TypeOption & { readonly filesOnly?: true }>,
): Promise<void> => {
  const { io, exit, options } = command
  await runKeyCommand(command, async (session, progress) => {
    const mayRecover = options.filesOnly !== true
    if (mayRecover) warnOfExposure(io, session, 'the keystore password')
    const known = await session.readKnownKeys({ mayRun: mayRecover })
    const found: VerifiedBackup[] = []
    for (const key of options.type ?? KEY_TYPES) {
      const one = await verify(session.context, key, mayRecover)
      found.push({ ...one, identity: compareKeys(known[key], one.publicKey) })
    }
    progress.end()
    const judged = found.map((one) => ({ isWell: isReliable(one, mayRecover), ...one }))
    command.print({
      document: () => judged,
      lines: (style) => found.flatMap((one) => renderVerified(one, { style, mayRecover })),
    })
    exit(judged.every((one) => one.isWell) ? 0 : 1)
  })
}

interface VerifiedBackup extends VerifyResult {
  /** Its public key, compared with what else reports the key of this node. */
  readonly identity: readonly Comparison[]
}

/** Whether the key can be restored from this backup, only its owner can read it, and no other user can remove it. */
const isReliable = (one: VerifiedBackup, mayRecover: boolean): boolean =>
  !one.isLegacy &&
  one.identity.every(({ isSame }) => isSame !== false) &&
  [...one.copies, ...one.unfinished].every(({ exposure }) => exposure === null) &&
  (one.isAway ||
    (one.problem === null && one.exposure === null && one.folderRisk === null && (!mayRecover || one.isSame === true)))

/** The status of one backup, then the checks behind it. */
const renderVerified = (
  one: VerifiedBackup,
  { style, mayRecover }: { readonly style: Style; readonly mayRecover: boolean },
): readonly string[] => {
  const tone = isReliable(one, mayRecover) ? 'good' : 'bad'
  const good = one.isAway ? 'the backup is off this host' : 'the backup is ok'
  const head = `${one.key}: ${tone === 'good' ? good : 'the backup is NOT ok'}`
  const lines: readonly (Line | null)[] = [
    integrityLine(one),
    permissionLine(one),
    one.folderRisk === null ? null : ['bad', `removable: ${one.folderRisk}; ${FOLDER_ADVICE}`],
    keystoreLine(one, mayRecover),
    one.publicKey === null ? null : ['quiet', `public key ${one.publicKey}`],
    ...one.identity.map((comparison) => identityLine(comparison, one.publicKey)),
    one.isLegacy ? ['bad', LEGACY] : null,
    one.offNode === null
      ? ['notice', 'no copy off this host is recorded: chain-agent keys export, then keys off-node']
      : ['good', `a copy off this host, recorded on ${one.offNode.at.slice(0, 10)}: ${one.offNode.where}`],
    ...copyLines(one),
    ...one.unfinished.map(({ file, isWhole }): Line => [
      'notice',
      `an interrupted run left ${file}, ${isWhole ? 'which contains a complete secret' : 'which contains no complete backup'}; keys backup or keys restore removes it`,
    ]),
  ]
  return [
    `${style.paint(tone, style.sign(tone))} ${style.paint('strong', head)}`,
    ...lines
      .filter((line) => line !== null)
      .flatMap(([sign, text]) => style.marked(`  ${style.paint(sign, style.sign(sign))} `, text, '    ')),
  ]
}

const integrityLine = ({ problem, backup: file, isAway }: VerifyResult): Line => {
  if (problem === null) return ['good', `intact: ${file}`]
  return isAway ? ['quiet', `not on this host: ${file}`] : ['bad', `not intact: ${problem}`]
}

const permissionLine = ({ problem, exposure, backup: file }: VerifyResult): Line | null => {
  if (exposure === null) return problem === null ? ['good', 'private: only its owner can read it'] : null
  const fix = exposure.startsWith('mode') ? `chmod 600 ${file}` : 'fix that'
  return ['bad', `exposed: ${exposure}; ${fix}. If other users could read it, treat the key as compromised`]
}

const keystoreLine = ({ isSame, whyUnknown, keystore }: VerifyResult, mayRecover: boolean): Line => {
  if (isSame === true) return ['good', `the same key as in ${keystore}`]
  if (isSame === false) return ['bad', `ANOTHER key than in ${keystore}`]
  const why = whyUnknown ?? 'there is nothing to compare'
  return [mayRecover ? 'unknown' : 'quiet', `not compared with the keystore: ${why}`]
}

const copyLines = ({ copies, keystoreCopies }: VerifyResult): readonly (Line | null)[] => {
  const exposed = copies.filter(({ exposure }) => exposure !== null)
  const whole = copies.filter(({ isWhole }) => isWhole)
  const last = whole.at(-1)
  const newest = last === undefined ? '' : `, newest ${last.file}`
  return [
    copies.length === 0 ? null : ['quiet', `${copies.length} earlier .bak, ${whole.length} of them intact${newest}`],
    ...exposed.map(({ file }): Line => ['bad', `other users can read ${file}: chmod 600`]),
    keystoreCopies.length === 0
      ? null
      : ['quiet', `${keystoreCopies.length} earlier keystores, newest ${keystoreCopies.at(-1) ?? ''}`],
  ]
}

interface ExportOptions {
  readonly type?: readonly BackupType[]
  readonly recipient: readonly string[]
  readonly recipientsFile?: string
  readonly outputDirectory: string
  readonly armor?: true
}

export const exportBackups = async (command: ConfiguredContext<ExportOptions>): Promise<void> => {
  const { exit, options } = command
  await runKeyCommand(command, async (session, progress) => {
    const encrypt = createEncrypt(await recipientsOf(session, options))
    const done = await exportKeys(session.context, {
      keys: options.type ?? KEY_TYPES,
      encrypt,
      known: await session.readKnownKeys({ mayRun: true }),
      folder: resolve(options.outputDirectory),
      isArmored: options.armor === true,
    })
    progress.end()
    command.print({
      document: () => done,
      lines: (style) => [...done.flatMap((one) => renderExport(one, style)), EXPORT_CLOSING],
    })
    exit(0)
  })
}

const EXPORT_CLOSING =
  "Move them off this host, decrypt one there (age -d -i KEYFILE), and record it: chain-agent keys off-node 'where'"

const renderExport = ({ key, file, publicKey, isLegacy }: ExportResult, style: Style): readonly string[] =>
  page(`${style.paint('good', style.sign('good'))} ${key}: ${file}`, style, [
    ['public key', publicKey],
    ['legacy', isLegacy ? LEGACY : null],
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

export const recordOffNode = async (
  command: ConfiguredContext<TypeOption & { readonly where: string }>,
): Promise<void> => {
  const { io, exit, options } = command
  const { where } = options
  await runKeyCommand(command, async ({ context }) => {
    const at = new Date(context.now()).toISOString()
    const copies = []
    for (const key of options.type ?? KEY_TYPES) {
      const { publicKey, problem } = await verify(context, key, false)
      if (publicKey === null) throw unknownKey(key, problem)
      copies.push({ key, publicKey, where, at })
    }
    await noteOffNode(context, copies)
    io.stdout.write(`Recorded for ${copies.map(({ key }) => key).join(' and ')}: ${where}\n`)
    exit(0)
  })
}

const unknownKey = (key: KeyType, problem: string | null): SourceError =>
  new SourceError({
    doing: `record the location of the ${key} key`,
    happened: problem ?? 'its backup on this host does not contain the public key',
    advice:
      'record it while the backup is still on this host: `chain-agent keys backup` writes one with the public key',
  })
