import { type Clock, endsWithin } from '../../core/clock.ts'
import { SourceError } from '../../core/errors.ts'
import { second } from '../../core/units.ts'

/** Time for open requests to finish before they are closed, in milliseconds. */
const DRAIN_TIMEOUT_MS = 5 * second
/** Time limit of the whole shutdown, in milliseconds; systemd waits longer before it kills the process. */
const SHUTDOWN_TIMEOUT_MS = 20 * second

interface Listener {
  close(): Promise<void>
  drain(): Promise<void>
}

/** Waits for open requests, up to the limit, and closes the listener. */
export const drain = async (listener: Listener, clock: Clock): Promise<void> => {
  await endsWithin(clock, DRAIN_TIMEOUT_MS, listener.drain())
  await listener.close()
}

/** Throws a SourceError if the shutdown takes too long. */
export const withShutdownTimeout = async (clock: Clock, ending: Promise<void>): Promise<void> => {
  if (await endsWithin(clock, SHUTDOWN_TIMEOUT_MS, ending)) return
  throw new SourceError({
    doing: 'stop gracefully',
    happened: `it took longer than ${SHUTDOWN_TIMEOUT_MS / second} s`,
    advice: 'acknowledged blocks are in the store; unfinished writes are not',
  })
}
