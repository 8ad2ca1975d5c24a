import { SourceError } from '../core/errors.ts'

/** Group membership takes effect at the next start or login: of the agent, or of a user who tries it manually. */
export const JOURNAL_ADVICE =
  "add the agent's user to the group systemd-journal and restart the agent; " +
  'an open session has the group only after a new login'

/** The cursor was malformed, as a cursor of another journal may be. */
export const isLostCursor = (error: unknown): boolean =>
  error instanceof SourceError && error.output.includes('Failed to seek to cursor')

export const followerStalled = (): SourceError =>
  new SourceError({
    doing: 'follow the journal',
    happened: 'it has entries that the follower does not return; restarting it',
  })

/** Whether journalctl reports that this user may not read the journal. */
export const isNotPermitted = (stderr: string): boolean => /not seeing messages|insufficient permissions/i.test(stderr)

export const notPermitted = (stderr: string): SourceError =>
  new SourceError(
    { doing: 'read the journal', happened: 'this user may not read it', evidence: stderr, advice: JOURNAL_ADVICE },
    { code: 'journal not permitted' },
  )

export const journalctlFailed = (stderr: string): SourceError =>
  new SourceError({ doing: 'read the journal', happened: 'journalctl failed', evidence: stderr })

export const noJournal = (stderr: string): SourceError =>
  new SourceError({
    doing: 'read the journal',
    happened: 'there are no journal files',
    evidence: stderr,
    advice: 'check that systemd-journald runs and where it stores (Storage= in journald.conf)',
  })
