import { ParseError } from '../core/errors.ts'

/** A socket that waits for connections. */
export interface Listener {
  readonly port: number
  /** Whether only this host can reach it. */
  readonly isLoopback: boolean
}

const LISTENING = '0A'

/**
 * The listening sockets of `/proc/net/tcp` or `/proc/net/tcp6`. The kernel tells of them before it
 * tells of connections, so that the beginning of the file is enough; a last line that was cut is left out.
 */
export const parseListeners = (text: string): readonly Listener[] => {
  const [head = '', ...rows] = text.split('\n')
  if (!head.includes('local_address')) {
    throw new ParseError('the table of sockets', 'a heading with local_address', head)
  }
  // Behind the last line break stands nothing, or what was cut.
  return rows.slice(0, -1).flatMap((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/)
    if (state !== LISTENING) return []
    const [, address = '', port = ''] =
      /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(local) ?? []
    if (port === '') throw new ParseError('the table of sockets', 'an address in hex digits', row)
    return [{ port: Number.parseInt(port, 16), isLoopback: isLoopback(address) }]
  })
}

/** Addresses are words of 32 bits in the byte order of the processor: little-endian wherever such nodes run. */
const isLoopback = (address: string): boolean => {
  if (address.length === 8) return address.endsWith('7F') // 127.0.0.0/8
  const mapped = '0000000000000000FFFF0000' // ::ffff:a.b.c.d
  if (address.startsWith(mapped)) return isLoopback(address.slice(mapped.length))
  return address === '00000000000000000000000001000000' // ::1
}
