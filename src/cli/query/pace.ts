import type { Clock } from '../../core/clock.ts'
import { roughly, second } from '../../core/units.ts'
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
      `Block ${through} of ${target} (${Math.min(99, Math.floor((100 * done) / all))} %)`,
      `${logs} logs`,
      `${Math.round(logs / seconds)} logs/s`,
      `${Math.round(done / seconds)} blocks/s`,
      ...(left === undefined ? [] : [`${roughly(left)} left`]),
      ...(retries > 0 ? [`${retries} retries`] : []),
      ...(waitedMs >= second ? [`waited ${roughly(waitedMs / second)}`] : []),
    ].join(', ')
  }
}
