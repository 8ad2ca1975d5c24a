import { ParseError, SourceError } from '../../core/errors.ts'
import { second } from '../../core/units.ts'
import { type JournalEntry, parseJournalEntry } from '../../parsers/journal.ts'
import type { Exec } from '../../sources/exec.ts'
import { createNewestEntryReader } from '../../sources/journal.ts'
import {
  createJournalRangeReader,
  type EntryBatch,
  patternOf,
  readRecording,
  type Recording,
} from '../../sources/journal-range.ts'
import { createPrefix } from '../../sources/prefix.ts'
import { type ClockStep, compareOrder, createTimeline, type PlacedEntry } from '../../sources/journal-order.ts'

/** Source of past entries: the journal of this host, or a file. Times are milliseconds since the epoch. */
export type PastSource = Awaited<ReturnType<typeof openJournal | typeof openFile>>

interface OpenJournalOptions {
  readonly exec: Exec
  /** The search path for programs. */
  readonly path: string
  /** The configured prefix, or `auto`. */
  readonly prefix: string
  readonly since: number
  readonly until: number
}

/** Opens the journal of this host, with one journalctl per listener, which filters the entries. */
export const openJournal = async (options: OpenJournalOptions, signal: AbortSignal) => {
  const { exec, path, since, until } = options
  const parts = { exec, parse: parseJournalEntry }
  const readNewest = createNewestEntryReader(parts)
  const readPast = createJournalRangeReader(parts)
  const { word } = await createPrefix({ exec, path, configured: options.prefix })(signal)
  const probe = { command: 'journalctl', args: ['-n', '0', '--grep=.'], answers: [0, 1] }
  const { stderr } = await exec.run(probe, signal)
  return {
    /** The name prefix of the units. */
    prefix: word,
    /** What journalctl prints on stderr for --grep; empty if it can filter by patterns. */
    grepStderr: stderr,
    from: since,
    /** Null if it ends with its last entry. */
    to: until,
    /** Opens a reader for listeners with these journalctl arguments. Its times only increase. */
    open: (matches: readonly (readonly string[])[]) => {
      const buffer = createBufferedEntries(matches.map((match) => readPast({ match, since, until }, signal)))
      return {
        ...buffer,
        /** A batch with the entries up to a time for each listener, and the clock of the host after it. */
        readUntil: async (to: number) => {
          const { entries, ...clock } = await buffer.take(to)
          const unreadable = buffer.takeUnreadable()
          return { ...clock, batches: entries.map((some, at) => ({ entries: some, unreadable: unreadable[at] ?? 0 })) }
        },
        /** Whether the recording has no entry of any unit between two times of the host's clock. */
        hasNoEntries: async (from: number, to: number) => {
          const [begin, end] = [from + second, to - second].map((at) => (at / second).toFixed(3))
          const range = [`--since=@${begin}`, `--until=@${end}`]
          return (await readNewest(range, signal)) === undefined
        },
      }
    },
  }
}

interface OpenFileOptions extends Pick<OpenJournalOptions, 'prefix'> {
  readonly recording: Recording
  readonly since: number | undefined
  readonly until: number | undefined
}

/** Entries that are searched for a unit name with the prefix. */
const MAX_PREFIX_ENTRIES = 20_000

/** Opens a recording. It is read once, and filtered for each listener like journalctl would. */
export const openFile = async (options: OpenFileOptions) => {
  const { recording, prefix, since = -Infinity, until } = options
  const batches = within(readRecording(recording, parseJournalEntry), since, until ?? Infinity)
  const first: EntryBatch<JournalEntry>[] = []
  let found = prefix === 'auto' ? undefined : prefix
  let count = 0
  let from: number | undefined
  for (let more = await batches.next(); more.done !== true; more = await batches.next()) {
    first.push(more.value)
    const { entries } = more.value
    count += entries.length
    from ??= entries[0]?.at
    found ??= prefixIn(entries)
    if ((found !== undefined && from !== undefined) || count > MAX_PREFIX_ENTRIES) break
  }
  if (from === undefined) throw emptyRecording(recording.name)
  const buffer = createBufferedEntries([chain(first, batches)])
  return {
    prefix: found ?? 'chain',
    grepStderr: '',
    from: Number.isFinite(since) ? Math.max(since, from) : from,
    to: null,
    open: (matches: readonly (readonly string[])[]) => {
      const predicates = matches.map(createJournalMatch)
      return {
        ...buffer,
        readUntil: async (to: number) => {
          const { entries, ...clock } = await buffer.take(to)
          const [unreadable = 0] = buffer.takeUnreadable()
          const ofListeners = predicates.map((isOurs, at) => ({
            entries: entries.flat().filter(isOurs),
            unreadable: at === 0 ? unreadable : 0,
          }))
          return { ...clock, batches: ofListeners }
        },
        // The reader has all entries of the recording, so there is none between two of them.
        hasNoEntries: () => Promise.resolve(true),
      }
    },
  }
}

const UNIT = /^([a-z][a-z0-9]*)-(?:bft|execution|ledger-tail)\.service$/
const prefixIn = (entries: readonly JournalEntry[]): string | undefined =>
  entries.flatMap(({ unit }) => UNIT.exec(unit ?? '')?.[1] ?? [])[0]

type Batches = AsyncGenerator<EntryBatch<JournalEntry>, undefined>

async function* within(batches: AsyncGenerator<EntryBatch<JournalEntry>>, since: number, until: number): Batches {
  for await (const { entries, unreadable } of batches) {
    const wanted = entries.filter(({ at }) => at >= since && at <= until)
    // To the end of the recording: after the clock of the host went back, earlier times follow later ones.
    yield { entries: wanted, unreadable }
  }
  return undefined
}

