import { lstat, opendir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { redact } from '../core/redact.ts'
import { errorCode, isNotFound } from '../core/file-errors.ts'

interface FileSystem {
  readonly sizeBytes: bigint
  /** The space available to unprivileged users. */
  readonly availableBytes: bigint
}

/**
 * Facts on directories and files that are readable without opening them. Null if the path does not exist. `removed`: a
 * directory that this process still holds through a bind mount, while other processes see a new directory of that name,
 * or none.
 */
export interface DiskUsage {
  fileSystem(path: string): Promise<FileSystem | null>
  /** The disk usage of the files below a directory in bytes; `too many` if there are more files than the limit. */
  bytesBelow(path: string, signal: AbortSignal): Promise<bigint | 'too many' | 'removed' | null>
  /** Milliseconds since the epoch. */
  modifiedAt(path: string): Promise<number | 'removed' | null>
}

const MAX_ENTRIES = 20_000
/** The number of files read in parallel: below the size of Node's thread pool, which is shared. */
const AT_ONCE = 2
const BLOCK_BYTES = 512n

export const createDiskUsage = (maxEntries = MAX_ENTRIES): DiskUsage => ({
  fileSystem: (path) =>
    attempt(path, async () => {
      const { bsize, blocks, bavail } = await statfs(path, { bigint: true })
      return { sizeBytes: blocks * bsize, availableBytes: bavail * bsize }
    }),
  bytesBelow: (path, signal) =>
    attempt(path, async () => {
      if (await isRemoved(path)) return 'removed'
      const files = await filesBelow(path, maxEntries, signal)
      return files === null ? 'too many' : await sum(files, signal)
    }),
  modifiedAt: async (path) => {
    const at = await attempt(path, async () => (await stat(path)).mtimeMs)
    if (at !== null) return at
    return (await attempt(path, () => isRemoved(dirname(path)))) === true ? 'removed' : null
  },
})

/** A directory without links has been removed and stays empty forever. */
const isRemoved = async (directory: string): Promise<boolean> => (await stat(directory)).nlink === 0

const attempt = async <T>(path: string, look: () => Promise<T>): Promise<T | null> => {
  try {
    return await look()
  } catch (error) {
    if (isNotFound(error)) return null
    const advice = ['EACCES', 'EPERM'].includes(errorCode(error))
      ? `give the agent's user read access to it (docs/host.md)`
      : undefined
    throw new SourceError({ doing: `read ${redact(path)}`, happened: errorCode(error), advice }, { cause: error })
  }
}

/** The paths of all entries, without reading their metadata; null if there are too many. Links are not followed. */
const filesBelow = async (root: string, most: number, signal: AbortSignal): Promise<readonly string[] | null> => {
  const files: string[] = []
  const directories = [root]
  for (let at = directories.pop(); at !== undefined; at = directories.pop()) {
    const inside = at
    const directory = await opendir(inside).catch((error: unknown) => {
      if (inside !== root && isNotFound(error)) return undefined
      throw error
    })
    if (!directory) continue
    for await (const entry of directory) {
      signal.throwIfAborted()
      files.push(join(inside, entry.name))
      if (files.length > most) return null
      if (entry.isDirectory()) directories.push(join(inside, entry.name))
    }
  }
  return files
}

const sum = async (files: readonly string[], signal: AbortSignal): Promise<bigint> => {
  let blocks = 0n
  for (let at = 0; at < files.length; at += AT_ONCE) {
    signal.throwIfAborted()
    const found = await Promise.all(files.slice(at, at + AT_ONCE).map(blocksOf))
    for (const count of found) blocks += count
  }
  return blocks * BLOCK_BYTES
}

/** The node may delete files in the meantime. */
const blocksOf = async (path: string): Promise<bigint> => {
  try {
    return (await lstat(path, { bigint: true })).blocks
  } catch (error) {
    if (isNotFound(error)) return 0n
    throw error
  }
}
