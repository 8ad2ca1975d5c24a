import { second } from '../../core/units.ts'
import { parseJournalEntry } from '../../parsers/journal.ts'
import type { Exec } from '../../sources/exec.ts'
import { createNewestEntryReader } from '../../sources/journal-query.ts'
import { createJournalRangeReader } from '../../sources/journal-range.ts'
import { createPrefix } from '../../sources/prefix.ts'
import type { PastSource } from './source.ts'
import { createTape } from './tape.ts'

interface Options {
  readonly exec: Exec
  /** The search path for programs. */
  readonly path: string
  /** The prefix as it is configured. */
  readonly prefix: string
  readonly since: number
  readonly until: number
}

/** The journal of this host: a reader for each listener, and journalctl filters. */
export const openJournal = async (options: Options, signal: AbortSignal): Promise<PastSource> => {
  const { exec, path, since, until } = options
  const parts = { exec, parse: parseJournalEntry }
  const newest = createNewestEntryReader(parts)
  const readPast = createJournalRangeReader(parts)
  const { word } = await createPrefix({ exec, path, configured: options.prefix })(signal)
  const probe = { command: 'journalctl', args: ['-n', '0', '--grep=.'], answers: [0, 1] }
  const { stderr } = await exec.run(probe, signal)
  return {
    prefix: word,
    grepSays: stderr,
    from: since,
    to: until,
    listen: (matches) => {
      const tapes = matches.map((match) => createTape(readPast({ match, since, until }, signal)))
      return {
        next: async () => {
          let first: number | null = null
          for (const tape of tapes) {
            const at = await tape.next()
            if (at !== null && (first === null || at < first)) first = at
          }
          return first
        },
        peek: async () => (await Promise.all(tapes.map((tape) => tape.peek()))).flat(),
        hear: (to) =>
          Promise.all(
            tapes.map(async (tape) => {
              const entries = await tape.take(to)
              return { entries, unreadable: tape.takeUnreadable() }
            }),
          ),
        isBlank: async (from, to) => {
          const [begin, end] = [from + second, to - second].map((at) => (at / second).toFixed(3))
          const stretch = [`--since=@${begin}`, `--until=@${end}`]
          return (await newest(stretch, signal)) === undefined
        },
        close: async () => {
          await Promise.all(tapes.map((tape) => tape.close()))
        },
      }
    },
  }
}
