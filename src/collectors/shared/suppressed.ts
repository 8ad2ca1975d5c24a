import type { JournalEntry } from '../../parsers/journal.ts'

/** Messages that journald has dropped, where it says so. */
export const droppedOf = (message: string, fields: JournalEntry['fields']): number => {
  const [, told] = /^Suppressed (\d{1,15}) messages from /.exec(message) ?? []
  if (told === undefined) return 0
  const { N_DROPPED: dropped = told } = fields
  return /^\d{1,15}$/.test(dropped) ? Number(dropped) : Number(told)
}
