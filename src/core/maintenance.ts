import { minute } from './units.ts'

export const MAINTENANCE_REASONS = ['upgrade', 'hardware', 'network', 'other'] as const

/** What an operator has announced. Times in milliseconds since the epoch. */
export interface Maintenance {
  readonly reason: (typeof MAINTENANCE_REASONS)[number]
  readonly note: string | null
  readonly startedAt: number
  readonly until: number
}

/** Reads what was saved; undefined when it is not an announcement. */
export const readMaintenance = (saved: unknown): Maintenance | undefined => {
  if (typeof saved !== 'object' || saved === null) return undefined
  if (!('reason' in saved && 'startedAt' in saved && 'until' in saved)) return undefined
  const { startedAt, until } = saved
  const reason = MAINTENANCE_REASONS.find((known) => known === saved.reason)
  const note = 'note' in saved && typeof saved.note === 'string' ? saved.note : null
  if (reason === undefined || typeof startedAt !== 'number' || typeof until !== 'number')
    return undefined
  return { reason, note, startedAt, until }
}

/** A clock that was set back must not make it last for days: what begins in the future is none. */
export const stands = ({ startedAt, until }: Maintenance, now: number): boolean =>
  now < until && now >= startedAt - minute
