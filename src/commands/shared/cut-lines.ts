import { second } from '../../core/units.ts'
import {
  createLineJoiner,
  isCut,
  type JournalEntry,
  parseJournalEntry,
  streamOf,
} from '../../parsers/journal.ts'
import type { Exec } from '../../sources/exec.ts'
import { createJournalRangeReader } from '../../sources/journal-range.ts'

/** So soon, the rest of a line that journald has cut comes behind its beginning. */
export const BEFORE_MS = 2 * second

interface Range {
  readonly since?: number | undefined
  readonly until?: number | undefined
}

interface Parts {
  readonly exec: Exec
  readonly signal: AbortSignal
  readonly asked: Range & { readonly unit: string; readonly newest?: number | undefined }
}

type Entries = readonly JournalEntry[]

/**
 * What journalctl has found by a pattern, parts of lines made whole: it looks at each part by itself,
 * and in a part a secret may stand apart from what calls it one.
 */
export async function* withWholeLines(
  parts: Parts,
  found: AsyncIterable<Entries>,
): AsyncGenerator<Entries> {
  const { asked } = parts
  let cuts: Cuts | undefined
  const shown = new Set<JournalEntry['cursor']>()
  for await (const entries of found) {
    const [first] = entries
    if (!first) continue
    // The newest come all at once.
    const range =
      asked.newest === undefined ? asked : { since: first.at, until: entries.at(-1)?.at }
    cuts ??= await readCuts(parts, range)
    const suspects = entries.filter(cuts)
    const whole = new Map<string, JournalEntry>()
    for (const around of rangesOf(suspects)) await readLines(parts, around, whole)
    yield entries.flatMap((entry) => {
      if (!suspects.includes(entry)) return [entry]
      const line = whole.get(entry.cursor)
      if (!line || shown.has(line.cursor)) return []
      shown.add(line.cursor)
      return [line]
    })
  }
}

/** Whether an entry may be a part of a line. */
type Cuts = (entry: JournalEntry) => boolean

/** Where journald has cut lines of the unit. */
const readCuts = async (parts: Parts, { since, until }: Range): Promise<Cuts> => {
  // By stream and second: how many there are is nobody's to say.
  const seconds = new Set<string>()
  for await (const { entries } of read(parts, { since, until }, ['_LINE_BREAK=line-max'])) {
    for (const cut of entries.filter(isCut)) {
      const from = Math.floor(cut.at / second)
      for (const later of [0, 1, 2]) seconds.add(`${from + later} ${streamOf(cut)}`)
    }
  }
  return (entry) =>
    isCut(entry) || seconds.has(`${Math.floor(entry.at / second)} ${streamOf(entry)}`)
}

/** Each line by the cursors of all its parts. */
const readLines = async (
  parts: Parts,
  range: Range,
  whole: Map<string, JournalEntry>,
): Promise<void> => {
  const joiner = createLineJoiner()
  const waiting = new Map<string, readonly string[]>()
  for await (const { entries } of read(parts, range)) {
    for (const part of entries) {
      const stream = streamOf(part)
      const cursors = [...(waiting.get(stream) ?? []), part.cursor]
      const line = joiner.join(part)
      waiting.set(stream, line ? [] : cursors)
      for (const cursor of line ? cursors : []) whole.set(cursor, line ?? part)
    }
  }
}

/** All that was written around these, in as few stretches as need be. */
const rangesOf = (entries: Entries): readonly Required<Range>[] => {
  const ranges: { since: number; until: number }[] = []
  for (const { at } of entries) {
    const last = ranges.at(-1)
    if (last && at <= last.until) last.until = at + BEFORE_MS
    else ranges.push({ since: at, until: at + BEFORE_MS })
  }
  return ranges
}

const read = (
  { exec, signal, asked }: Parts,
  { since, until }: Range,
  match: readonly string[] = [],
) =>
  createJournalRangeReader({ exec, parse: parseJournalEntry })(
    {
      match: ['-u', asked.unit, ...match],
      ...(since === undefined ? {} : { since: since - BEFORE_MS }),
      ...(until === undefined ? {} : { until }),
    },
    signal,
  )
