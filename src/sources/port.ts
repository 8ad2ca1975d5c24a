import { connect } from 'node:net'
import type { Clock } from '../core/clock.ts'

interface HostAndPort {
  readonly host: string
  readonly port: number
}

/** A busy host accepts a connection within this time. */
const TIMEOUT_MS = 2000

/** Whether a process accepts TCP connections on the port. Nothing is sent. */
export const isPortInUse = async (clock: Clock, { host, port }: HostAndPort): Promise<boolean> => {
  const done = new AbortController()
  // For a wildcard address, connect to the loopback address.
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const socket = connect({ host: address, port })
  try {
    return await Promise.race([
      new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true))
        socket.on('error', () => resolve(false))
      }),
      clock.sleep(TIMEOUT_MS, done.signal).then(() => false),
    ])
  } finally {
    done.abort()
    socket.destroy()
  }
}
