import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../core/clock.ts'

/** A port on the loopback interface that can be closed for a while. */
export interface Port {
  readonly url: string
  /** Refuses connections from now on, and ends those there are. */
  shut(): Promise<void>
  /** Listens again on the same port. */
  open(): Promise<void>
}

/** `wanted` 0 takes a free one. */
export const openPort = async (wanted: number, listener: RequestListener): Promise<Port> => {
  const server = createServer(listener)
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(wanted)
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

const portOf = (address: AddressInfo | string | null): number => {
  if (address === null || typeof address === 'string') throw new TypeError('expected a TCP address')
  return address.port
}

const CHECK_MS = 200

/** Opens and shuts the port as the node does that listens on it, until the signal aborts. */
export const keepPort = async (
  port: Port,
  listens: () => boolean,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> => {
  while (!signal.aborted) {
    if (listens()) await port.open().catch(() => undefined)
    else await port.shut()
    await clock.sleep(CHECK_MS, signal)
  }
}
