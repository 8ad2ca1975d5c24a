import { dirname, resolve } from 'node:path'
import { deletableBy } from '../domain/key-paths.ts'
import type { KeyContext } from './key-context.ts'

interface FolderRisk {
  /** Who can do what: "the user 1001 owns /opt/backup and can remove or replace files in it". */
  readonly text: string
  /** Whether the path has symbolic links, which that user may replace. */
  readonly hasLink: boolean
}

/**
 * Why users other than root, this one and the node's can remove or replace a file of the directory: its owner and mode, and
 * those of each parent, with and without symbolic links. Null if they cannot, or if the directory does not exist.
 */
export const folderRiskOf = async (
  { files, folders, user }: Pick<KeyContext, 'files' | 'folders' | 'user'>,
  folder: string,
): Promise<FolderRisk | null> => {
  const resolved = await files.resolve(folder)
  if (resolved === undefined) return null
  const node = await files.look(folders.directory)
  const trusted = { users: [0, user.uid, node?.uid ?? 0], groups: [0, user.gid, node?.gid ?? 0] }
  for (const path of new Set([...parentsOf(folder), ...parentsOf(resolved)])) {
    const info = await files.look(path)
    const risk = info?.kind === 'folder' ? deletableBy(info, trusted) : null
    if (risk !== null) return { text: risk.replace('DIRECTORY', path), hasLink: resolved !== resolve(folder) }
  }
  return null
}

/** The path and its parents. */
const parentsOf = (path: string): readonly string[] =>
  path === dirname(path) ? [path] : [path, ...parentsOf(dirname(path))]
