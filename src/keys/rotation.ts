import { basename, dirname } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { isOpenToOthers, isReplacedCopyOf, replacedCopyPath } from '../domain/key-paths.ts'
import { second } from '../core/units.ts'
import type { KeyFileInfo, Owner, SecretFiles } from '../sources/secret-files.ts'
import type { KeyContext } from './key-context.ts'

/** The dated copies of a file (`.bak`), oldest first. */
export const copiesOf = async (files: SecretFiles, path: string): Promise<readonly string[]> => {
  const folder = dirname(path)
  const paths = (await files.list(folder)).map((name) => `${folder}/${name}`)
  return paths.filter(isReplacedCopyOf(path)).toSorted()
}

/** Names have a resolution of one second; a taken name is tried again one second later. */
const MAX_TRIES = 60

/**
 * Links the existing file, which is about to be replaced, to a dated name, which never overwrites another file. Null if
 * there is no file. `isExposed`: whether other users can read it. Throws a SourceError.
 */
export const keep = async (context: KeyContext, path: string) => {
  const { files, now } = context
  const info = await regularFileAt(files, path)
  if (info === undefined) return null
  const isExposed = isOpenToOthers(info.mode)
  // A run that was interrupted after this step has already made the link.
  if (info.names > 1) {
    for (const file of await copiesOf(files, path)) {
      if ((await files.look(file))?.inode === info.inode) return { file, isExposed }
    }
  }
  const at = now()
  for (let late = 0; late < MAX_TRIES; late += 1) {
    const file = replacedCopyPath(path, at + late * second)
    if (await files.keepAs(path, file)) return { file, isExposed }
  }
  throw new SourceError({
    doing: `keep ${path} as a copy`,
    happened: `the names from ${replacedCopyPath(path, at)} on are taken`,
    advice: 'check the clock of the host',
  })
}

/** The file at `path`, or undefined if there is none. Throws a SourceError if it is not a regular file. */
export const regularFileAt = async (files: SecretFiles, path: string): Promise<KeyFileInfo | undefined> => {
  const info = await files.look(path)
  if (info === undefined || info.kind === 'file') return info
  throw new SourceError({
    doing: `replace ${path}`,
    happened: info.kind === 'folder' ? 'it is a directory' : 'it is a link or not a regular file',
    advice: 'replace it with a regular file, or configure another directory',
  })
}

/** The name of a temporary file or directory for `path`; it is renamed to `path` when it is complete. */
export const temporaryName = (path: string, { runId }: Pick<KeyContext, 'runId'>, folder = dirname(path)) =>
  `${folder}/.${basename(path)}.${runId}.new`

/** Temporary files of interrupted runs for this path. No other run uses them: the folder is locked. */
export const findTemporaryFiles = async (files: SecretFiles, path: string, folder = dirname(path)) => {
  const names = await files.list(folder)
  const [begin, end] = [`.${basename(path)}.`, '.new']
  return names.filter((name) => name.startsWith(begin) && name.endsWith(end)).map((name) => `${folder}/${name}`)
}

/**
 * Writes a temporary file, runs `before`, and renames the file to `path`. If one of them fails, the temporary file is
 * removed and the old file stays.
 */
export const replaceFile = async <T>(
  context: Pick<KeyContext, 'files' | 'runId'>,
  { path, content, owner }: { readonly path: string; readonly content: string | Uint8Array; readonly owner?: Owner },
  before: () => Promise<T>,
): Promise<T> => {
  const { files } = context
  const temporary = temporaryName(path, context)
  const inode = await files.create(temporary, content, owner)
  try {
    const result = await before()
    await files.replace(temporary, path, inode)
    return result
  } catch (error) {
    await files.remove(temporary).catch(() => undefined)
    throw error
  }
}

/** False if the file could not be removed. The caller reports it; the error must not hide the result. */
export const tryRemove = (files: SecretFiles, path: string): Promise<boolean> =>
  files.remove(path).then(
    () => true,
    () => false,
  )

/**
 * Runs `work` with the path of a new keystore in a staging directory that only this process can change. As root that is
 * not the node's folder: the node's user could place a symbolic link there, which a program that runs as root would
 * follow.
 */
export const withStagingDirectory = async <T>(
  context: KeyContext,
  keystore: string,
  work: (staged: string) => Promise<T>,
): Promise<T> => {
  const { files } = context
  for (const path of await findStagingDirectories(context, keystore)) {
    await removeDirectory(context, path)
  }
  const directory = temporaryName(stagedName(keystore), context, stagingParent(context, keystore))
  try {
    await files.createFolder(directory)
    return await work(`${directory}/${basename(keystore)}`)
  } finally {
    await removeDirectory(context, directory)
  }
}

/** Staging directories of interrupted runs. Their keystores were not verified; the backups still exist. */
export const findStagingDirectories = (context: KeyContext, keystore: string): Promise<readonly string[]> =>
  findTemporaryFiles(context.files, stagedName(keystore), stagingParent(context, keystore))

/** Contains the full path: several nodes of the host may share the parent, and only this node is locked. */
const stagedName = (keystore: string): string => `${dirname(keystore)}/${encodeURIComponent(keystore)}.made`

const stagingParent = ({ privateDirectory }: KeyContext, keystore: string): string =>
  privateDirectory ?? dirname(keystore)

/** The next run finds a directory that cannot be removed; the error must not hide the result. */
const removeDirectory = async ({ files }: KeyContext, directory: string): Promise<void> => {
  try {
    for (const name of await files.list(directory)) await files.remove(`${directory}/${name}`)
    await files.remove(directory)
  } catch {
    // `keys verify` reports it.
  }
}
