import { once } from 'node:events'
import { createServer, Server } from 'node:http'
import type { Server as NetServer } from 'node:net'
import { text as bodyOf } from 'node:stream/consumers'

/** A server that listens on a free port of the loopback interface. */
export interface Listening {
  readonly url: string
  readonly port: number
  /** Ends open connections, too. A second call does nothing. */
  close(): Promise<void>
}

export const listening = async (server: NetServer): Promise<Listening> => {
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
      if (server instanceof Server) server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** A server that answers every request alike, and what it has received. */
export const receiving = async (status = 200, text = '', headers: Readonly<Record<string, string>> = {}) => {
  const [paths, bodies]: [string[], string[]] = [[], []]
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      paths.push(request.url ?? '')
      bodies.push(body)
      response.writeHead(status, headers).end(text)
    })
  })
  return { ...(await listening(server)), paths, bodies }
}
