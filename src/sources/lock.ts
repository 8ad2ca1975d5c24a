import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { errorCode, SourceError } from '../core/errors.ts'
import { removeSocket } from '../core/files.ts'
import { fingerprint } from '../core/hash.ts'

interface LockDescription {
  /** What needs the lock, for the error: "write FILE". */
  readonly doing: string
  /** What happened if another process has the lock. */
  readonly taken: string
}

/**
 * Runs `work` while holding a lock on the paths, which need not exist. The lock is a socket in Linux's abstract namespace
 * (unix(7)): it leaves no file, and the kernel releases it when the process ends. Throws a SourceError if it is taken.
 */
export const withLock = async <T>(
  paths: readonly string[],
  description: LockDescription,
  work: () => Promise<T>,
): Promise<T> => {
  const names = new Set(await Promise.all(paths.map(nameOf)))
  const held: Server[] = []
  try {
    // In a fixed order, so that two processes that lock the same paths cannot deadlock.
    for (const name of [...names].toSorted()) held.push(await take(name, description))
    return await work()
  } finally {
    await Promise.all(held.map(release))
  }
}

/** The longest path of a Unix socket, in bytes (unix(7)). */
const MAX_SOCKET_PATH = 107

/**
 * Locks a directory until `release` is called. The lock is a Unix socket in it: only a process that may write there can
 * hold it, and one that a crash has left over refuses a connection. Throws a SourceError if another process has the lock.
 * Null if the directory cannot be written.
 */
export const lockDirectory = async (directory: string, description: LockDescription) => {
  const path = join(directory, 'agent.lock')
  const held = (server: Server) => {
    server.unref()
    return { release: async () => release(server) }
  }
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH) return held(await take(await nameOf(directory), description))
  // A second process may not remove the socket that the first has just created in place of one that was left over.
  return withLock([path], description, async () => {
    const { doing, taken } = description
    if (await isHeld(path)) throw new SourceError({ doing, happened: taken, advice: STOP_THE_OTHER })
    try {
      await removeSocket(path)
      return held(await listen(path))
    } catch {
      return null
    }
  })
}

const STOP_THE_OTHER = 'stop the other agent, or set another state.directory for this one'

/** Whether a process listens on the socket; one of another user may not be asked, and is assumed to run. */
const isHeld = async (path: string): Promise<boolean> => {
  const socket = connect({ path })
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    return !FREE.has(errorCode(error))
  } finally {
    socket.destroy()
  }
}

/** No such file or directory, or a socket without a process. */
const FREE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ECONNREFUSED'])

const nameOf = async (path: string): Promise<string> => {
  const inFolder = async (): Promise<string> => join(await realpath(dirname(path)), basename(path))
  const real = await realpath(path)
    .catch(inFolder)
    .catch(() => path)
  return `chain-agent-${fingerprint(real)}`
}

const listen = async (address: string): Promise<Server> => {
  const server = createServer((socket) => socket.destroy())
  server.listen(address)
  await once(server, 'listening')
  return server
}

const take = async (name: string, { doing, taken }: LockDescription): Promise<Server> => {
  try {
    return await listen(`\0${name}`)
  } catch (error) {
    throw new SourceError(
      {
        doing,
        happened: errorCode(error) === 'EADDRINUSE' ? taken : `the lock cannot be acquired: ${errorCode(error)}`,
        advice: 'wait until the other process has ended, then run the command again',
      },
      { cause: error },
    )
  }
}

const release = async (server: Server): Promise<void> => {
  const closed = once(server, 'close')
  server.close()
  await closed
}
