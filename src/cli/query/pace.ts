import type { Clock } from '../../core/clock.ts'
import { renderDuration, second } from '../../core/units.ts'
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

/** 49 s, 12m, 3h: two digits tell enough. */
const roughly = (seconds: number): string => {
  if (seconds < 100) return renderDuration(Math.ceil(seconds) * second)
  if (seconds < 6000) return renderDuration(Math.ceil(seconds / 60) * 60 * second)
  return renderDuration(Math.ceil(seconds / 3600) * 3600 * second)
}
