import { KEY_TYPES } from '../../domain/key-paths.ts'
import { asError } from '../../core/errors.ts'
import { backUp, type BackupResult } from '../../keys/backup.ts'
import type { KeySession } from './session.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import type { Io, ActionContext } from '../../terminal/io.ts'
import type { Style } from '../../terminal/style.ts'
import {
  FOLDER_ADVICE,
  type KeyFailure,
  LEGACY,
  page,
  printResults,
  runKeyCommand,
  warnOfExposure,
} from './key-command.ts'

interface BackupOptions extends ConfigOptions {
  readonly type?: readonly BackupResult['key'][]
  readonly json?: true
}

export const backup = async ({ io, exit, options }: ActionContext<BackupOptions>): Promise<void> => {
  await runKeyCommand({ io, exit, options }, async (session, progress) => {
    warnOfExposure(io, session, 'the keystore password')
    const { done, failed } = await backUpAll(session, options.type ?? KEY_TYPES, io)
    progress.end()
    printResults(io, options, { done, failed, render })
    if (!options.json && done.length > 0) io.stdout.write(CLOSING)
    exit(failed.length === 0 ? 0 : 1)
  })
}

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

const render = (one: BackupResult, style: Style): readonly string[] =>
  page(`${style.paint('good', style.sign('good'))} ${one.key}: ${one.file}`, style, [
    ...(one.publicKey === null ? [] : [['public key', one.publicKey] as const]),
    ...(one.isLegacy ? [['legacy', LEGACY] as const] : []),
    ...(one.linkedTo === null ? [] : [['directory', `${one.linkedTo}, to which a link leads`] as const]),
    ...(one.kept === null ? [] : [['previous', one.kept] as const]),
    ...(one.copies === 0 ? [] : [['earlier', earlierOf(one)] as const]),
    ...(one.isKeptExposed
      ? [['exposed', `other users can read the previous backup: chmod 600 ${one.kept}`] as const]
      : []),
    ...(one.folderRisk === null ? [] : [['removable', `${one.folderRisk}: ${FOLDER_ADVICE}`] as const]),
    ...one.removed.map((file) => ['removed', `${file}, left by an interrupted run`] as const),
    ...one.left.map((file) => ['check', `${file}: left by an interrupted run, and its content differs`] as const),
  ])

const earlierOf = ({ copies }: BackupResult): string =>
  `${copies} .bak ${copies === 1 ? 'file also contains' : 'files also contain'} a key: remove those that you do not need`
