import { basename, dirname } from 'node:path'
import type { KeyContext } from './key-context.ts'

/** The name of a temporary file or directory for `path`; it is renamed to `path` when it is complete. */
export const temporaryName = (path: string, { runId }: Pick<KeyContext, 'runId'>, folder = dirname(path)) =>
  `${folder}/.${basename(path)}.${runId}.new`

/** Temporary files of interrupted runs for this path. No other run uses them: the folder is locked. */
export const findTemporaryFiles = async (
  { files }: Pick<KeyContext, 'files'>,
  path: string,
  folder = dirname(path),
): Promise<readonly string[]> => {
  const names = await files.list(folder)
  const [begin, end] = [`.${basename(path)}.`, '.new']
  return names.filter((name) => name.startsWith(begin) && name.endsWith(end)).map((name) => `${folder}/${name}`)
}

interface Replacement {
  readonly path: string
  readonly content: string | Uint8Array
  readonly owner?: { readonly uid: number; readonly gid: number }
}

/**
 * Writes a temporary file, runs `before`, and renames the file to `path`. If one of them fails, the temporary file is
 * removed and the old file stays.
 */
export const replaceFile = async <T>(
  context: Pick<KeyContext, 'files' | 'runId'>,
  { path, content, owner }: Replacement,
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
export const tryRemove = async ({ files }: Pick<KeyContext, 'files'>, path: string): Promise<boolean> => {
  try {
    await files.remove(path)
    return true
  } catch {
    return false
  }
}

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
  findTemporaryFiles(context, stagedName(keystore), stagingParent(context, keystore))

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
