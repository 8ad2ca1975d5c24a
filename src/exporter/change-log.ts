import type { Change } from '../core/board.ts'
import type { Severity } from '../domain/event.ts'

const LEVELS = { critical: 'error', warning: 'warn', info: 'info' } as const

/** The part of a logger that is used. */
type Log = Readonly<Record<(typeof LEVELS)[Severity], (fields: object, text: string) => void>>

/**
 * Logs one line for each change, at the level of its severity. A failure that several collectors share, such as a
 * journal without read permission, is logged in full for the first of them; the others refer to it.
 */
export const createChangeLog = (log: Log): ((change: Change, severity: Severity) => void) => {
  /** The current failure of each collector. */
  const failing = new Map<string, string>()

  const textOf = ({ collector, to, error }: Change): string => {
    if (!error) return to
    const reportedBy = [...failing].find(([other, how]) => other !== collector && how === to)?.[0]
    failing.set(collector, to)
    return reportedBy === undefined ? error.message.replaceAll(/\n\s*/g, '; ') : `${to} (same as ${reportedBy})`
  }

  return (change, severity) => {
    const { collector, subject, from, to, error } = change
    if (subject === undefined && !error) failing.delete(collector)
    const before = from === undefined || subject === undefined ? '' : `${from} → `
    log[LEVELS[severity]](
      { collector, ...(subject !== undefined && { subject, from, to }) },
      `${subject ?? collector}: ${before}${textOf(change)}`,
    )
  }
}
