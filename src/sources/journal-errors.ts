import { SourceError } from '../core/errors.ts'

/** A group counts from the next start or login on: for the agent, and for a person who tries it by hand. */
export const JOURNAL_ADVICE =
  "add the agent's user to the group systemd-journal and start the agent anew; " +
  'a session that is open has the group only after a new login'

/** The place to go on from was malformed, as one of another journal may be. */
export const isLostCursor = (error: unknown): boolean =>
  error instanceof SourceError && error.message.includes('Failed to seek to cursor')

export const deaf = (): SourceError =>
  new SourceError({
    doing: 'follow the journal',
    happened: 'it has entries that the follower does not bring; starting it anew',
  })

export const notPermitted = (stderr: string): SourceError =>
  new SourceError({
    doing: 'read the journal',
    happened: 'this user may not read it',
    evidence: stderr,
    advice: JOURNAL_ADVICE,
  })

export const failed = (stderr: string): SourceError =>
  new SourceError({ doing: 'read the journal', happened: 'journalctl failed', evidence: stderr })

export const noJournal = (stderr: string): SourceError =>
  new SourceError({
    doing: 'read the journal',
    happened: 'there are no journal files',
    evidence: stderr,
    advice: 'see whether systemd-journald runs and where it stores (Storage= in journald.conf)',
  })
