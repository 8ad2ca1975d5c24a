import type { Change } from '../core/board.ts'
import type { Severity } from '../core/severity.ts'

const LEVELS = { critical: 'error', warning: 'warn', info: 'info' } as const

/** The part of a logger that is needed. */
type Log = Readonly<Record<(typeof LEVELS)[Severity], (fields: object, text: string) => void>>

/**
 * One line for each change, none for each tick, at the level of its severity. A failure that several
 * collectors share, such as a journal that may not be read, is logged in full for the first of them; the
 * others refer to it.
 */
export const createChangeLog = (log: Log): ((change: Change, severity: Severity) => void) => {
  /** What each collector fails with, as long as it does. */
  const failing = new Map<string, string>()

  const newsOf = ({ collector, to, error }: Change): string => {
    if (!error) return to
    const told = [...failing].find(([other, how]) => other !== collector && how === to)?.[0]
    failing.set(collector, to)
    return told === undefined ? error.message.replaceAll(/\n\s*/g, '; ') : `${to} (like ${told})`
  }

  return (change, severity) => {
    const { collector, subject, from, to, error } = change
    if (subject === undefined && !error) failing.delete(collector)
    const before = from === undefined || subject === undefined ? '' : `${from} → `
    log[LEVELS[severity]](
      { collector, ...(subject !== undefined && { subject, from, to }) },
      `${subject ?? collector}: ${before}${newsOf(change)}`,
    )
  }
}
