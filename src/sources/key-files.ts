import { constants } from 'node:fs'
import { open, readdir, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from './missing.ts'

/** Why nothing was had: there is no such file, this user may not, the system fails, or has not answered yet. */
export type Trouble = 'none' | 'barred' | 'broken' | 'waiting'

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

/** Homes that systemd can take out of a unit's sight. */
const HOMES = ['/home', '/root', '/run/user']

export const createKeyFiles = (homes: readonly string[] = HOMES): KeyFiles => {
  /** With ProtectHome=tmpfs nothing that we see there is the node's, but for what was bound into it. */
  const isHidden = async (path: string): Promise<boolean> =>
    homes.some((home) => path.startsWith(`${home}/`)) && (await liesOnTmpfs(path))

  const attempt = async <T>(path: string, look: () => Promise<T>): Promise<T | Trouble> => {
    try {
      return await look()
    } catch (error) {
      const trouble = troubleOf(error)
      return trouble === 'none' && (await isHidden(path)) ? 'barred' : trouble
    }
  }

  return {
    maxBytes: MAX_BYTES,
    look: (path) =>
      attempt(path, async () => {
        const facts = await stat(path)
        if (facts.isDirectory() && (await isHidden(path))) return 'barred'
        return {
          isFile: facts.isFile(),
          bytes: facts.size,
          mode: facts.mode & 0o7777,
          uid: facts.uid,
          modifiedAt: Math.floor(facts.mtimeMs),
        }
      }),
    read: (path, judge) =>
      attempt(path, async () => ({ verdict: await readBeginning(path, judge) })),
    list: (path) =>
      attempt(path, async () => ((await isHidden(path)) ? 'barred' : await readdir(path))),
  }
}

export const keyFiles = createKeyFiles()

const readBeginning = async <T>(path: string, judge: (text: string) => T): Promise<T> => {
  // A buffer of its own: those of the pool are shared, and come back with what was in them.
  const buffer = Buffer.alloc(MAX_BYTES)
  try {
    // Not blocking: a pipe in the file's place would hold us for ever.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
      return judge(buffer.toString('utf8', 0, bytesRead))
    } finally {
      await handle.close()
    }
  } finally {
    buffer.fill(0)
  }
}

/** As statfs(2) has it. */
const TMPFS = 0x01021994

/** Of what is not there, the nearest directory above it that is. */
const liesOnTmpfs = async (path: string): Promise<boolean> => {
  try {
    return (await statfs(path)).type === TMPFS
  } catch (error) {
    return NOTHING_THERE.has(codeOf(error)) && path !== '/' && liesOnTmpfs(dirname(path))
  }
}

const NOTHING_THERE = new Set<unknown>(['ENOENT', 'ENOTDIR', 'ELOOP'])
const NOT_ALLOWED = new Set<unknown>(['EACCES', 'EPERM'])

/** An error that is not the system's is a bug of ours and goes on, for `judge` throws none. */
const troubleOf = (error: unknown): Trouble => {
  if (!(error instanceof Error) || !('code' in error)) throw error
  if (NOTHING_THERE.has(error.code)) return 'none'
  return NOT_ALLOWED.has(error.code) ? 'barred' : 'broken'
}
