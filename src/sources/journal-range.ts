import { type Context, withDeadline } from '../core/clock.ts'
import { fileError, SourceError } from '../core/errors.ts'
import { openStream } from '../core/files.ts'
import { LIMITS } from '../core/limits.ts'
import { hour, second } from '../core/units.ts'
import {
  createEndReader,
  createNewestEntryReader,
  entriesOf,
  type Journal,
  JOURNAL_OUTPUT_OPTIONS,
  journalTime,
  type JournalDependencies,
} from './journal.ts'
import { type ClockStep, compareOrder, createTimeline, type OrderedPosition } from './journal-order.ts'
import { createLineSplitter, type Line } from './streams.ts'

/** A range of the journal. Times are in milliseconds since the epoch, both inclusive. */
export interface JournalRange {
  /** Matches in journalctl syntax: `-u`, UNIT, `--grep=`, or FIELD=value. */
  readonly match: readonly string[]
  readonly since?: number
  readonly until?: number
  /** Only the last N entries, which are held in memory. */
  readonly newest?: number
}

export interface EntryBatch<Entry> {
  readonly entries: readonly Entry[]
  /** The number of lines that are not entries. */
  readonly unreadable: number
  /** The steps of the host's clock up to the last of these entries. */
  readonly steps?: readonly ClockStep[]
}

interface RangeEntry extends OrderedPosition {
  readonly message?: string | null
}

/** A microsecond, the resolution of journalctl. */
const MICROSECOND = 0.001

/**
 * Reads a range in the order in which it was written. Throws a SourceError if the journal cannot be read.
 *
 * journald begins a new file when the clock goes back, so in each file the times increase, and journalctl finds the
 * start of a range in each. It stops at the first entry outside the range: with `--until` or `--reverse` it does not
 * return the entries of a later or earlier file that are inside. To find these, this reader compares the first entry
 * after the range with the last one that is not after it, by the order in which they were written: two short runs of
 * journalctl, each 25 to 115 ms on a busy host with a journal of 214 MB, which takes 67 s to read completely.
 */
export const createJournalRangeReader = <Entry extends RangeEntry>(parts: JournalDependencies<Entry>) => {
  const { exec, parse } = parts
  const newest = createNewestEntryReader(parts)

  async function* run(args: readonly string[], signal: AbortSignal): AsyncGenerator<EntryBatch<Entry>> {
    const split = createLineSplitter()
    const program = { command: 'journalctl', args: ['--merge', ...args], answers: [0, 1] }
    for await (const chunk of exec.stream(program, signal)) yield batchOf(split(chunk), parse)
  }

  return async function* readRange(
    { match, since, until, newest: count }: JournalRange,
    signal: AbortSignal,
  ): AsyncGenerator<EntryBatch<Entry>> {
    const filters = match.filter((word) => !word.startsWith('--grep='))
    const [from, to] = [sinceArguments(since), untilArguments(until)]
    // Fails at once, and readably, where a reader that may not read would only find nothing. Of whatever pattern: to
    // search for one takes as long as the journal is big.
    await newest([...from, ...filters], signal)

    const isWanted = ({ at }: Entry): boolean => at >= (since ?? -Infinity) && at <= (until ?? Infinity)
    async function* positions(args: readonly string[]): AsyncGenerator<Entry> {
      const output = ['-o', 'json', '--output-fields=PRIORITY']
      for await (const { entries } of run([...args, ...output, ...filters], signal)) yield* entries
    }
    const first = async (
      args: readonly string[],
      isMatch: (entry: Entry) => boolean = () => true,
    ): Promise<Entry | undefined> => {
      for await (const entry of positions(args)) if (isMatch(entry)) return entry
      return undefined
    }

    /** The entries of the range that were written after one that is later than the range. */
    const findLaterPart = async (end: number) => {
      const past = await first(sinceArguments(end + MICROSECOND))
      if (!past) return undefined
      let [begin, last, landed]: (Entry | undefined)[] = []
      for await (const entry of positions(['--reverse', ...untilArguments(end)])) {
        if (compareOrder(entry, past) <= 0) break
        landed = entry
        if (!isWanted(entry)) continue
        begin = entry
        last ??= entry
      }
      if (!begin || !last || !landed) return undefined
      const { cursor } = landed
      const before = await first(['--reverse', `--cursor=${cursor}`], (entry) => entry.cursor !== cursor)
      const place = createTimeline()
      place(before ?? past)
      const { step } = place(landed)
      return { begin, last, steps: step ? [step] : [] }
    }

    async function* readForward(): AsyncGenerator<EntryBatch<Entry>> {
      const place = createTimeline()
      const stepsIn = (entries: readonly Entry[]) => entries.flatMap((entry) => place(entry).step ?? [])
      for await (const batch of run([...from, ...to, ...JOURNAL_OUTPUT_OPTIONS, ...match], signal)) {
        yield { ...batch, steps: stepsIn(batch.entries) }
      }
      const later = until === undefined ? undefined : await findLaterPart(until)
      if (!later) return
      const { begin, last } = later
      place(begin)
      yield { entries: [], unreadable: 0, steps: later.steps }
      // journalctl would search for a pattern beyond the last entry.
      const hasPattern = matcherOf(match)
      for await (const { entries, unreadable } of run(
        [`--cursor=${begin.cursor}`, ...JOURNAL_OUTPUT_OPTIONS, ...filters],
        signal,
      )) {
        // With files that do not continue each other's sequence, journalctl begins before the cursor.
        const wanted = entries.filter(
          (entry) => isWanted(entry) && compareOrder(entry, begin) >= 0 && compareOrder(entry, last) <= 0,
        )
        yield { entries: wanted.filter(hasPattern), unreadable, steps: stepsIn(wanted) }
        if (entries.some((entry) => compareOrder(entry, last) >= 0)) return
      }
    }

    /** Whether an entry of the range was written before one that is earlier than the range. */
    const hasEarlierPart = async (begin: number): Promise<boolean> => {
      const last = await first(['--reverse', ...untilArguments(begin - MICROSECOND)])
      const inside = last && (await first(sinceArguments(begin)))
      return last !== undefined && inside !== undefined && compareOrder(inside, last) < 0
    }

    if (count === undefined) {
      yield* readForward()
      return
    }
    // Without --reverse, journalctl 252 counts from the end of the journal and ignores --until.
    const backwards = [...from, ...to, '--reverse', '-n', `${count}`, ...JOURNAL_OUTPUT_OPTIONS, ...match]
    let last: Entry[] = []
    for await (const { entries, unreadable } of run(backwards, signal)) {
      for (const entry of entries) last.push(entry)
      yield { entries: [], unreadable }
    }
    if (last.length < count && since !== undefined && (await hasEarlierPart(since))) {
      last = []
      for await (const { entries } of readForward()) {
        for (const entry of entries) last.push(entry)
        if (last.length > 2 * count) last = last.slice(-count)
      }
      last = last.slice(-count).toReversed()
    }
    const place = createTimeline()
    const entries = last.toReversed()
    yield { entries, unreadable: 0, steps: entries.flatMap((entry) => place(entry).step ?? []) }
  }
}

