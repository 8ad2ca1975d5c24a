import { ParseError } from '../../core/errors.ts'
import { createLineJoiner, type JournalEntry, parseJournalEntry, withoutPrintedPrefix } from '../../parsers/journal.ts'
import { readRecording, type Recording } from '../../sources/journal-range.ts'
import type { Fold } from './fold.ts'
import type { JournalContext } from './from-journal.ts'

interface FoldRecordingParts {
  readonly recording: Recording
  /** The unit of the consensus service; `{prefix}` matches any name prefix. */
  readonly unit: string
  /** Milliseconds since the epoch, exclusive: later lines are skipped. */
  readonly until: number | undefined
  readonly onLines: (lines: number) => void
}

interface RecordingContext extends JournalContext {
  /** Times of the first and the last line of the service; undefined if there is none. */
  readonly first: number | undefined
  readonly last: number | undefined
}

const NEWEST = 10

/** Reads a complete file into the fold: output of `journalctl -o json`, or the lines as the service wrote them. */
export const foldRecording = async (
  { recording, unit, until, onLines }: FoldRecordingParts,
  fold: Fold,
): Promise<RecordingContext> => {
  const isConsensusUnit = unitMatcher(unit)
  const parse = createEntryReader()
  const joiner = createLineJoiner()
  const newest: JournalEntry[] = []
  let first: number | undefined
  let last: number | undefined
  let lines = 0
  let unreadable = 0
  for await (const batch of readRecording(recording, parse)) {
    lines += batch.entries.length
    unreadable += batch.unreadable
    for (const part of batch.entries) {
      const isWanted = part.unit === null || isConsensusUnit(part.unit)
      const entry = isWanted && (until === undefined || part.at < until) ? part : undefined
      const joined = entry && joiner.join(entry)
      if (!joined) continue
      first ??= joined.at
      last = Math.max(last ?? joined.at, joined.at)
      newest.push(joined)
      if (newest.length > NEWEST) newest.shift()
      fold.on(joined)
    }
    onLines(lines)
  }
  return { newest, unreadable: unreadable + joiner.takeLostCount(), first, last }
}

const unitMatcher = (unit: string): ((name: string) => boolean) => {
  const pattern = unit
    .split('{prefix}')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('[a-z][a-z0-9]*')
  const whole = new RegExp(`^${pattern}$`)
  return (name) => whole.test(name)
}

/** The format is recognised line by line. A line without a timestamp gets the timestamp of the line before it. */
const createEntryReader = () => {
  let at: number | undefined
  return (printed: string): JournalEntry => {
    const line = withoutPrintedPrefix(printed)
    if (line.startsWith('{') && line.includes('"__REALTIME_TIMESTAMP"')) return parseJournalEntry(line)
    const [, timestamp] = /^\s*\{\s*"timestamp"\s*:\s*"([^"]{10,40})"/.exec(line) ?? []
    const written = timestamp === undefined ? Number.NaN : Date.parse(timestamp)
    if (Number.isFinite(written)) at = Math.floor(written)
    if (at === undefined)
      throw new ParseError('a line of the recording', 'a timestamp in it or in a line before it', printed)
    return { cursor: '', at, unit: null, message: line, fields: {} }
  }
}
