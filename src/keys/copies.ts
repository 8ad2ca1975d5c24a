import { dirname } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { copyOf, isCopyOf } from '../core/key-places.ts'
import { second } from '../core/units.ts'
import type { Lying } from '../sources/secret-files.ts'
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
    .filter(isCopyOf(path))
    .toSorted()
}

/** How many seconds may be taken already by other copies. */
const MOST_TRIES = 60

/** Gives what is about to be replaced a name that stays; no name that is taken is ever used. */
export const keepCopy = async (kit: Kit, path: string, lying: Lying): Promise<string> => {
  const { files, now } = kit
  // A run that was interrupted after this step has done it already.
  if (lying.names > 1) {
    for (const copy of await copiesOf(kit, path)) {
      if ((await files.look(copy))?.inode === lying.inode) return copy
    }
  }
  const at = now()
  for (let late = 0; late < MOST_TRIES; late += 1) {
    const copy = copyOf(path, at + late * second)
    if (await files.keepAs(path, copy)) return copy
  }
  throw new SourceError({
    doing: `keep ${path} as a copy`,
    happened: `names are taken from ${copyOf(path, at)} on`,
    advice: 'see that the clock of the host is right',
  })
}

/** What a file is that is to be replaced; undefined where there is none, an error where it is something else. */
export const lyingAt = async (
  { files }: Pick<Kit, 'files'>,
  path: string,
): Promise<Lying | undefined> => {
  const lying = await files.look(path)
  if (lying === undefined || lying.kind === 'file') return lying
  throw new SourceError({
    doing: `replace ${path}`,
    happened: lying.kind === 'folder' ? 'it is a folder' : 'it is a link or no regular file',
    advice: 'put the file itself there, or name another folder in the configuration',
  })
}
