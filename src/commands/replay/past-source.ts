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
import { createBufferedEntries, type TakenEntries } from './buffered-entries.ts'

/** The entries of one listener in a step. */
interface ReaderBatch {
  readonly entries: readonly JournalEntry[]
  readonly unreadable: number
}

/** What was read in a step: a batch for each listener, and the clock of the host after it. */
interface ReadEntries extends Pick<TakenEntries, 'steps' | 'offset'> {
  readonly batches: readonly ReaderBatch[]
}

/** Reads past entries step by step. Its times are those of BufferedEntries, which only increase. */
export interface ReplayReader {
  /** Time of the next entry of any listener; null after the last. */
  next(): Promise<number | null>
  /** The entries up to a time for each listener, in the order of the listeners. */
  readUntil(until: number): Promise<ReadEntries>
  /** The next few entries. */
  peek(): Promise<readonly JournalEntry[]>
  /** Whether the recording has no entry of any unit between two times of the host's clock. */
  hasNoEntries(from: number, to: number): Promise<boolean>
  close(): Promise<void>
}

/** Source of past entries: the journal of this host, or a file. Times are milliseconds since the epoch. */
export interface PastSource {
  /** The name prefix of the units. */
  readonly prefix: string
  /** What journalctl prints on stderr for --grep; empty if it can filter by patterns. */
  readonly grepStderr: string
  readonly from: number
  /** Null if it ends with its last entry. */
  readonly to: number | null
  /** Opens a reader for listeners with these journalctl arguments. */
  open(matches: readonly (readonly string[])[]): ReplayReader
}

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
export const openJournal = async (options: OpenJournalOptions, signal: AbortSignal): Promise<PastSource> => {
  const { exec, path, since, until } = options
  const parts = { exec, parse: parseJournalEntry }
  const readNewest = createNewestEntryReader(parts)
  const readPast = createJournalRangeReader(parts)
  const { word } = await createPrefix({ exec, path, configured: options.prefix })(signal)
  const probe = { command: 'journalctl', args: ['-n', '0', '--grep=.'], answers: [0, 1] }
  const { stderr } = await exec.run(probe, signal)
  return {
    prefix: word,
    grepStderr: stderr,
    from: since,
    to: until,
    open: (matches) => {
      const buffer = createBufferedEntries(matches.map((match) => readPast({ match, since, until }, signal)))
      return {
        next: buffer.next,
        peek: buffer.peek,
        readUntil: async (to) => {
          const { entries, ...clock } = await buffer.take(to)
          const unreadable = buffer.takeUnreadable()
          return { ...clock, batches: entries.map((some, at) => ({ entries: some, unreadable: unreadable[at] ?? 0 })) }
        },
        hasNoEntries: async (from, to) => {
          const [begin, end] = [from + second, to - second].map((at) => (at / second).toFixed(3))
          const range = [`--since=@${begin}`, `--until=@${end}`]
          return (await readNewest(range, signal)) === undefined
        },
        close: buffer.close,
      }
    },
  }
}

interface OpenFileOptions {
  readonly recording: Recording
  /** The configured prefix, or `auto`. */
  readonly prefix: string
  readonly since?: number
  readonly until?: number
}

/** Entries that are searched for a unit name with the prefix. */
const MAX_PREFIX_ENTRIES = 20_000

/** Opens a recording. It is read once, and filtered for each listener like journalctl would. */
export const openFile = async (options: OpenFileOptions): Promise<PastSource> => {
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
    open: (matches) => {
      const predicates = matches.map(createJournalMatch)
      return {
        next: buffer.next,
        peek: buffer.peek,
        readUntil: async (to) => {
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
        close: buffer.close,
      }
    },
  }
}

const prefixIn = (entries: readonly JournalEntry[]): string | undefined => {
  for (const { unit } of entries) {
    const [, prefix] = /^([a-z][a-z0-9]*)-(?:bft|execution|ledger-tail)\.service$/.exec(unit ?? '') ?? []
    if (prefix !== undefined) return prefix
  }
  return undefined
}

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

type Predicate = (entry: JournalEntry) => boolean

/**
 * Matches recorded entries like journalctl does for these arguments: `-u UNIT`, `--grep=` and FIELD=value. Repeated
 * fields are alternatives; different fields must all match. Throws a ParseError for other arguments.
 */
export const createJournalMatch = (match: readonly string[]): Predicate => {
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
