import { readdir, stat } from 'node:fs/promises'
import { LIMITS } from '../core/limits.ts'
import type { Clock } from '../core/clock.ts'
import { second } from '../core/units.ts'
import { atFile, isOnFileSystem, openRegular, withFile } from '../core/files.ts'

/**
 * Why a file could not be read: it does not exist (`missing`), permission is denied (`denied`), the system reports another
 * error (`failed`), or has not responded yet (`pending`).
 */
export type FileProblem = 'missing' | 'denied' | 'failed' | 'pending'

export type KeyFiles = ReturnType<typeof createKeyFiles>
export type FileFacts = Exclude<Awaited<ReturnType<KeyFiles['look']>>, FileProblem>

const MAX_BYTES = LIMITS.keyFile.bytes

/** Home directories that systemd can hide from a unit. */
const HOMES = ['/home', '/root', '/run/user']

/** Files with secrets. No result and no error contains a path or content. */
export const createKeyFiles = (homes: readonly string[] = HOMES) => {
  /** With ProtectHome=tmpfs the visible files are not the node's, except for bind mounts. */
  const isHidden = (path: string): boolean =>
    homes.some((home) => path.startsWith(`${home}/`)) && isOnFileSystem(path, 'tmpfs')

  const attempt = async <T>(path: string, look: () => Promise<T>): Promise<T | FileProblem> => {
    try {
      return await atFile(path, look)
    } catch (error) {
      const problem = problemOf(error)
      return problem === 'missing' && isHidden(path) ? 'denied' : problem
    }
  }

  return {
    /** The number of bytes that are read: keystores, backups and environment files are much shorter. */
    maxBytes: MAX_BYTES,
    /** Follows symbolic links, as the node does when it opens the file. */
    look: (path: string) =>
      attempt(path, async () => {
        const facts = await stat(path)
        if (facts.isDirectory() && isHidden(path)) return 'denied'
        return {
          isFile: facts.isFile(),
          bytes: facts.size,
          /** The permission bits alone. */
          mode: facts.mode & 0o7777,
          uid: facts.uid,
          /** Milliseconds since the epoch. */
          modifiedAt: Math.floor(facts.mtimeMs),
          /** When content or metadata last changed; unlike the former, packages do not set it. */
          changedAt: Math.floor(facts.ctimeMs),
        }
      }),
    /** Passes the beginning of a file to `judge` and wipes the buffer afterwards. */
    read: <T extends object | string | null>(path: string, judge: (text: string) => T) =>
      attempt(path, async () => ({ verdict: await readBeginning(path, judge) })),
    list: (path: string): Promise<readonly string[] | FileProblem> =>
      attempt(path, async () => (isHidden(path) ? 'denied' : await readdir(path))),
  }
}

export const keyFiles = createKeyFiles()

/** In milliseconds. Less than a minute, so that what is looked up each minute is looked up by the system. */
const ABSENT_FOR = 50 * second
/** More than the collectors look for. */
const MAX_ABSENT = 500

/**
 * The same files; a path that was absent or denied is looked up again after some time only. Every 15 s the collectors look
 * for each path of the node in every layout: 300 stat and 850 statfs a minute on a host that has none of them.
 */
export const rememberAbsent = (files: KeyFiles, clock: Pick<Clock, 'elapsed'>): KeyFiles => {
  const remembering = () => {
    const absent = new Map<string, { readonly problem: FileProblem; readonly until: number }>()
    return async <T extends object>(path: string, ask: () => Promise<T | FileProblem>): Promise<T | FileProblem> => {
      const known = absent.get(path)
      if (known && clock.elapsed() < known.until) return known.problem
      absent.delete(path)
      const found = await ask()
      if (typeof found !== 'string' || (found !== 'missing' && found !== 'denied')) return found
      if (absent.size >= MAX_ABSENT) absent.clear()
      absent.set(path, { problem: found, until: clock.elapsed() + ABSENT_FOR })
      return found
    }
  }
  const [looked, listed] = [remembering(), remembering()]
  return {
    ...files,
    look: (path) => looked(path, () => files.look(path)),
    list: (path) => listed(path, () => files.list(path)),
  }
}

const readBeginning = async <T>(path: string, judge: (text: string) => T): Promise<T> => {
  // A separate buffer: pooled buffers are shared and may be reused with their content.
  const buffer = Buffer.alloc(MAX_BYTES)
  try {
    return await withFile(openRegular(path), async (handle) => {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
      return judge(buffer.toString('utf8', 0, bytesRead))
    })
  } finally {
    buffer.fill(0)
  }
}

const NOTHING_THERE = new Set<unknown>(['ENOENT', 'ENOTDIR', 'ELOOP'])
const NOT_ALLOWED = new Set<unknown>(['EACCES', 'EPERM'])

/** An error without a system error code is a bug and is rethrown; `judge` throws none. */
const problemOf = (error: unknown): FileProblem => {
  if (!(error instanceof Error) || !('code' in error)) throw error
  if (NOTHING_THERE.has(error.code)) return 'missing'
  if (error.code === 'ETIMEDOUT') return 'pending'
  return NOT_ALLOWED.has(error.code) ? 'denied' : 'failed'
}
