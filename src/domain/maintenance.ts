import { minute } from '../core/units.ts'

export const MAINTENANCE_REASONS = ['upgrade', 'hardware', 'network', 'other'] as const

export type MaintenanceReason = (typeof MAINTENANCE_REASONS)[number]

/** A maintenance window. Times in milliseconds since the epoch. */
export interface Maintenance {
  readonly reason: MaintenanceReason
  readonly note: string | null
  readonly startedAt: number
  readonly until: number
}

/** Reads a stored maintenance window; undefined if it is invalid. */
export const readMaintenance = (saved: unknown): Maintenance | undefined => {
  if (typeof saved !== 'object' || saved === null) return undefined
  if (!('reason' in saved && 'startedAt' in saved && 'until' in saved)) return undefined
  const { startedAt, until } = saved
  const reason = MAINTENANCE_REASONS.find((known) => known === saved.reason)
  const note = 'note' in saved && typeof saved.note === 'string' ? saved.note : null
  if (reason === undefined || typeof startedAt !== 'number' || typeof until !== 'number') return undefined
  return { reason, note, startedAt, until }
}

/** Whether the window is active. One that begins in the future is not: a clock that was set back must not extend it by days. */
export const isActive = ({ startedAt, until }: Maintenance, now: number): boolean =>
  now < until && now >= startedAt - minute
