import { once } from 'node:events'
import { createServer } from 'node:net'

/** The port that was asked for, or any other where that is taken. */
export const freePort = async (wanted: number): Promise<number> => {
  for (const port of [wanted, 0]) {
    const server = createServer()
    try {
      const listening = once(server, 'listening')
      server.listen(port, '127.0.0.1')
      await listening
      const address = server.address()
      if (address !== null && typeof address === 'object') return address.port
    } catch {
      continue
    } finally {
      server.close()
    }
  }
  return 0
}
