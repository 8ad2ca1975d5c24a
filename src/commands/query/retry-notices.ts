import { redactUrl } from '../../core/redact.ts'
import { second } from '../../core/units.ts'
import type { Retry } from '../../query/client/types.ts'
import type { Io } from '../../cli/io.ts'

/** Requests run in parallel, and all of them fail when the service is down. */
const AT_MOST_EVERY_MS = second

/** Reports on standard error why a request is sent again and when; the first time at once, then at most once a second. */
export const createRetryNotices = (
  { stderr, clock }: Pick<Io, 'stderr' | 'clock'>,
  url: string,
): ((retry: Retry) => void) => {
  let last = -Infinity
  return ({ happened, waitMs, attempt }) => {
    const now = clock.elapsed()
    if (now - last < AT_MOST_EVERY_MS) return
    last = now
    const count = attempt === null ? '' : ` (attempt ${attempt.number} of ${attempt.of})`
    const wait = `${(waitMs / second).toFixed(waitMs < 10 * second ? 1 : 0)} s`
    stderr.write(`Query service ${redactUrl(url)}: ${happened}; retrying in ${wait}${count}\n`)
  }
}
