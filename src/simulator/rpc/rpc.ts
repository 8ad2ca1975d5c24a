import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { FINAL_AFTER } from '../chain/chain.ts'
import { respond } from './json-rpc.ts'
import { answer, type View } from './rpc-methods.ts'

interface Options {
  /** 0 takes a free one. */
  readonly port: number
  readonly view: View
  /** Whether `GET /height` is answered too, as a query service does. */
  readonly tellsHeight: boolean
}

export interface RpcServer {
  readonly url: string
  /** Refuses connections from now on, and ends those there are. */
  shut(): Promise<void>
  /** Listens again on the same port. */
  open(): Promise<void>
}

/** A JSON-RPC endpoint on the loopback interface. */
export const createRpcServer = async ({ port, view, tellsHeight }: Options): Promise<RpcServer> => {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (tellsHeight && request.method === 'GET' && request.url === '/height') {
      send(response, 200, JSON.stringify({ height: Number(view.latest() - FINAL_AFTER) }))
    } else if (request.method === 'POST' && request.url === '/') {
      const body = await text(request)
      send(
        response,
        200,
        respond(body, (method, params) => answer(view, method, params)),
      )
    } else {
      send(response, request.url === '/' ? 405 : 404, '')
    }
  }

  await listen(port)
  const taken = portOf(server.address())
  return {
    url: `http://127.0.0.1:${taken}`,
    shut: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
    open: async () => {
      if (!server.listening) await listen(taken)
    },
  }
}

const send = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
}

const portOf = (address: AddressInfo | string | null): number => {
  if (address === null || typeof address === 'string') throw new TypeError('expected a TCP address')
  return address.port
}
