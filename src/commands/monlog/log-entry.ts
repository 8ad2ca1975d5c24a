import type { JournalEntry } from '../../parsers/journal.ts'

/** Whether the service itself said it, and not systemd or journald of the service. */
export const isOwn = ({ message, fields }: JournalEntry): boolean =>
  message !== null && fields['_PID'] !== '1' && !('OBJECT_SYSTEMD_UNIT' in fields)

/** Whether the service writes DEBUG: the level stands right after the timestamp. */
export const isDebug = ({ message }: JournalEntry): boolean =>
  message !== null && /"level"\s*:\s*"DEBUG"/.test(message.slice(0, 200))

/** The same for journalctl. With a capital letter in it, case matters. */
export const DEBUG_PATTERN = '^.{0,200}?"level":"DEBUG"'
