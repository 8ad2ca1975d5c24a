import type { Logger } from 'pino'
import type { Config } from '../config/schema.ts'
import type { Change } from '../core/board.ts'
import { type NewEvent, type Severity, toNewEvent } from '../domain/event.ts'
import { parseEvent } from '../parsers/event.ts'
import { createCheckpoints } from '../sources/checkpoint.ts'
import { createEventLog } from '../sources/event-log.ts'

/** What the agent keeps on disk: journal cursors and counts, and the events that it has recorded. */
export const createState = ({ state: { directory }, events: { keep } }: Config, log: Logger) => {
  const checkpoints = createCheckpoints(directory, (error) => {
    log.warn(
      `Cannot keep state on disk (${error.message}): after a restart the agent will miss log lines, and counts begin ` +
        `again. Make the directory writable for the agent, or set state.directory.`,
    )
  })
  const events = createEventLog({
    directory,
    keep,
    parse: parseEvent,
    complain: (error) => {
      log.warn(
        `Cannot save state changes (${error.message}): \`chain-agent events\` will list only those since the start ` +
          `of the agent. Make the directory writable for the agent, or set state.directory.`,
      )
    },
  })
  const changeLog = createChangeLog(log)
  return {
    checkpoints,
    events,
    record: (change: Change, severity: Severity): void => {
      changeLog(change, severity)
      events.add(toNewEvent(change, severity))
    },
  }
}

export const agentEvent = (at: number, to: string): NewEvent => ({
  at,
  collector: 'agent',
  subject: null,
  from: null,
  to,
  severity: 'info',
  isFirstSight: false,
})

const LEVELS = { critical: 'error', warning: 'warn', info: 'info' } as const

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
