import type { Change } from '../core/board.ts'
import { redactedExcerpt } from '../core/errors.ts'
import { FINDING_SEVERITIES, type FindingSeverity } from './health.ts'
import { redact, sanitize } from '../core/redaction/redact.ts'

/** The severities of a state change, from the alert rule or for a failed collector; most severe first. */
export const SEVERITIES = FINDING_SEVERITIES
export type Severity = FindingSeverity

export const isAtLeast = (severity: Severity, least: Severity): boolean =>
  SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least)

/**
 * The severity of a change on the board. Whether the state of a subject is a problem is decided by the alert rules, or by
 * the collector where no rule shows it.
 */
export const severityOf = ({ subject, to, isWarning }: Pick<Change, 'subject' | 'to' | 'isWarning'>): Severity =>
  isWarning === true || (subject === undefined && to !== 'working') ? 'warning' : 'info'

/** A stored state change, with all texts sanitized. */
export interface Event {
  /** Increasing, also over restarts of the agent. */
  readonly id: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly collector: string
  /** The subject within the collector; null for the collector itself. */
  readonly subject: string | null
  /** Null if there was no previous state. */
  readonly from: string | null
  readonly to: string
  /** The severity of the new state. */
  readonly severity: Severity
}

/** The first start of an agent records one change per subject. Events of the agent itself are no readings. */
export const isFirstReading = ({ collector, from, severity }: Event): boolean =>
  from === null && severity === 'info' && collector !== 'agent'

/** A state change that is to be stored. */
export type NewEvent = Omit<Event, 'id'> & {
  /** Whether this is the agent's first observation. If an earlier agent stored the same state, it is not a change. */
  readonly isFirstSight: boolean
}

export const toNewEvent = ({ at, collector, subject, from, to }: Change, severity: Severity): NewEvent => ({
  at,
  collector,
  // The subject is the agent's own text: `password backup` is the name of a file.
  subject: subject === undefined ? null : sanitize(redact(subject)),
  from: from === undefined ? null : redactedExcerpt(from),
  // States may quote log lines.
  to: redactedExcerpt(to),
  severity,
  isFirstSight: from === undefined,
})

/** An event as stored in the file and returned by the API. */
export const eventAsJson = ({ id, at, collector, subject, from, to, severity }: Event) => ({
  id,
  at: new Date(at).toISOString(),
  collector,
  subject,
  from,
  to,
  severity,
})
