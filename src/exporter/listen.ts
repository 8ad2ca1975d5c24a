import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { SourceError } from '../core/errors.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

export interface ListeningServer {
  /** The bound address, with the assigned port if port 0 was requested. */
  readonly address: Address
  /** Closes at once; responses in progress are cut off. */
  close(): Promise<void>
  /** Accepts no new connections and closes when the last response is sent. */
  drain(): Promise<void>
}

/** The limit of request line and headers together. */
export const MAX_HEADER_BYTES = 8192

/** Starts the server. Throws a SourceError with `advice` if it cannot listen on the address. */
export const listenOn = async (server: Server, { host, port }: Address, advice: string): Promise<ListeningServer> => {
  server.prependListener('request', (_request, response) => {
    response.setHeader('X-Content-Type-Options', 'nosniff')
  })
  server.on('clientError', rejectRequest)
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

/** Node's own response to a malformed request has a status and no body. */
const rejectRequest = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, body] = REJECTIONS[error.code ?? ''] ?? MALFORMED
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const REJECTIONS: Readonly<Record<string, readonly [status: string, body: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    `The request line and the headers are longer than ${MAX_HEADER_BYTES} bytes in total. Send fewer or shorter headers.\n`,
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    '413 Payload Too Large',
    'The chunk extensions of the request body are too long. Send the body without them.\n',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.\n'],
}
const MALFORMED = [
  '400 Bad Request',
  'The request is malformed: expected an HTTP/1.1 request line and headers.\n',
] as const

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
    // Without a host Node listens on all addresses, and on IPv4 only if the host has no IPv6.
    server.listen({ port, ...(host === '::' ? {} : { host }) }, resolve)
  })

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program already listens there (perhaps another agent)',
  EACCES: 'ports below 1024 need more permissions than the agent should have',
  EADDRNOTAVAIL: 'this host has no such address',
}
