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
  const parts = new Map<string, Begun>()
  let lost = 0

  /** By the time of entries: a line that waits for its end forever would hold us up forever. */
  const giveUp = (now: number): void => {
    for (const [stream, { first, isOver }] of parts) {
      if (now - first.at <= MAX_AGE_MS) continue
      parts.delete(stream)
      if (!isOver) lost += 1
    }
  }

  return {
    /** The entry with its whole line, or undefined while parts are missing. */
    join: (entry: JournalEntry): JournalEntry | undefined => {
      if (parts.size > 0) giveUp(entry.at)
      const stream = streamOf(entry)
      const begun = parts.get(stream)
      const goesOn = isCut(entry)
      if (begun?.isOver === true) {
        // What follows a part that nobody puts together says nothing by itself.
        if (goesOn) parts.set(stream, { first: entry, text: '', isOver: true })
        else parts.delete(stream)
        return undefined
      }
      const text = `${begun?.text ?? ''}${entry.message ?? ''}`
      if (goesOn && text.length < MAX_LENGTH) {
        parts.set(stream, { first: begun?.first ?? entry, text, isOver: false })
        return undefined
      }
      if (goesOn) parts.set(stream, { first: entry, text: '', isOver: true })
      else parts.delete(stream)
      return begun ? { ...entry, at: begun.first.at, message: text } : entry
    },
    /** Whether a line has begun and not ended: not a place to stop reading at. */
    get isWaiting(): boolean {
      return [...parts.values()].some(({ isOver }) => !isOver)
    },
    /** Lines whose end never came, since this was last asked. */
    takeLost: (): number => {
      const count = lost
      lost = 0
      return count
    },
  }
}

export type LineJoiner = ReturnType<typeof createLineJoiner>

interface Begun {
  readonly first: JournalEntry
  readonly text: string
  /** Whether it was too long, and has been given out. */
  readonly isOver: boolean
}

/** Whether journald has cut the line behind this part. */
export const isCut = ({ fields }: JournalEntry): boolean => fields['_LINE_BREAK'] === 'line-max'

/** Who writes: parts of a line come from the same. */
export const streamOf = ({ fields }: JournalEntry): string =>
  fields['_STREAM_ID'] ?? fields['_PID'] ?? ''

/** The longest line that is put together has no more parts: whoever wants the newest lines asks for so many more. */
export const MOST_PARTS = 24

/**
 * The newest lines of the newest entries, oldest first. Where there may be older entries, the first of
 * each stream may be the end of a line that has begun before them, and is left out.
 */
export const newestLines = (
  entries: readonly JournalEntry[],
  wanted: number,
  joiner: LineJoiner = createLineJoiner(),
): readonly JournalEntry[] => {
  const isWhole = entries.length < wanted + MOST_PARTS
  const begun = new Set<string>()
  const lines = entries.flatMap((entry, index) => {
    const line = joiner.join(entry)
    if (!line) return []
    const stream = streamOf(entry)
    const isKnown = isWhole || index >= MOST_PARTS || begun.has(stream)
    begun.add(stream)
    return isKnown ? [line] : []
  })
  return lines.slice(-wanted)
}
