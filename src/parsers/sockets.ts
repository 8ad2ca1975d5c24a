import { ParseError } from '../core/errors.ts'

/** A listening socket. */
export interface Listener {
  readonly port: number
  /** Whether only this host can reach it. */
  readonly isLoopback: boolean
}

const LISTENING = '0A'

/**
 * The listening sockets in `/proc/net/tcp` or `/proc/net/tcp6`. The kernel lists listening sockets before connections,
 * so the beginning of the file is enough; an incomplete last line is ignored. Throws a ParseError.
 */
export const parseListeners = (text: string): readonly Listener[] => {
  const [head = '', ...rows] = text.split('\n')
  if (!head.includes('local_address')) {
    throw new ParseError('the table of sockets', 'a heading with local_address', head)
  }
  // After the last line break there is nothing, or an incomplete line.
  return rows.slice(0, -1).flatMap((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/)
    if (state !== LISTENING) return []
    const [, address = '', port = ''] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(local) ?? []
    if (port === '') throw new ParseError('the table of sockets', 'an address in hex digits', row)
    return [{ port: Number.parseInt(port, 16), isLoopback: isLoopback(address) }]
  })
}

/** Addresses are 32-bit words in the CPU's byte order: little-endian on all supported hosts. */
const isLoopback = (address: string): boolean => {
  if (address.length === 8) return address.endsWith('7F') // 127.0.0.0/8
  const mapped = '0000000000000000FFFF0000' // ::ffff:a.b.c.d
  if (address.startsWith(mapped)) return isLoopback(address.slice(mapped.length))
  return address === '00000000000000000000000001000000' // ::1
}
