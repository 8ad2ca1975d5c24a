import { dirname } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { replacedCopyPath, isReplacedCopyOf, isOpenToOthers } from '../core/key-paths.ts'
import { second } from '../core/units.ts'
import type { KeyFileInfo } from '../sources/secret-files.ts'
import type { KeyContext } from './key-context.ts'

/** The dated copies of a file (`.bak`), oldest first. */
export const copiesOf = async ({ files }: Pick<KeyContext, 'files'>, path: string): Promise<readonly string[]> => {
  const folder = dirname(path)
  const names = await files.list(folder)
  return names
    .map((name) => `${folder}/${name}`)
    .filter(isReplacedCopyOf(path))
    .toSorted()
}

/** Names have a resolution of one second; a taken name is tried again one second later. */
const MAX_TRIES = 60

/** The copy of a file that is about to be replaced. */
export interface KeptFile {
  readonly file: string
  /** Whether other users can read it. */
  readonly isExposed: boolean
}

/**
 * Links the existing file to a dated name, which never overwrites another file. Null if there is no file. Throws a
 * SourceError.
 */
export const keep = async (context: KeyContext, path: string): Promise<KeptFile | null> => {
  const { files, now } = context
  const info = await regularFileAt(context, path)
  if (info === undefined) return null
  const isExposed = isOpenToOthers(info.mode)
  // A run that was interrupted after this step has already made the link.
  if (info.names > 1) {
    for (const file of await copiesOf(context, path)) {
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
export const regularFileAt = async (
  { files }: Pick<KeyContext, 'files'>,
  path: string,
): Promise<KeyFileInfo | undefined> => {
  const info = await files.look(path)
  if (info === undefined || info.kind === 'file') return info
  throw new SourceError({
    doing: `replace ${path}`,
    happened: info.kind === 'folder' ? 'it is a directory' : 'it is a link or not a regular file',
    advice: 'replace it with a regular file, or configure another directory',
  })
}
