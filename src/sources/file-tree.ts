import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { errorCode, isNotFound } from '../core/file-errors.ts'

/** Small files below one directory, such as /proc and /sys. */
export interface FileTree {
  /** The beginning of a file; null if it does not exist. Throws a SourceError, as do the other functions. */
  read(path: string, maxBytes?: number): Promise<string | null>
  /** The names in a directory; null if it does not exist. */
  list(path: string): Promise<readonly string[] | null>
  /** The number of entries in a directory; `/proc/PID/fd` may not be readable by this user. */
  count(path: string): Promise<number | null>
}

const MAX_BYTES = 64 * 1024

export const createFileTree = (root: string): FileTree => {
  const attempt = async <T>(path: string, look: (whole: string) => Promise<T>): Promise<T | null> => {
    const whole = join(root, path)
    try {
      return await look(whole)
    } catch (error) {
      if (isNotFound(error)) return null
      throw unreadable(whole, error)
    }
  }
  return {
    read: (path, maxBytes = MAX_BYTES) => attempt(path, (whole) => readBeginning(whole, maxBytes)),
    list: (path) => attempt(path, (whole) => readdir(whole)),
    count: (path) => attempt(path, countEntries),
  }
}

/** Kernel files report no size and are read in parts. */
const readBeginning = async (path: string, maxBytes: number): Promise<string> => {
  const file = await open(path, 'r')
  try {
    const buffer = Buffer.alloc(maxBytes)
    let filled = 0
    while (filled < maxBytes) {
      const { bytesRead } = await file.read(buffer, filled, maxBytes - filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return buffer.toString('utf8', 0, filled)
  } finally {
    await file.close()
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

const unreadable = (path: string, error: unknown): SourceError =>
  new SourceError({ doing: `read ${path}`, happened: errorCode(error) }, { cause: error })
