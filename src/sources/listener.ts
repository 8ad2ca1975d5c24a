import { connect } from 'node:net'
import type { Clock } from '../core/clock.ts'

interface Place {
  readonly host: string
  readonly port: number
}

/** A host that is busy takes a connection within this. */
const TIMEOUT_MS = 2000

/** Whether anybody takes a connection there, whatever he speaks; nothing is said to him. */
export const isTaken = async (clock: Clock, { host, port }: Place): Promise<boolean> => {
  const done = new AbortController()
  // What listens on every address is tried on this host's own.
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
