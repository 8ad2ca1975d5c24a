import type { Io } from '../../../src/terminal/io.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { duration, figure } from '../../../src/core/format.ts'
import { redactUrl } from '../../../src/core/redaction/redact.ts'
import { second } from '../../../src/core/units.ts'
import type { Progress, Retry } from '../../client/types.ts'

/** Formats the progress of a query in one line. */
export const createProgressLine = ({ elapsed }: Pick<Clock, 'elapsed'>): ((now: Progress) => string) => {
  const startedAt = elapsed()
  return ({ from, through, target, logs, retries, waitedMs }) => {
    const seconds = Math.max(0.001, (elapsed() - startedAt) / second)
    const [done, all] = [Math.max(0, through - from + 1), Math.max(1, target - from + 1)]
    const left = done === 0 ? undefined : (seconds / done) * (all - done)
    return [
      // Only a complete run has 100 %.
      `Block ${figure(through)} of ${figure(target)} (${Math.min(99, Math.floor((100 * done) / all))} %)`,
      `${figure(logs)} logs`,
      `${figure(Math.round(logs / seconds))} logs/s`,
      `${figure(Math.round(done / seconds))} blocks/s`,
      ...(left === undefined ? [] : [`${duration(left * second)} left`]),
      ...(retries > 0 ? [`${figure(retries)} retries`] : []),
      ...(waitedMs >= second ? [`waited ${duration(waitedMs)}`] : []),
    ].join(', ')
  }
}

/** Requests run in parallel, and all of them fail when the service is down. */
const MIN_INTERVAL_MS = second

/** Reports on standard error why and when a request is sent again, at most once a second. */
export const createRetryReporter = (
  { stderr, clock }: Pick<Io, 'stderr' | 'clock'>,
  url: string,
): ((retry: Retry) => void) => {
  let last = -Infinity
  return ({ happened, reported, waitMs, attempt }) => {
    const now = clock.elapsed()
    if (now - last < MIN_INTERVAL_MS) return
    last = now
    const count = attempt === null ? '' : ` (attempt ${attempt.number} of ${attempt.of})`
    const wait = `${(waitMs / second).toFixed(waitMs < 10 * second ? 1 : 0)} s`
    const why = reported === '' ? happened : `${happened} (${reported})`
    stderr.write(`Query service ${redactUrl(url)}: ${why}; retrying in ${wait}${count}\n`)
  }
}
