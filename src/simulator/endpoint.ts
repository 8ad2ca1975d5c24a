import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Clock } from '../core/clock.ts'
import { keepPort, openPort, type Port } from './port.ts'

/** A request over HTTP without the wire. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** Something that can be asked over HTTP, whether or not it has a port. */
export interface Endpoint {
  /** Whether anybody listens now. */
  isOpen(): boolean
  answer(call: Call): Answer
}

export interface ServedEndpoint extends Port {
  /** Opens and shuts the port as the endpoint opens and closes, until the signal aborts. */
  keep(by: { readonly clock: Clock; readonly signal: AbortSignal }): Promise<void>
}

/** The endpoint on a port of the loopback interface, 0 for a free one; shut while nobody listens. */
export const serveEndpoint = async (
  endpoint: Endpoint,
  wanted: number,
): Promise<ServedEndpoint> => {
  const port = await openPort(wanted, listenerOf(endpoint))
  return {
    ...port,
    keep: async (by) => {
      await keepPort(port, () => endpoint.isOpen(), by)
    },
  }
}

const listenerOf =
  (endpoint: Endpoint): RequestListener =>
  (request, response) => {
    const { method = '', url: path = '' } = request
    text(request)
      .then((body) => {
        const { status, type, text: answer } = endpoint.answer({ method, path, body })
        response.writeHead(status, { 'content-type': type }).end(answer)
      })
      .catch(() => response.destroy())
  }
