import { chmod } from 'node:fs/promises'
import type { ListenOptions, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { fileError, SourceError } from '../core/errors.ts'
import { removeSocket } from '../core/files.ts'
import { type Address, SECURITY_HEADERS, type WebServer } from './web.ts'

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
export const listenOn = async (
  server: WebServer,
  { host, port }: Address,
  advice: string,
): Promise<ListeningServer> => {
  // Without a host Node listens on all addresses, and on IPv4 only if the host has no IPv6.
  await listen(server, { port, ...(host === '::' ? {} : { host }) }, { name: `${host}:${port}`, advice })
  const bound = server.address()
  return { address: { host, port: typeof bound === 'object' && bound ? bound.port : port }, ...closers(server) }
}

/** Starts the server on a Unix socket for its user, the group of that and root. Throws a SourceError with `advice`. */
export const listenOnSocket = async (
  server: WebServer,
  path: string,
  advice: string,
): Promise<Pick<ListeningServer, 'close'>> => {
  try {
    // After a crash it is left over.
    await removeSocket(path)
    await listen(server, { path }, { name: path, advice })
    await chmod(path, 0o660)
  } catch (error) {
    if (error instanceof SourceError) throw error
    throw fileError(error, { doing: `listen on ${path}`, advice })
  }
  return closers(server)
}

const closers = (server: WebServer): Pick<ListeningServer, 'close' | 'drain'> => {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  const ended = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve()
      })
    })
  return {
    close: () => {
      const closed = ended()
      server.closeAllConnections()
      // Connections in a TLS handshake are not among those.
      for (const socket of open) socket.destroy()
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
  // All other errors are of the connection or of TLS.
  if (!/^(?:HPE|ERR_HTTP)_/.test(error.code ?? '') || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, body] = REJECTIONS[error.code ?? ''] ?? MALFORMED
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(SECURITY_HEADERS).map(([name, text]) => `${name}: ${text}`),
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

const listen = (
  server: WebServer,
  options: ListenOptions,
  { name, advice }: { readonly name: string; readonly advice: string },
): Promise<void> =>
  new Promise((resolve, reject) => {
    server.on('clientError', rejectRequest)
    server.once('error', (error: NodeJS.ErrnoException) => {
      // Node.js reports EACCES for every problem of a socket's path.
      const happened = ('path' in options ? undefined : REASONS[error.code ?? '']) ?? error.message
      reject(new SourceError({ doing: `listen on ${name}`, happened, advice }, { cause: error }))
    })
    server.listen(options, resolve)
  })

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program already listens there (perhaps another agent)',
  EACCES: 'ports below 1024 need more permissions than the agent should have',
  EADDRNOTAVAIL: 'this host has no such address',
}
