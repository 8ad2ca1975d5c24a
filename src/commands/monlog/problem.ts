import { ParseError, SourceError } from '../../core/errors.ts'
import { notPermitted } from '../../sources/journal-errors.ts'

/** Why there is nothing to analyse. */
export interface Problem {
  /** One sentence without its full stop. */
  readonly says: string
  /** What was printed or sent; also what was attempted, where the sentence does not have it. Empty: nothing more. */
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
    : { says: error.summary, evidence: withoutSummary(evidence, error.summary), advice }
}

/** The first line of an error is its summary, with a capital. */
const withoutSummary = (evidence: string, summary: string): string => {
  const [first = '', ...rest] = evidence.split('\n')
  return first.toLowerCase() === summary.toLowerCase() ? rest.join('\n').trim() : evidence
}

/** A group counts from the next login on. */
const LOG_IN_AGAIN =
  'add this user to the group systemd-journal (`usermod -aG systemd-journal USER`, as root) and log in ' +
  'anew: a session that is open has the group only after that. Or ask as root.'
