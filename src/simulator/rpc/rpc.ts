import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { FINAL_AFTER } from '../chain/chain.ts'
import { openPort, type Port } from '../port.ts'
import { respond } from './json-rpc.ts'
import { answer, type View } from './rpc-methods.ts'

interface Options {
  /** 0 takes a free one. */
  readonly port: number
  readonly view: View
  /** Whether `GET /height` is answered too, as a query service does. */
  readonly tellsHeight: boolean
}

/** A JSON-RPC endpoint on the loopback interface. */
export const createRpcServer = async ({ port, view, tellsHeight }: Options): Promise<Port> => {
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

  return await openPort(port, (request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
}

const send = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
}
