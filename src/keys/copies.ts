import { dirname } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { replacedCopyPath, isReplacedCopyOf, isOpenToOthers } from '../core/key-paths.ts'
import { second } from '../core/units.ts'
import type { KeyFileInfo } from '../sources/secret-files.ts'
import type { Kit } from './kit.ts'

/** The copies that lie beside a file, oldest first. */
export const copiesOf = async (
  { files }: Pick<Kit, 'files'>,
  path: string,
): Promise<readonly string[]> => {
  const folder = dirname(path)
  const names = await files.list(folder)
  return names
    .map((name) => `${folder}/${name}`)
    .filter(isReplacedCopyOf(path))
    .toSorted()
}

/** How many seconds may be taken already by other copies. */
const MOST_TRIES = 60

/** What was kept of a file that is about to be replaced. */
export interface Kept {
  readonly file: string
  /** Whether others than its owner may read it, as they could before. */
  readonly isExposed: boolean
}

/**
 * Gives what lies there now a name that stays; no name that is taken is ever used. Null where nothing lies
 * there.
 */
export const keepCopy = async (kit: Kit, path: string): Promise<Kept | null> => {
  const { files, now } = kit
  const lying = await lyingAt(kit, path)
  if (lying === undefined) return null
  const isExposed = isOpenToOthers(lying.mode)
  // A run that was interrupted after this step has done it already.
  if (lying.names > 1) {
    for (const file of await copiesOf(kit, path)) {
      if ((await files.look(file))?.inode === lying.inode) return { file, isExposed }
    }
  }
  const at = now()
  for (let late = 0; late < MOST_TRIES; late += 1) {
    const file = replacedCopyPath(path, at + late * second)
    if (await files.keepAs(path, file)) return { file, isExposed }
  }
  throw new SourceError({
    doing: `keep ${path} as a copy`,
    happened: `names are taken from ${replacedCopyPath(path, at)} on`,
    advice: 'see that the clock of the host is right',
  })
}

/** What a file is that is to be replaced; undefined where there is none, an error where it is something else. */
export const lyingAt = async (
  { files }: Pick<Kit, 'files'>,
  path: string,
): Promise<KeyFileInfo | undefined> => {
  const lying = await files.look(path)
  if (lying === undefined || lying.kind === 'file') return lying
  throw new SourceError({
    doing: `replace ${path}`,
    happened: lying.kind === 'folder' ? 'it is a folder' : 'it is a link or no regular file',
    advice: 'put the file itself there, or name another folder in the configuration',
  })
}
