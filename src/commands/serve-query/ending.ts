import type { Clock } from '../../core/clock.ts'
import { SourceError } from '../../core/errors.ts'
import { second } from '../../core/units.ts'

/** What answers under way have, until they are cut off. */
const DRAIN_MS = 5 * second
/** What all of the end may take: systemd waits for longer before it kills. */
const LONGEST_MS = 20 * second

interface Listener {
  close(): Promise<void>
  drain(): Promise<void>
}

/** Lets answers go out that are under way, for a while. */
export const drained = async (listener: Listener, clock: Clock): Promise<void> => {
  await within(clock, DRAIN_MS, listener.drain())
  await listener.close()
}

/** Throws where the end does not come. */
export const inTime = async (clock: Clock, ending: Promise<void>): Promise<void> => {
  if (await within(clock, LONGEST_MS, ending)) return
  throw new SourceError({
    doing: 'end in good order',
    happened: `it took longer than ${LONGEST_MS / second} s`,
    advice: 'nothing that was acknowledged is lost; what was being written is not in the store',
  })
}

/** Resolves when the signal aborts. */
export const abortOf = async (signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true })
  })
}

/** Whether it came to its end by then. */
const within = async (clock: Clock, ms: number, work: Promise<void>): Promise<boolean> => {
  const done = new AbortController()
  try {
    return await Promise.race([
      work.then(() => true),
      clock.sleep(ms, done.signal).then(() => false),
    ])
  } finally {
    done.abort()
  }
}
