import { z } from 'zod'
import { day, hour, sumsOf } from '../../core/units.ts'

/** What was observed in an hour. */
const hourSchema = z.object({
  /** Its start, in milliseconds since the epoch. */
  from: z.number(),
  /** Milliseconds in which it was known whether the newest block was fresh. */
  known: z.number(),
  /** Milliseconds in which it was. */
  fresh: z.number(),
  /** Own rounds in the ledger stream, with and without a block. */
  led: z.number(),
  missed: z.number(),
})
export type SloHour = Readonly<z.output<typeof hourSchema>>

const KEPT_MS = 31 * day

const hoursSchema = z.array(hourSchema).max(KEPT_MS / hour + 1)

/** Saved hours; empty for anything else. */
export const parseSloHours = (saved: unknown): readonly SloHour[] => hoursSchema.safeParse(saved).data ?? []

/** The sum of the hours that begin at this time or later. */
export const sumOfHours = (hours: readonly SloHour[], from: number): Sums =>
  hours
    .filter((one) => one.from >= from)
    .reduce((sums, { from: _from, ...one }) => sumsOf(sums, one), { known: 0, fresh: 0, led: 0, missed: 0 })

type Sums = Omit<SloHour, 'from'>

/** Adds what was observed just before `now`. After the clock was set back, the hours of the future are removed. */
export const addToHours = (hours: readonly SloHour[], now: number, observed: Sums): readonly SloHour[] => {
  const from = now - (now % hour)
  const kept = hours.filter((one) => one.from <= from && now - one.from < KEPT_MS)
  const last = kept.at(-1)
  const added = { from, ...observed }
  return last?.from === from ? [...kept.slice(0, -1), { ...sumsOf(last, added), from }] : [...kept, added]
}
