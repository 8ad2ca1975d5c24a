import type { ServerResponse } from 'node:http'
import type { Clock } from '../../../src/core/clock.ts'
import { second } from '../../../src/core/units.ts'

/** How often the height is read while a request waits for a block: a quarter of the time between two blocks. */
const POLL_MS = 100
/** Clients reconnect after 15 s without an event. */
const PING_MS = 5 * second
/** Events of some minutes: a client that does not read them is disconnected. */
const MAX_UNREAD_BYTES = 16 * 1024

export type Heights = ReturnType<typeof createHeights>

/**
 * The height of the service for all who ask: it never decreases, whichever read of the store was first. `height` is the
 * last block in the store; null while it is empty.
 */
export const createHeights = (height: () => number | null, clock: Clock) => {
  let highest: number | null = null
  const current = (): number | null => {
    const now = height()
    if (now !== null && now > (highest ?? -1)) highest = now
    return highest
  }
  /** Waits for a height of at least this block, or for some milliseconds. */
  const waitFor = async (block: number, ms: number, signal: AbortSignal): Promise<void> => {
    const until = clock.elapsed() + ms
    let left = ms
    while ((current() ?? -1) < block && !signal.aborted && left > 0) {
      await clock.sleep(Math.min(POLL_MS, left), signal)
      left = until - clock.elapsed()
    }
  }
  return {
    current,
    waitFor,
    /** The height, which is at least that of a block that the store has. */
    atLeast: (last: number): number => {
      highest = Math.max(last, current() ?? last)
      return highest
    },
    /** Sends each height as an event until the client disconnects, and an event at least every five seconds. */
    stream: async (response: ServerResponse, signal: AbortSignal): Promise<void> => {
      let sent = -1
      while (!signal.aborted) {
        const now = current()
        // To the clients, a comment or an event without a line of data is no event.
        response.write(now !== null && now > sent ? `event: height\ndata: ${now}\n\n` : 'event: ping\ndata:\n\n')
        sent = now ?? sent
        if (response.writableLength > MAX_UNREAD_BYTES) response.destroy()
        await waitFor(sent + 1, PING_MS, signal)
      }
    },
  }
}
