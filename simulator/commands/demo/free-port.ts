import { once } from 'node:events'
import { createServer } from 'node:net'

/** The requested port, or another free one if it is in use; 0 if none could be opened. */
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
