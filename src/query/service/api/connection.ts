import { type IncomingMessage, type ServerResponse } from 'node:http'

/** Of each connection, those who wait for its end: one listener, however many requests it has sent at once. */
const waiting = new WeakMap<IncomingMessage['socket'], Set<() => void>>()

/**
 * Acts once, when the answer is out or the connection is gone. An answer that stands behind another one of its
 * connection has none of its own yet, and is not told that it closes.
 */
export const onEnd = (
  { socket }: IncomingMessage,
  response: ServerResponse,
  act: () => void,
): void => {
  const all = waiting.get(socket) ?? listen(socket)
  const end = (): void => {
    if (all.delete(end)) act()
  }
  all.add(end)
  response.once('close', end)
}

const listen = (socket: IncomingMessage['socket']): Set<() => void> => {
  const all = new Set<() => void>()
  waiting.set(socket, all)
  socket.once('close', () => {
    for (const end of all) end()
  })
  return all
}
