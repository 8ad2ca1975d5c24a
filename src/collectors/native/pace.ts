import type { Clock } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import { type NativeSeries, OLD_AFTER } from './series.ts'
import { NATIVE_NAMES } from './names.ts'

/** Whether values move: `unknown` at the first sight of values without a time. */
export type Pace = 'moving' | 'standing' | 'unknown'

/** Consensus counts its uptime anew each second: a poll may be quicker than that. */
const STANDS_AFTER = 3 * second

/**
 * Tells values of a process that runs from what is left of one: an OpenTelemetry collector serves the
 * last values for a minute after the end of consensus, or for hours, as it is configured. Times that
 * are old betray them; where none are sent, an uptime that does not grow. For one endpoint.
 */
export const createPace = (clock: Clock) => {
  let seen: { readonly uptime: number; readonly at: number } | undefined
  let pace: Pace = 'unknown'
  const byUptime = (uptime: number): Pace => {
    const at = clock.elapsed()
    if (seen?.uptime === uptime) return at - seen.at >= STANDS_AFTER ? 'standing' : pace
    const isFirst = seen === undefined
    seen = { uptime, at }
    return isFirst ? 'unknown' : 'moving'
  }
  return {
    judge: ({ newestAt, value }: NativeSeries): Pace => {
      const uptime = value(NATIVE_NAMES.uptime)
      // Without an uptime there is nothing that must move.
      pace = uptime === undefined ? 'unknown' : byUptime(uptime)
      if (newestAt === null) return pace
      if (clock.now() - newestAt > OLD_AFTER) return 'standing'
      return pace === 'standing' ? pace : 'moving'
    },
    /** The endpoint gave nothing: what comes next is a first sight. */
    forget: (): void => {
      seen = undefined
      pace = 'unknown'
    },
  } as const
}
