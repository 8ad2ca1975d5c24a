import { lstat, opendir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { redact } from '../core/redact.ts'
import { codeOf, isMissing } from './missing.ts'

interface FileSystem {
  readonly sizeBytes: bigint
  /** What an ordinary user can still write. */
  readonly availableBytes: bigint
}

/**
 * What directories and files of the node tell without being opened. Null is what is not there; `removed`
 * is a directory that we still hold, by a bind mount, while others see a new one of its name, or none.
 */
export interface Space {
  fileSystem(path: string): Promise<FileSystem | null>
  /** What the files below a directory take; `too many` where to look at each would be no gentle reading. */
  bytesBelow(path: string, signal: AbortSignal): Promise<bigint | 'too many' | 'removed' | null>
  /** Milliseconds since the epoch. */
  modifiedAt(path: string): Promise<number | 'removed' | null>
}

const MAX_ENTRIES = 20_000
/** Looked at together: below the size of Node's pool of threads, which others need too. */
const AT_ONCE = 2
const BLOCK_BYTES = 512n

export const createSpace = (maxEntries = MAX_ENTRIES): Space => ({
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

/** A directory that is in no other any more is empty for ever: nobody can write into it. */
const isRemoved = async (directory: string): Promise<boolean> => (await stat(directory)).nlink === 0

const attempt = async <T>(path: string, look: () => Promise<T>): Promise<T | null> => {
  try {
    return await look()
  } catch (error) {
    if (isMissing(error)) return null
    const advice = ['EACCES', 'EPERM'].includes(codeOf(error))
      ? `give the agent's user the right to look into it (docs/host.md)`
      : undefined
    throw new SourceError(
      { doing: `look at ${redact(path)}`, happened: codeOf(error), advice },
      { cause: error },
    )
  }
}

/** The paths of all entries, by names alone; null where there are too many. Links are not followed. */
const filesBelow = async (
  root: string,
  most: number,
  signal: AbortSignal,
): Promise<readonly string[] | null> => {
  const files: string[] = []
  const directories = [root]
  for (let at = directories.pop(); at !== undefined; at = directories.pop()) {
    const inside = at
    const directory = await opendir(inside).catch((error: unknown) => {
      if (inside !== root && isMissing(error)) return undefined
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

/** The node removes old files while we look. */
const blocksOf = async (path: string): Promise<bigint> => {
  try {
    return (await lstat(path, { bigint: true })).blocks
  } catch (error) {
    if (isMissing(error)) return 0n
    throw error
  }
}
