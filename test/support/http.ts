import { once } from 'node:events'
import type { Server } from 'node:http'

/** A server that listens on a free port of the loopback interface. */
export interface Listening {
  readonly url: string
  readonly port: number
  /** Ends open connections, too. A second call does nothing. */
  close(): Promise<void>
}

export const listening = async (server: Server): Promise<Listening> => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not a TCP port')
  const { port } = address
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
