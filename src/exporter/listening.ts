import type { Server } from 'node:http'
import { SourceError } from '../core/errors.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface Listening {
  /** With the port that was given where any would do. */
  readonly address: Address
  /** Ends at once; answers that are under way are cut off. */
  close(): Promise<void>
  /** Takes nothing new and ends when the last answer is out. */
  drain(): Promise<void>
}

/** Has the server listen. Throws a SourceError with the advice when the address cannot be listened on. */
export const listenOn = async (
  server: Server,
  { host, port }: Address,
  advice: string,
): Promise<Listening> => {
  await listen(server, { host, port }, advice)
  const bound = server.address()
  const ended = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve()
      })
    })
  return {
    address: { host, port: typeof bound === 'object' && bound ? bound.port : port },
    close: () => {
      const closed = ended()
      server.closeAllConnections()
      return closed
    },
    drain: () => {
      const closed = ended()
      server.closeIdleConnections()
      return closed
    },
  }
}

const listen = (server: Server, { host, port }: Address, advice: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new SourceError(
          {
            doing: `listen on ${host}:${port}`,
            happened: REASONS[error.code ?? ''] ?? error.message,
            advice,
          },
          { cause: error },
        ),
      )
    })
    server.listen(port, host, resolve)
  })

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program already listens there (perhaps another agent)',
  EACCES: 'ports below 1024 need more rights than the agent should have',
  EADDRNOTAVAIL: 'this host has no such address',
}
