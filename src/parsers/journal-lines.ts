import type { JournalEntry } from './journal.ts'

/** What a program that has printed a megabyte without a line break has to say is not for us. */
const MAX_LENGTH = 1024 * 1024

/** The last part comes at once, or never: its program was killed, or journald dropped it. */
const MAX_AGE_MS = 10_000

/**
 * Puts lines together again that journald has cut: it splits at 48 KiB and marks every part but the
 * last with `_LINE_BREAK=line-max`. Parts of several programs may be mixed.
 */
export const createLineJoiner = () => {
  const parts = new Map<string, { readonly first: JournalEntry; text: string }>()
  let lost = 0

  /** By the time of entries: a line that waits for its end forever would hold us up forever. */
  const giveUp = (now: number): void => {
    for (const [stream, { first }] of parts) {
      if (now - first.at <= MAX_AGE_MS) continue
      parts.delete(stream)
      lost += 1
    }
  }

  return {
    /** The entry with its whole line, or undefined while parts are missing. */
    join: (entry: JournalEntry): JournalEntry | undefined => {
      if (parts.size > 0) giveUp(entry.at)
      const stream = entry.fields['_STREAM_ID'] ?? entry.fields['_PID'] ?? ''
      const begun = parts.get(stream)
      const text = `${begun?.text ?? ''}${entry.message ?? ''}`
      if (entry.fields['_LINE_BREAK'] === 'line-max' && text.length < MAX_LENGTH) {
        parts.set(stream, { first: begun?.first ?? entry, text })
        return undefined
      }
      parts.delete(stream)
      return begun ? { ...entry, at: begun.first.at, message: text } : entry
    },
    /** Whether a line has begun and not ended: not a place to stop reading at. */
    get isWaiting(): boolean {
      return parts.size > 0
    },
    /** Lines whose end never came, since this was last asked. */
    takeLost: (): number => {
      const count = lost
      lost = 0
      return count
    },
  }
}
