import { type JournalEntry, parseJournalEntry } from '../../parsers/journal.ts'
import { createLineJoiner } from '../../parsers/journal-lines.ts'
import { type Recording, readRecording } from '../../sources/recording.ts'
import type { Fold } from './fold.ts'
import type { Around } from './from-journal.ts'

interface Parts {
  readonly recording: Recording
  /** The unit of the consensus service, with `{prefix}` for a maker's word that nobody can tell. */
  readonly unit: string
  /** Milliseconds since the epoch: what is written from then on is left out. */
  readonly until: number | undefined
  readonly onLines: (lines: number) => void
}

interface Read extends Around {
  /** When the first and the last line of the service were written; undefined where there is none. */
  readonly first: number | undefined
  readonly last: number | undefined
}

const NEWEST = 10

/** Reads all of a file into the fold: `journalctl -o json`, or the lines as the service has written them. */
export const foldRecording = async (
  { recording, unit, until, onLines }: Parts,
  fold: Fold,
): Promise<Read> => {
  const isOurs = unitMatcher(unit)
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
      const isWanted = part.unit === null || isOurs(part.unit)
      const entry = isWanted && (until === undefined || part.at < until) ? part : undefined
      const whole = entry && joiner.join(entry)
      if (!whole) continue
      first ??= whole.at
      last = Math.max(last ?? whole.at, whole.at)
      newest.push(whole)
      if (newest.length > NEWEST) newest.shift()
      fold.on(whole)
    }
    onLines(lines)
  }
  return { newest, unreadable: unreadable + joiner.takeLost(), first, last }
}

const unitMatcher = (unit: string): ((name: string) => boolean) => {
  const pattern = unit
    .split('{prefix}')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('[a-z][a-z0-9]*')
  const whole = new RegExp(`^${pattern}$`)
  return (name) => whole.test(name)
}

/** Each line tells by itself what it is. One that is no JSON was written when the line before it was. */
const createEntryReader = () => {
  let at: number | undefined
  return (line: string): JournalEntry => {
    if (line.startsWith('{') && line.includes('"__REALTIME_TIMESTAMP"'))
      return parseJournalEntry(line)
    const [, timestamp] = /^\s*\{\s*"timestamp"\s*:\s*"([^"]{10,40})"/.exec(line) ?? []
    const written = timestamp === undefined ? Number.NaN : Date.parse(timestamp)
    if (Number.isFinite(written)) at = Math.floor(written)
    if (at === undefined) throw new RangeError('a line before the first that has a time')
    return { cursor: '', at, unit: null, message: line, fields: {} }
  }
}
