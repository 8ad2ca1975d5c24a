import type { Change } from './board.ts'
import { excerpt } from './errors.ts'
import { printable } from './printable.ts'
import { redact } from './redact.ts'
import type { Severity } from './severity.ts'

/** A change of state as it is kept, fit to be shown. */
export interface Event {
  /** Later is larger, over restarts of the agent, too. */
  readonly id: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly collector: string
  /** Which of the things that it watches; null for the collector itself. */
  readonly subject: string | null
  /** Null where nothing was known before. */
  readonly from: string | null
  readonly to: string
  /** How bad the new state is. */
  readonly severity: Severity
}

/** One that is to be kept. */
export type NewEvent = Omit<Event, 'id'> & {
  /** Whether it is the first sight of this agent: where an earlier one saw the same, it is no news. */
  readonly isFirstSight: boolean
}

export const toNewEvent = (
  { at, collector, subject, from, to }: Change,
  severity: Severity,
): NewEvent => ({
  at,
  collector,
  // The agent's own words: `password backup` is the name of a file that is watched.
  subject: subject === undefined ? null : printable(redact(subject)),
  from: from === undefined ? null : fit(from),
  to: fit(to),
  severity,
  isFirstSight: from === undefined,
})

/** States may quote a log: directories of users, credentials, keys. */
const fit = (text: string): string => excerpt(redact(text.slice(0, 8192)))

/** As it stands in the file and in the API. */
export const eventAsJson = ({ id, at, collector, subject, from, to, severity }: Event) => ({
  id,
  at: new Date(at).toISOString(),
  collector,
  subject,
  from,
  to,
  severity,
})
