import { createGrepSupport } from '../../collectors/shared/grep-support.ts'
import type { Clock } from '../../core/clock.ts'
import { withDeadline } from '../../core/collector.ts'
import { second } from '../../core/units.ts'
import { consensusLogPattern } from '../../parsers/consensus-log.ts'
import {
  createLineJoiner,
  type JournalEntry,
  MAX_PARTS,
  newestLines,
  parseJournalEntry,
} from '../../parsers/journal.ts'
import type { Exec } from '../../sources/exec.ts'
import { createNewestEntryReader } from '../../sources/journal-query.ts'
import { createJournalRangeReader } from '../../sources/journal-range.ts'
import { GROUP_MESSAGE } from './asides.ts'
import type { Fold } from './fold.ts'
import { DEBUG_PATTERN, isOwn } from './log-entry.ts'
import type { Stretch } from './stretch.ts'

interface Parts {
  readonly exec: Exec
  readonly clock: Clock
  readonly signal: AbortSignal
  /** For each look at the journal, in milliseconds; to read the stretch takes as long as it takes. */
  readonly timeout: number
  /** The unit of the consensus service. */
  readonly unit: string
  readonly onLines: (lines: number) => void
}

/** What was read beside the lines that were folded. */
export interface Around {
  /** The newest lines of the unit until the end of the stretch, the oldest first; systemd's own among them. */
  readonly newest: readonly JournalEntry[]
  /** Lines that are no entries. */
  readonly unreadable: number
}

const NEWEST = 10

/** Reads a stretch of the journal into the fold. journalctl leaves out what says nothing of consensus. */
export const foldJournal = async (parts: Parts, stretch: Stretch, fold: Fold): Promise<Around> => {
  const { exec, unit, onLines } = parts
  const look = createLook(parts)
  const ask = createNewestEntryReader({ exec, parse: parseJournalEntry })
  const readPast = createJournalRangeReader({ exec, parse: parseJournalEntry })
  const own = ['-u', unit]
  // journalctl's --until is inclusive: a stretch ends a microsecond before the next one begins.
  const until = stretch.to - 0.001
  const from = `--since=${moment(stretch.from)}`

  const [isCovered, newest, canGrep] = await Promise.all([
    look(async (signal) => {
      const before = ['--reverse', `--until=${moment(stretch.from)}`]
      // A unit that is younger than the stretch is read whole where systemd, which is older, is there.
      return (await ask([...before, ...own], signal)) ?? (await ask([...before, '_PID=1'], signal))
    }).then((entry) => entry !== undefined),
    look(async (signal) => {
      const entries: JournalEntry[] = []
      const last = { match: own, until, newest: NEWEST + MAX_PARTS }
      for await (const batch of readPast(last, signal)) entries.push(...batch.entries)
      return newestLines(entries, NEWEST)
    }),
    look(createGrepSupport(exec)),
  ])

  fold.begin(stretch.from, isCovered)
  const joiner = createLineJoiner()
  const pattern = consensusLogPattern([GROUP_MESSAGE])
  // The beginning stands among the matches, so that the first look does not search all there ever was.
  const match = [...own, from, ...(canGrep ? [`--grep=${pattern}`] : [])]
  let lines = 0
  let unreadable = 0
  for await (const batch of readPast({ match, until }, parts.signal)) {
    for (const part of batch.entries) {
      const entry = joiner.join(part)
      if (entry) fold.on(entry)
    }
    unreadable += batch.unreadable + joiner.takeLostCount()
    lines += batch.entries.length
    onLines(lines)
  }

  if (newest.some((entry) => isOwn(entry) && entry.at >= stretch.from)) fold.noteSpoken()
  if (canGrep && !fold.isDebugKnown(stretch.to)) {
    // What journalctl has left out tells nothing, but for its level.
    const range = ['--reverse', from, `--until=${moment(until)}`, `_SYSTEMD_UNIT=${unit}`]
    const debug = await look(async (signal) => ask([...range, `--grep=${DEBUG_PATTERN}`], signal))
    if (debug) fold.noteDebug(debug.at)
  }
  return { newest, unreadable }
}

/** As journalctl takes it, to the microsecond. */
const moment = (at: number): string => `@${(at / second).toFixed(6)}`

type Look = <T>(ask: (signal: AbortSignal) => Promise<T>) => Promise<T>

const createLook =
  ({ clock, signal, timeout }: Parts): Look =>
  (ask) =>
    withDeadline({ clock, signal }, timeout, (within) => ask(within.signal))
