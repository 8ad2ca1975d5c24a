import type { Change } from '../core/board.ts'

/** As much of a logger as is needed. */
interface Log {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
}

/**
 * One line for each change, none for each tick. What several collectors meet at once, such as a journal
 * that may not be read, is told in full by the first of them; the others refer to it.
 */
export const createChangeLog = (log: Log): ((change: Change) => void) => {
  /** What each collector fails with, as long as it does. */
  const failing = new Map<string, string>()

  const newsOf = ({ collector, to, error }: Change): string => {
    if (!error) return to
    const told = [...failing].find(([other, how]) => other !== collector && how === to)?.[0]
    failing.set(collector, to)
    return told === undefined ? error.message.replaceAll(/\n\s*/g, '; ') : `${to} (like ${told})`
  }

  return (change) => {
    const { collector, subject, from, to, error } = change
    if (subject === undefined && !error) failing.delete(collector)
    const before = from === undefined || subject === undefined ? '' : `${from} → `
    const isGood = error === undefined && !to.startsWith('silent')
    log[isGood ? 'info' : 'warn'](
      { collector, ...(subject !== undefined && { subject, from, to }) },
      `${subject ?? collector}: ${before}${newsOf(change)}`,
    )
  }
}
