import { SourceError } from '../../core/errors.ts'
import { type JournalEntry, parseJournalEntry } from '../../parsers/journal.ts'
import type { EntryBatch } from '../../sources/journal-range.ts'
import { readRecording, type Recording } from '../../sources/recording.ts'
import { createMatch } from './match.ts'
import type { PastSource } from './source.ts'
import { createTape } from './tape.ts'

interface Options {
  readonly recording: Recording
  /** As it is configured. */
  readonly prefix: string
  readonly since?: number
  readonly until?: number
}

/** So many entries are looked at for the name of a unit that tells the maker's word. */
const LOOK = 20_000

/** A recording in a file: read once, and each listener hears what journalctl would have shown it. */
export const openFile = async (options: Options): Promise<PastSource> => {
  const { recording, prefix, since = -Infinity, until } = options
  const batches = within(readRecording(recording, parseJournalEntry), since, until ?? Infinity)
  const first: EntryBatch<JournalEntry>[] = []
  let word = prefix === 'auto' ? undefined : prefix
  let count = 0
  let from: number | undefined
  for (let more = await batches.next(); more.done !== true; more = await batches.next()) {
    first.push(more.value)
    const { entries } = more.value
    count += entries.length
    from ??= entries[0]?.at
    word ??= wordOf(entries)
    if ((word !== undefined && from !== undefined) || count > LOOK) break
  }
  if (from === undefined) throw nothingIn(recording.name)
  const tape = createTape(chain(first, batches))
  return {
    prefix: word ?? 'chain',
    grepSays: '',
    from: Number.isFinite(since) ? Math.max(since, from) : from,
    to: null,
    listen: (matches) => {
      const predicates = matches.map(createMatch)
      return {
        next: tape.next,
        peek: tape.peek,
        hear: async (to) => {
          const entries = await tape.take(to)
          const unreadable = tape.takeUnreadable()
          return predicates.map((isOurs, at) => ({
            entries: entries.filter(isOurs),
            unreadable: at === 0 ? unreadable : 0,
          }))
        },
        // Whatever was recorded has been seen.
        isBlank: () => Promise.resolve(true),
        close: tape.close,
      }
    },
  }
}

const wordOf = (entries: readonly JournalEntry[]): string | undefined => {
  for (const { unit } of entries) {
    const [, word] =
      /^([a-z][a-z0-9]*)-(?:bft|execution|ledger-tail)\.service$/.exec(unit ?? '') ?? []
    if (word !== undefined) return word
  }
  return undefined
}

type Batches = AsyncGenerator<EntryBatch<JournalEntry>, undefined>

async function* within(
  batches: AsyncGenerator<EntryBatch<JournalEntry>>,
  since: number,
  until: number,
): Batches {
  for await (const { entries, unreadable } of batches) {
    const wanted = entries.filter(({ at }) => at >= since && at <= until)
    yield { entries: wanted, unreadable }
    // What was written in order is over; an entry that comes late would be one of the other side.
    if (entries.length > 0 && entries.every(({ at }) => at > until)) break
  }
  return undefined
}

async function* chain(first: readonly EntryBatch<JournalEntry>[], rest: Batches): Batches {
  yield* first
  yield* rest
  return undefined
}

const nothingIn = (name: string): SourceError =>
  new SourceError({
    doing: `look back over ${name}`,
    happened: 'it has no entry of a journal in that time',
    advice: 'write one with `journalctl --all -o json --since … > FILE`',
  })
