import type { Clock } from '../../core/clock.ts'
import { summaryOf } from '../../core/errors.ts'
import { minute } from '../../core/units.ts'
import type { Log } from './narrator.ts'

/** What has not been heard for so long is news again. */
const FORGOTTEN_AFTER_MS = minute

/** Of a store that fails under each request one line is enough, until it says something else or has been well. */
export const createComplaints = (log: Log, clock: Clock): ((error: Error) => void) => {
  let told = ''
  let heardAt = -Infinity
  return (error) => {
    const summary = summaryOf(error)
    const now = clock.elapsed()
    if (summary !== told || now - heardAt > FORGOTTEN_AFTER_MS) log.error(error.message)
    told = summary
    heardAt = now
  }
}
