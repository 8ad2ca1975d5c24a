import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { codeOf, isMissing } from './missing.ts'

/** Small files below one directory, such as those in which the kernel tells of the host. */
export interface Tree {
  /** The beginning of a file; null where there is none. */
  read(path: string, maxBytes?: number): Promise<string | null>
  /** The names in a directory; null where there is none. */
  list(path: string): Promise<readonly string[] | null>
  /** How many entries a directory has, which for `/proc/PID/fd` need not be ours to read. */
  count(path: string): Promise<number | null>
}

const MAX_BYTES = 64 * 1024

export const createTree = (root: string): Tree => {
  const attempt = async <T>(
    path: string,
    look: (whole: string) => Promise<T>,
  ): Promise<T | null> => {
    const whole = join(root, path)
    try {
      return await look(whole)
    } catch (error) {
      if (isMissing(error)) return null
      throw unreadable(whole, error)
    }
  }
  return {
    read: (path, maxBytes = MAX_BYTES) => attempt(path, (whole) => readBeginning(whole, maxBytes)),
    list: (path) => attempt(path, (whole) => readdir(whole)),
    count: (path) => attempt(path, countEntries),
  }
}

/** Files of the kernel have no size, and come in pieces. */
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

/** Since Linux 6.2 the size of `/proc/PID/fd` is the number of its entries, for every user. */
const countEntries = async (path: string): Promise<number> => {
  try {
    return (await readdir(path)).length
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(codeOf(error))) throw error
    const { size } = await stat(path)
    if (size > 0) return size
    throw error
  }
}

const unreadable = (path: string, error: unknown): SourceError =>
  new SourceError({ doing: `read ${path}`, happened: codeOf(error) }, { cause: error })
