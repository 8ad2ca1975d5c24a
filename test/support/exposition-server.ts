import { once } from 'node:events'
import { createServer } from 'node:http'

export interface ExpositionServer {
  /** HOST:PORT. */
  readonly address: string
  close(): void
}

/** What an agent would answer at /metrics, said beforehand. */
export const serveExposition = async (text: string): Promise<ExpositionServer> => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not a TCP port')
  return {
    address: `127.0.0.1:${address.port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
