import { ParseError, SourceError } from '../../core/errors.ts'
import { notPermitted } from '../../sources/journal-errors.ts'

/** Why there is nothing to analyse. */
export interface Problem {
  /** One sentence without its full stop. */
  readonly says: string
  /** What was tried, what came of it, what it said. */
  readonly evidence: string
  readonly advice: string | null
}

const FORBIDDEN = notPermitted('').summary

/** Throws what is no trouble with the node or its host. */
export const problemOf = (error: unknown): Problem => {
  if (!(error instanceof SourceError || error instanceof ParseError)) throw error
  const [evidence = '', advice = null] = error.message.split('\n  what to do: ')
  return error.summary === FORBIDDEN
    ? { says: 'this user may not read the journal', evidence, advice: LOG_IN_AGAIN }
    : { says: error.summary, evidence, advice }
}

/** A group counts from the next login on. */
const LOG_IN_AGAIN =
  'add this user to the group systemd-journal (`usermod -aG systemd-journal USER`, as root) and log in ' +
  'anew: a session that is open has the group only after that. Or ask as root.'
