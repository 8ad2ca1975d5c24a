import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { realpath } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { SourceError } from '../core/errors.ts'
import { codeOf } from './missing.ts'

/**
 * Does the work while nobody else who asks the same works on any of the folders. The lock is a socket in
 * Linux's abstract namespace (unix(7)): it lies in no file, and is gone with the process, however that ends.
 */
export const withFoldersLocked = async <T>(
  folders: readonly string[],
  work: () => Promise<T>,
): Promise<T> => {
  const names = new Set(await Promise.all(folders.map(nameOf)))
  const held: Server[] = []
  try {
    // In one order, so that two who want the same two do not wait for each other's other.
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
        doing: "have the node's key files for ourselves",
        happened:
          codeOf(error) === 'EADDRINUSE'
            ? 'another `chain-agent keys` is at work on them'
            : `the lock cannot be had: ${codeOf(error)}`,
        advice: 'wait until no other one runs, and run it again',
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
