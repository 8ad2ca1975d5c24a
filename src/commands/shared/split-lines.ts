import { second } from '../../core/units.ts'
import { createLineJoiner, isCut, type JournalEntry, parseJournalEntry, streamOf } from '../../parsers/journal.ts'
import type { Exec } from '../../sources/exec.ts'
import { createJournalRangeReader } from '../../sources/journal-range.ts'

/** The parts of a line that journald has split arrive within this time. */
export const MAX_LINE_MS = 2 * second

interface Range {
  readonly since?: number | undefined
  readonly until?: number | undefined
}

interface SplitLineOptions {
  readonly exec: Exec
  readonly signal: AbortSignal
  readonly query: Range & { readonly unit: string; readonly newest?: number | undefined }
}

type Entries = readonly JournalEntry[]

/**
 * Joins the parts of split lines in the results of `journalctl --grep`, which matches each part separately: in a part,
 * a secret may be separated from the label by which it is redacted.
 */
export async function* joinSplitLines(parts: SplitLineOptions, found: AsyncIterable<Entries>): AsyncGenerator<Entries> {
  const { query: asked } = parts
  let cuts: IsPart | undefined
  const shown = new Set<JournalEntry['cursor']>()
  for await (const entries of found) {
    const [first] = entries
    if (!first) continue
    // With `newest`, all entries come in one batch.
    const range = asked.newest === undefined ? asked : { since: first.at, until: entries.at(-1)?.at }
    cuts ??= await findSplits(parts, range)
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
type IsPart = (entry: JournalEntry) => boolean

/** Finds where journald has split lines of the unit. */
const findSplits = async (parts: SplitLineOptions, { since, until }: Range): Promise<IsPart> => {
  // By stream and second, since the number of splits is not bounded.
  const seconds = new Set<string>()
  for await (const { entries } of read(parts, { since, until }, ['_LINE_BREAK=line-max'])) {
    for (const cut of entries.filter(isCut)) {
      const from = Math.floor(cut.at / second)
      for (const later of [0, 1, 2]) seconds.add(`${from + later} ${streamOf(cut)}`)
    }
  }
  return (entry) => isCut(entry) || seconds.has(`${Math.floor(entry.at / second)} ${streamOf(entry)}`)
}

/** Maps the cursors of all parts to the joined line. */
const readLines = async (parts: SplitLineOptions, range: Range, whole: Map<string, JournalEntry>): Promise<void> => {
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

/** The time ranges around entries, merged. */
const rangesOf = (entries: Entries): readonly Required<Range>[] => {
  const ranges: { since: number; until: number }[] = []
  for (const { at } of entries) {
    const last = ranges.at(-1)
    if (last && at <= last.until) last.until = at + MAX_LINE_MS
    else ranges.push({ since: at, until: at + MAX_LINE_MS })
  }
  return ranges
}

const read = (
  { exec, signal, query: asked }: SplitLineOptions,
  { since, until }: Range,
  match: readonly string[] = [],
) =>
  createJournalRangeReader({ exec, parse: parseJournalEntry })(
    {
      match: ['-u', asked.unit, ...match],
      ...(since === undefined ? {} : { since: since - MAX_LINE_MS }),
      ...(until === undefined ? {} : { until }),
    },
    signal,
  )
