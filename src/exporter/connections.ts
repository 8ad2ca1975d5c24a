import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Handles every request. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** The event of a response that does not end. */
export const STREAMING = 'streaming'

/** Monitoring systems and their clients wait for each response; more waiting requests than this are a flood. */
const MAX_PIPELINED = 16

/**
 * Handles the requests of a connection one after another: Node.js starts all requests that arrive in one chunk, about
 * 2,000, at the same time. The next one starts when the client has received the response, so a client that reads nothing
 * costs one response. A connection with too many waiting requests is closed.
 */
export const oneAtATime = (handle: Handler): Handler => {
  const turns = new WeakMap<Socket, { readonly waiting: (() => void)[] }>()
  return (request, response) => {
    const { socket } = request
    const run = (): void => {
      response.once('close', () => {
        const next = turns.get(socket)?.waiting.shift()
        if (!next || socket.destroyed) turns.delete(socket)
        else next()
      })
      handle(request, response)
    }
    const turn = turns.get(socket)
    if (!turn) {
      turns.set(socket, { waiting: [] })
      // After the other requests of the chunk, so that a flood is closed before any work is done for it.
      queueMicrotask(() => {
        if (!socket.destroyed) run()
      })
    } else if (turn.waiting.length < MAX_PIPELINED) turn.waiting.push(run)
    else socket.destroy()
  }
}

/** An IPv4 address, or the first 64 bits of an IPv6 address: a host has all addresses of such a network. */
export const networkOf = (address: string): string => {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
}

interface Connection {
  readonly socket: Socket
  /** Requests in progress. */
  requests: number
  hasRequested: boolean
}

/**
 * Limits the connections of a server. If there are too many, a connection without a request in progress is closed for a
 * new one: first those of the address with the most connections, of these first one that has never sent a complete
 * request, and then the one that has been unused for the longest time. So clients that connect and send nothing, or send
 * headers slowly, do not keep Prometheus out.
 */
export const limitConnections = <Limited extends Server>(server: Limited, most: number): Limited => {
  // In order of last use.
  const connections = new Map<Socket | string, Connection>()
  server.on('connection', (socket: Socket) => {
    if (connections.size >= most) {
      const unused = connectionToClose([...connections.values()])
      if (!unused) {
        socket.destroy()
        return
      }
      connections.delete(keyOf(unused))
      unused.destroy()
    }
    const key = keyOf(socket)
    const connection = { socket, requests: 0, hasRequested: false }
    connections.set(key, connection)
    socket.once('close', () => {
      if (connections.get(key) === connection) connections.delete(key)
    })
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const key = keyOf(socket)
    const connection = connections.get(key)
    if (!connection) return
    connection.requests += 1
    connection.hasRequested = true
    connections.delete(key)
    connections.set(key, connection)
    response.once('close', () => {
      connection.requests -= 1
    })
    // Streams of the query service have their own limit: they must not keep Prometheus out.
    response.once(STREAMING, () => connections.delete(key))
  })
  return server
}

/** With TLS, a request has another socket object than its connection. */
const keyOf = (socket: Socket): Socket | string =>
  socket.remotePort === undefined ? socket : `${socket.remoteAddress} ${socket.remotePort}`

const connectionToClose = (connections: readonly Connection[]): Socket | undefined => {
  const perAddress = new Map<string | undefined, number>()
  for (const { socket } of connections)
    perAddress.set(socket.remoteAddress, (perAddress.get(socket.remoteAddress) ?? 0) + 1)
  const [first] = connections
    .filter(({ requests }) => requests === 0)
    .toSorted(
      (a, b) =>
        (perAddress.get(b.socket.remoteAddress) ?? 0) - (perAddress.get(a.socket.remoteAddress) ?? 0) ||
        Number(a.hasRequested) - Number(b.hasRequested),
    )
  return first?.socket
}
