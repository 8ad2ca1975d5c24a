import { lstat, opendir, readdir, stat, statfs } from 'node:fs/promises'
import { errorCode, fileError, ifMissing, isNotFound } from '../core/errors.ts'
import { atFile, readBeginning } from '../core/files.ts'
import { join } from 'node:path'
import { redact } from '../core/redaction/redact.ts'

export type FileTree = ReturnType<typeof createFileTree>

const MAX_BYTES = 64 * 1024

/** Small files below one directory, such as /proc and /sys. */
export const createFileTree = (root: string) => {
  const attempt = async <T>(path: string, look: (whole: string) => Promise<T>): Promise<T | null> => {
    const whole = join(root, path)
    return await unlessMissing({ doing: `read ${whole}` }, () => look(whole))
  }
  return {
    /** The beginning of a file; null if it does not exist. Throws a SourceError, as do the other functions. */
    read: (path: string, maxBytes = MAX_BYTES) => attempt(path, (whole) => readBeginning(whole, maxBytes)),
    list: (path: string): Promise<readonly string[] | null> =>
      attempt(path, (whole) => atFile(whole, () => readdir(whole))),
    /** The number of entries in a directory; `/proc/PID/fd` may not be readable by this user. */
    count: (path: string) => attempt(path, (whole) => atFile(whole, () => countEntries(whole))),
  }
}

/** Since Linux 6.2 the size of `/proc/PID/fd` is the number of its entries, readable by every user. */
const countEntries = async (path: string): Promise<number> => {
  try {
    return (await readdir(path)).length
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(errorCode(error))) throw error
    const { size } = await stat(path)
    if (size > 0) return size
    throw error
  }
}

export type DiskUsage = ReturnType<typeof createDiskUsage>

const MAX_FILES = 20_000

/**
 * Facts on directories and files that are readable without opening them. Null if the path does not exist, and for a
 * directory that was removed while this process holds it through a bind mount.
 */
export const createDiskUsage = (maxFiles = MAX_FILES) => {
  const scans = new Map<string, ReturnType<typeof createDirectoryScan>>()
  const scanOf = (path: string) => {
    const scan = scans.get(path) ?? createDirectoryScan(path, maxFiles)
    scans.set(path, scan)
    return scan
  }
  return {
    /** What is available is the space for unprivileged users. */
    fileSystem: (path: string) =>
      attempt(path, async () => {
        const { bsize, blocks, bavail } = await atFile(path, () => statfs(path, { bigint: true }))
        return { sizeBytes: blocks * bsize, availableBytes: bavail * bsize }
      }),
    /** The disk usage of the files below a directory in bytes; each call reads a limited number of files. */
    bytesBelow: (path: string, signal: AbortSignal) => attempt(path, () => scanOf(path).read(signal)),
    /** Closes the directories that `bytesBelow` holds open until all of their files are summed. */
    release: async (): Promise<void> => {
      await Promise.allSettled([...scans.values()].map((scan) => scan.release()))
    },
    /** Milliseconds since the epoch. */
    modifiedAt: (path: string) => attempt(path, async () => (await atFile(path, () => stat(path))).mtimeMs),
  }
}

const attempt = <T>(path: string, look: () => Promise<T>): Promise<T | null> => {
  const advice = `give the agent's user read access to it (docs/how-to/host.md)`
  return unlessMissing({ doing: `read ${redact(path)}`, advice }, look)
}

/** The result; null if the file does not exist. `advice` is for a user without permission. */
const unlessMissing = async <T>(
  { doing, advice }: { readonly doing: string; readonly advice?: string },
  look: () => Promise<T>,
): Promise<T | null> => {
  try {
    return await look()
  } catch (error) {
    if (isNotFound(error)) return null
    const code = errorCode(error)
    const isDenied = code === 'EACCES' || code === 'EPERM'
    throw fileError(error, { doing, advice: isDenied ? advice : undefined })
  }
}

/** `incomplete`: not all files were counted once. */
type DirectorySize = bigint | 'incomplete' | null

interface Pass {
  readonly paths: AsyncGenerator<string, undefined>
  blocks: bigint
}

/** Files between two looks at the signal: together they take some milliseconds. */
const BATCH = 64
const BLOCK_BYTES = 512n

/**
 * The disk usage of the files below a directory in bytes, by the last complete pass. Each call continues the pass with at
 * most `most` files: the ledger of a node has ten times as many, and each costs about 40 µs of CPU time. Between two calls
 * the directory stays open: the names of 200,000 files took 30 to 70 MB, and to skip them again in each call 1 s.
 */
const createDirectoryScan = (root: string, most: number) => {
  let pass: Pass | undefined
  let size: DirectorySize = 'incomplete'
  /** The inode of the directory that the pass and the size are of. */
  let scanned: bigint | undefined

  /** Ends the pass, and closes the directory that it holds open between two calls. */
  const release = async (): Promise<void> => {
    const ended = pass
    pass = undefined
    if (ended) await atFile(root, () => ended.paths.return(undefined))
  }

  const restart = async (): Promise<void> => {
    size = 'incomplete'
    await release()
  }

  const advance = async (current: Pass, signal: AbortSignal): Promise<boolean> => {
    for (let left = most; left > 0; left -= BATCH) {
      signal.throwIfAborted()
      if (await atFile(root, () => sumBatch(current, Math.min(BATCH, left)))) return true
    }
    return false
  }

  const read = async (signal: AbortSignal): Promise<DirectorySize> => {
    try {
      const { ino: inode, nlink } = await atFile(root, () => stat(root, { bigint: true }))
      // A directory without links has been removed and stays empty forever.
      if (nlink === 0n) {
        await restart()
        return null
      }
      if (scanned !== inode) await restart()
      scanned = inode
      pass ??= { paths: pathsBelow(root), blocks: 0n }
      const current = pass
      // A pass that was released in the meantime ends early.
      if ((await advance(current, signal)) && pass === current) {
        size = current.blocks * BLOCK_BYTES
        pass = undefined
      }
      return size
    } catch (error) {
      // After a timeout the next call continues; after another error nothing is known.
      if (!signal.aborted) await restart()
      throw error
    }
  }

  return { read, release }
}

/** Whether there are no more files. */
const sumBatch = async (pass: Pass, files: number): Promise<boolean> => {
  for (let left = files; left > 0; left -= 1) {
    const { done, value } = await pass.paths.next()
    if (done === true) return true
    const blocks = await blocksOf(value)
    pass.blocks += blocks
  }
  return false
}

/** Links are not followed. */
async function* pathsBelow(root: string): AsyncGenerator<string, undefined> {
  const directories = [root]
  for (let at = directories.pop(); at !== undefined; at = directories.pop()) {
    const inside = at
    const opening = opendir(inside)
    const directory = await (inside === root ? opening : opening.catch(ifMissing(undefined)))
    if (!directory) continue
    for await (const entry of directory) {
      const path = join(inside, entry.name)
      if (entry.isDirectory()) directories.push(path)
      yield path
    }
  }
}

/** The node may delete files in the meantime. */
const blocksOf = async (path: string): Promise<bigint> =>
  (await lstat(path, { bigint: true }).catch(ifMissing({ blocks: 0n }))).blocks