async function* chain(first: readonly EntryBatch<JournalEntry>[], rest: Batches): Batches {
  yield* first
  yield* rest
  return undefined
}

const emptyRecording = (name: string): SourceError =>
  new SourceError({
    doing: `replay ${name}`,
    happened: 'it has no journal entry in that time range',
    advice: 'record one with `journalctl --all -o json --since TIME > FILE`',
  })

/**
 * Matches recorded entries like journalctl does for these arguments: `-u UNIT`, `--grep=` and FIELD=value. Repeated
 * fields are alternatives; different fields must all match. Throws a ParseError for other arguments.
 */
export const createJournalMatch = (match: readonly string[]): ((entry: JournalEntry) => boolean) => {
  const units = new Set<string>()
  const fields = new Map<string, Set<string>>()
  let grep: RegExp | undefined
  for (let at = 0; at < match.length; at += 1) {
    const argument = match[at] ?? ''
    const [, field, value = ''] = /^([A-Z0-9_]+)=(.*)$/s.exec(argument) ?? []
    if (argument === '-u') {
      at += 1
      units.add(match[at] ?? '')
    } else if (argument.startsWith('--grep=')) grep = patternOf(argument.slice('--grep='.length))
    else if (field !== undefined) fields.set(field, (fields.get(field) ?? new Set()).add(value))
    else throw new ParseError('a journal match', '-u, --grep= or FIELD=value', argument)
  }
  return (entry) =>
    (units.size === 0 || (entry.unit !== null && units.has(entry.unit))) &&
    [...fields].every(([field, values]) => values.has(entry.fields[field] ?? '')) &&
    (grep === undefined || grep.test(entry.message ?? ''))
}

/** Entries that peek() returns at least from each source, if there are so many. */
const PEEK_ENTRIES = 3000

/**
 * Entries of several sources in the order in which they were written, read only as far as needed. Their times are those
 * of a timeline, which only increases: the first one has its time by the clock of the host.
 */
export const createBufferedEntries = (sources: readonly Batches[]) => {
  const queues = sources.map(createQueue)
  const place = createTimeline()
  let head: { readonly index: number; readonly entry: JournalEntry; readonly placed: PlacedEntry } | undefined
  let offset: number | undefined

  const fill = async (): Promise<void> => {
    for (const queue of queues) if (queue.isEmpty()) await queue.fill()
  }
  /** The first of the next entries of all sources, none of which may be empty before its end. */
  const findHead = () => {
    if (head) return head
    let first: { readonly index: number; readonly entry: JournalEntry } | undefined
    for (const [index, queue] of queues.entries()) {
      const entry = queue.current()
      if (entry && (!first || compareOrder(entry, first.entry) < 0)) first = { index, entry }
    }
    if (first) head = { ...first, placed: place(first.entry) }
    return head
  }

  return {
    /** Time of the next entry; null after the last. */
    next: async (): Promise<number | null> => {
      await fill()
      return findHead()?.placed.elapsed ?? null
    },
    /** Removes and returns the entries up to a time, including older ones that were recorded late. */
    take: async (until: number) => {
      const entries: JournalEntry[][] = queues.map(() => [])
      const steps: (PlacedEntry & { readonly step: ClockStep })[] = []
      for (;;) {
        // Waiting only if necessary: a wait for each entry takes longer than the entry.
        if (queues.some((queue) => queue.isEmpty())) await fill()
        const next = findHead()
        if (!next || next.placed.elapsed > until) break
        const { index, entry, placed } = next
        const { step } = placed
        entries[index]?.push(entry)
        if (step) steps.push({ ...placed, step })
        ;({ offset } = placed)
        queues[index]?.shift()
        head = undefined
      }
      return {
        /** By source. */
        entries,
        /** The entries after which the clock of the host had been set. */
        steps,
        /** What the clock shows in addition to the time of the replay; undefined before the first entry. */
        offset,
      }
    },
    /** The next entries of each source, without removing them. */
    peek: async (): Promise<readonly JournalEntry[]> => (await Promise.all(queues.map((queue) => queue.peek()))).flat(),
    /** Number of lines of each source that were not entries since the last call. */
    takeUnreadable: (): readonly number[] => queues.map((queue) => queue.takeUnreadable()),
    /** Stops reading. */
    close: async (): Promise<void> => {
      await Promise.all(sources.map((batches) => batches.return(undefined)))
    },
  }
}

export type TakenEntries = Awaited<ReturnType<ReturnType<typeof createBufferedEntries>['take']>>

/** The entries of one source. */
const createQueue = (batches: Batches) => {
  let held: readonly JournalEntry[] = []
  let position = 0
  let unreadable = 0
  let hasEnded = false

  const more = async (): Promise<readonly JournalEntry[] | undefined> => {
    if (hasEnded) return undefined
    const result: IteratorResult<EntryBatch<JournalEntry>, undefined> = await batches.next()
    hasEnded = result.done === true
    if (result.done === true) return undefined
    unreadable += result.value.unreadable
    return result.value.entries
  }
  return {
    current: () => held[position],
    isEmpty: () => position >= held.length && !hasEnded,
    shift: () => {
      position += 1
    },
    /** Reads on until there is an entry, or to the end. */
    fill: async () => {
      while (position >= held.length) {
        const entries = await more()
        if (!entries) return
        held = entries
        position = 0
      }
    },
    peek: async () => {
      for (let ahead = held.slice(position); ahead.length < PEEK_ENTRIES;) {
        const entries = await more()
        if (!entries) break
        held = ahead = [...ahead, ...entries]
        position = 0
      }
      return held.slice(position)
    },
    takeUnreadable: () => {
      const count = unreadable
      unreadable = 0
      return count
    },
  }
}
