import type { Clock } from '../../core/clock.ts'
import { duration, figure } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import type { Progress } from '../../query/client/types.ts'

/** How far a query has come, in one line. */
export const createPace = ({ elapsed }: Pick<Clock, 'elapsed'>): ((now: Progress) => string) => {
  const startedAt = elapsed()
  return ({ from, through, target, logs, retries, waitedMs }) => {
    const seconds = Math.max(0.001, (elapsed() - startedAt) / second)
    const [done, all] = [Math.max(0, through - from + 1), Math.max(1, target - from + 1)]
    const left = done === 0 ? undefined : (seconds / done) * (all - done)
    return [
      // 100 % is for what is complete.
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
