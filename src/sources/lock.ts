import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { SourceError } from '../core/errors.ts'
import { errorCode } from '../core/file-errors.ts'

/**
 * Runs `work` while holding a lock on the directories. The lock is a socket in Linux's abstract namespace (unix(7)): it
 * leaves no file, and the kernel releases it when the process ends.
 */
export const withFoldersLocked = async <T>(folders: readonly string[], work: () => Promise<T>): Promise<T> => {
  const names = new Set(await Promise.all(folders.map(nameOf)))
  const held: Server[] = []
  try {
    // In a fixed order, so that two processes that lock the same directories cannot deadlock.
    for (const name of [...names].toSorted()) held.push(await take(name))
    return await work()
  } finally {
    await Promise.all(held.map(release))
  }
}

const nameOf = async (folder: string): Promise<string> => {
  const real = await realpath(folder).catch(() => folder)
  return `chain-agent-${createHash('sha256').update(real).digest('hex').slice(0, 32)}`
}

const take = async (name: string): Promise<Server> => {
  const server = createServer((socket) => socket.destroy())
  server.listen(`\0${name}`)
  try {
    await once(server, 'listening')
    return server
  } catch (error) {
    throw new SourceError(
      {
        doing: "lock the node's key files",
        happened:
          errorCode(error) === 'EADDRINUSE'
            ? 'another `chain-agent keys` process is using them'
            : `the lock cannot be acquired: ${errorCode(error)}`,
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
