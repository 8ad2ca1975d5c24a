import { constants } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'

/** Why nothing was had: there is no such file, this user may not, or the system fails. */
export type Trouble = 'none' | 'barred' | 'broken'

export interface FileFacts {
  readonly isFile: boolean
  readonly bytes: number
  /** The permission bits alone. */
  readonly mode: number
  readonly uid: number
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
}

/** Files with secrets. No answer and no error ever holds a path or a content. */
export interface KeyFiles {
  /** So much of a file is read: no keystore, backup or environment file is nearly as long. */
  readonly maxBytes: number
  /** Of what a link leads to: that is what the node opens. */
  look(path: string): Promise<FileFacts | Trouble>
  /** The beginning of a file is shown to `judge`, and wiped as soon as that has answered. */
  read<T extends object | string | null>(
    path: string,
    judge: (text: string) => T,
  ): Promise<{ readonly verdict: T } | Trouble>
  /** The names in a directory. */
  list(path: string): Promise<readonly string[] | Trouble>
}

const MAX_BYTES = 64 * 1024

export const keyFiles: KeyFiles = {
  maxBytes: MAX_BYTES,
  look: async (path) => {
    try {
      const facts = await stat(path)
      return {
        isFile: facts.isFile(),
        bytes: facts.size,
        mode: facts.mode & 0o7777,
        uid: facts.uid,
        modifiedAt: Math.floor(facts.mtimeMs),
      }
    } catch (error) {
      return troubleOf(error)
    }
  },
  read: async (path, judge) => {
    // A buffer of its own: those of the pool are shared, and come back with what was in them.
    const buffer = Buffer.alloc(MAX_BYTES)
    try {
      // Not blocking: a pipe in the file's place would hold us for ever.
      const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
      try {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
        return { verdict: judge(buffer.toString('utf8', 0, bytesRead)) }
      } finally {
        await handle.close()
      }
    } catch (error) {
      return troubleOf(error)
    } finally {
      buffer.fill(0)
    }
  },
  list: async (path) => {
    try {
      return await readdir(path)
    } catch (error) {
      return troubleOf(error)
    }
  },
}

const NOTHING_THERE = new Set<unknown>(['ENOENT', 'ENOTDIR', 'ELOOP'])
const NOT_ALLOWED = new Set<unknown>(['EACCES', 'EPERM'])

/** An error that is not the system's is a bug of ours and goes on, for `judge` throws none. */
const troubleOf = (error: unknown): Trouble => {
  if (!(error instanceof Error) || !('code' in error)) throw error
  if (NOTHING_THERE.has(error.code)) return 'none'
  return NOT_ALLOWED.has(error.code) ? 'barred' : 'broken'
}
