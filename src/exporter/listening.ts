import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
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

/** Of the request line and the headers together. */
export const MAX_HEADER_BYTES = 8192

/** Starts the server. Throws a SourceError with the advice when the address cannot be listened on. */
export const listenOn = async (
  server: Server,
  { host, port }: Address,
  advice: string,
): Promise<Listening> => {
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

/** Node's own answer to a request that it cannot parse has a status and no body. */
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
    // Without a host Node listens on every address, and on IPv4 alone where the host has no IPv6.
    server.listen({ port, ...(host === '::' ? {} : { host }) }, resolve)
  })

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program already listens there (perhaps another agent)',
  EACCES: 'ports below 1024 need more rights than the agent should have',
  EADDRNOTAVAIL: 'this host has no such address',
}
