import { basename, dirname } from 'node:path'
import type { Kit } from './kit.ts'

/** The name of a file, or of a folder to make one in, until it is whole and takes the name of `path`. */
export const unfinishedName = (path: string, { mark }: Pick<Kit, 'mark'>, folder = dirname(path)) =>
  `${folder}/.${basename(path)}.${mark}.new`

/** What interrupted runs have left for this path: nobody else works on the folder, it is locked. */
export const findUnfinished = async (
  { files }: Pick<Kit, 'files'>,
  path: string,
  folder = dirname(path),
): Promise<readonly string[]> => {
  const names = await files.list(folder)
  const [begin, end] = [`.${basename(path)}.`, '.new']
  return names
    .filter((name) => name.startsWith(begin) && name.endsWith(end))
    .map((name) => `${folder}/${name}`)
}

/**
 * Writes a file and has it take the name of `path`; `before` is done between the two. What fails leaves
 * nothing behind but what was there.
 */
export const putInPlace = async <T>(
  kit: Pick<Kit, 'files' | 'mark'>,
  { path, content, owner }: Putting,
  before: () => Promise<T>,
): Promise<T> => {
  const { files } = kit
  const fresh = unfinishedName(path, kit)
  const inode = await files.create(fresh, content, owner)
  try {
    const told = await before()
    await files.replace(fresh, path, inode)
    return told
  } catch (error) {
    await files.remove(fresh).catch(() => undefined)
    throw error
  }
}

/** Whether it is gone now. What stays is told of, and hides nothing else that has happened. */
export const isRemoved = async ({ files }: Pick<Kit, 'files'>, path: string): Promise<boolean> => {
  try {
    await files.remove(path)
    return true
  } catch {
    return false
  }
}

interface Putting {
  readonly path: string
  readonly content: string | Uint8Array
  readonly owner?: { readonly uid: number; readonly gid: number }
}