/** As in journalctl, a pattern without a capital letter ignores case. */
export const patternOf = (text: string): RegExp => new RegExp(text, /[A-Z]/.test(text) ? '' : 'i')

const matcherOf = (match: readonly string[]) => {
  const pattern = match.find((word) => word.startsWith('--grep='))?.slice('--grep='.length)
  const compiled = pattern === undefined ? undefined : patternOf(pattern)
  return ({ message }: RangeEntry): boolean => compiled?.test(message ?? '') ?? true
}

const sinceArguments = (at: number | undefined) => (at === undefined ? [] : [`--since=${journalTime(at)}`])
const untilArguments = (at: number | undefined) => (at === undefined ? [] : [`--until=${journalTime(at)}`])

const batchOf = <Entry>(all: readonly Line[], parse: (line: string) => Entry): EntryBatch<Entry> => {
  const lines = all.filter((line) => line !== '')
  const entries = entriesOf(lines, parse)
  return { entries, unreadable: lines.length - entries.length }
}

/** The fallback range if the complete look-back takes too long. */
const SHORT_LOOK_MS = 75 * second

/**
 * The journal as a snapshot: a follower receives the initial entries and then nothing more. For commands that run once.
 */
export const createSnapshotJournal = <Entry extends RangeEntry>(parts: JournalDependencies<Entry>): Journal<Entry> => {
  const readRange = createJournalRangeReader(parts)
  const readEnd = createEndReader(parts)
  const read = async (range: JournalRange, context: Context) => {
    const all: Entry[] = []
    let unreadable = 0
    for await (const batch of readRange(range, context.signal)) {
      all.push(...batch.entries)
      unreadable += batch.unreadable
    }
    const isAhead = ({ at }: Entry): boolean => at > context.clock.now() + LIMITS.journal.aheadMs
    const { isHidden } = all.some(isAhead) ? await readEnd(range.match, context) : { isHidden: false }
    return { entries: isHidden ? all.filter((entry) => !isAhead(entry)) : all, unreadable, gap: false }
  }
  return {
    async *follow({ match, start, timeout }, context: Context) {
      const { clock, signal } = context
      const { newest, lookBack } = 'newest' in start ? start : { newest: 1, lookBack: undefined }
      const look = (range: JournalRange, patience: number) =>
        withDeadline(context, patience, (within) => read(range, within))
      const since = (back: number): JournalRange => ({ match, since: clock.now() - back })
      if (lookBack === undefined) yield await look({ match, newest }, timeout)
      else if (lookBack <= SHORT_LOOK_MS) yield await look(since(lookBack), timeout)
      else {
        // A DEBUG log is too large to search that far back: read the last minute instead.
        yield await look(since(lookBack), timeout / 2).catch((error: unknown) => {
          if (error instanceof SourceError && error.timeout) {
            return look(since(SHORT_LOOK_MS), timeout / 2)
          }
          throw error
        })
      }
      while (!signal.aborted) await clock.sleep(hour, signal)
    },
  }
}

export type Recording = ReturnType<typeof openRecording>

/** A journal exported to a file: lines of `journalctl -o json`. */
export const openRecording = (file: string, signal: AbortSignal) => ({
  /** The name as the operator gave it. */
  name: file,
  bytes: openStream(file, signal, 256 * 1024),
})

/** Reads a recording from start to end. Throws a SourceError if it cannot be read. */
export async function* readRecording<Entry>(
  { name, bytes }: Recording,
  /** Throws if the line is not an entry. */
  parse: (line: string) => Entry,
): AsyncGenerator<EntryBatch<Entry>> {
  const split = createLineSplitter()
  try {
    const chunks: AsyncIterable<Uint8Array> = bytes
    for await (const chunk of chunks) yield batchOf(split(chunk), parse)
    // The last line of a file may lack a line break.
    yield batchOf(split(Buffer.from('\n')), parse)
  } catch (error) {
    const advice = 'name a file of `journalctl --all -o json`, or - for standard input'
    throw fileError(error, { doing: `read the recording ${name}`, advice })
  }
}
