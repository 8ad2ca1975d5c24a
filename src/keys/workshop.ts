import { basename, dirname } from 'node:path'
import type { Kit } from './kit.ts'
import { findUnfinished, unfinishedName } from './unfinished.ts'

/**
 * Has a keystore made where only we can change anything. As root that is not the node's folder: its user
 * could put a link in the way of a program that follows it with our rights.
 */
export const inWorkshop = async <T>(
  kit: Kit,
  keystore: string,
  work: (fresh: string) => Promise<T>,
): Promise<T> => {
  const { files } = kit
  for (const left of await workshopsOf(kit, keystore)) await clear(kit, left)
  const workshop = unfinishedName(made(keystore), kit, folderOf(kit, keystore))
  try {
    await files.createFolder(workshop)
    return await work(`${workshop}/${basename(keystore)}`)
  } finally {
    await clear(kit, workshop)
  }
}

/** What interrupted runs have left: never proven, and made of a backup that is still there. */
export const workshopsOf = (kit: Kit, keystore: string): Promise<readonly string[]> =>
  findUnfinished(kit, made(keystore), folderOf(kit, keystore))

/** The whole path: the folder may be one for all nodes of the host, and no more than ours is locked. */
const made = (keystore: string): string =>
  `${dirname(keystore)}/${encodeURIComponent(keystore)}.made`

const folderOf = ({ ownFolder }: Kit, keystore: string): string => ownFolder ?? dirname(keystore)

/** What cannot be removed is found again by the next run; it must not hide what has happened. */
const clear = async ({ files }: Kit, workshop: string): Promise<void> => {
  try {
    for (const name of await files.list(workshop)) await files.remove(`${workshop}/${name}`)
    await files.remove(workshop)
  } catch {
    // Told by `keys verify`.
  }
}
