import { InvalidArgumentError } from 'commander'
import type { Clock } from '../core/clock.ts'
import { day, parseDuration, second } from '../core/units.ts'

/** journalctl knows no others, and a date no others with four digits. */
const EARLIEST = 0
const LATEST = Date.UTC(9999, 11, 30)

/**
 * A moment as journalctl takes them: `-1h`, `1h ago`, `2026-03-01 12:00`, `@1772366400`, `today`,
 * `yesterday`, `now`; a span alone (`1h`) is so long ago. Without a zone it is UTC. In milliseconds.
 */
export const readMoment =
  ({ now }: Pick<Clock, 'now'>) =>
  (text: string): number => {
    const at = momentOf(text.trim(), now())
    if (at !== undefined && at >= EARLIEST && at <= LATEST) return at
    if (at !== undefined) throw new InvalidArgumentError('expected a moment from 1970 to 9999')
    throw new InvalidArgumentError(
      'expected a moment, such as 1h, 2026-03-01T12:00, "2026-03-01 12:00:30", yesterday or @1772366400',
    )
  }

const momentOf = (text: string, now: number): number | undefined => {
  const today = now - (now % day)
  if (text === 'now') return now
  if (text === 'today') return today
  if (text === 'yesterday') return today - day
  const [, epoch] = /^@(\d{1,12}(?:\.\d{1,6})?)$/.exec(text) ?? []
  if (epoch !== undefined) return Number(epoch) * second
  const [, span] = /^-?(.+?)(?: ago)?$/.exec(text) ?? []
  const back = parseDuration(span ?? '')
  return back === undefined ? dateOf(text) : now - back
}

const DATE =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(\.\d{1,9})?)?)? ?(Z|UTC|[+-]\d\d:\d\d)?$/i

const dateOf = (text: string): number | undefined => {
  const [, date, time = '00:00', seconds = '00', fraction = '', zone = 'Z'] = DATE.exec(text) ?? []
  if (date === undefined) return undefined
  const offset = /^(?:z|utc)$/i.test(zone) ? 'Z' : zone
  const at = Date.parse(`${date}T${time}:${seconds}${fraction.slice(0, 4)}${offset}`)
  // The thirtieth of February would be read as a day in March.
  const isDay = (midnight: Date): boolean =>
    !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date)
  return Number.isNaN(at) || !isDay(new Date(`${date}T00:00Z`)) ? undefined : at
}
