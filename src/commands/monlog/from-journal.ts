import { createGrepSupport } from '../../collectors/shared/journal-follower.ts'
import { type Context, withDeadline } from '../../core/clock.ts'
import { consensusLogPattern } from '../../parsers/consensus-log.ts'
import {
  createLineJoiner,
  type JournalEntry,
  MAX_PARTS,
  newestLines,
  parseJournalEntry,
} from '../../parsers/journal.ts'
import type { Exec } from '../../sources/exec.ts'
import { createNewestEntryReader, journalTime } from '../../sources/journal.ts'
import { createJournalRangeReader } from '../../sources/journal-range.ts'
import { createUnitLogs } from '../../collectors/shared/unit-logs.ts'
import { DEBUG_PATTERN, type Fold, GROUP_MESSAGE, isOwn, type JournalContext, NEWEST, type TimeRange } from './fold.ts'

interface FoldJournalParts extends Context {
  readonly exec: Exec
  /** Deadline of each short query in milliseconds; reading the range itself has none. */
  readonly timeout: number
  /** The unit of the consensus service. */
  readonly unit: string
  readonly onLines: (lines: number) => void
}

/** Reads a range of the journal into the fold. journalctl filters out lines that are not about consensus. */
export const foldJournal = async (parts: FoldJournalParts, range: TimeRange, fold: Fold): Promise<JournalContext> => {
  const { exec, unit, onLines } = parts
  const withTimeout = <T>(query: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline(parts, parts.timeout, (context) => query(context.signal))
  const readNewest = createNewestEntryReader({ exec, parse: parseJournalEntry })
  const readPast = createJournalRangeReader({ exec, parse: parseJournalEntry })
  const scope = await createUnitLogs(parts).scope([unit], parts.signal)
  const own = [...scope, '-u', unit]
  // journalctl's --until is inclusive: the range ends one microsecond before `to`.
  const until = range.to - 0.001
  const from = `--since=${journalTime(range.from)}`

  const [isCovered, newest, canGrep] = await Promise.all([
    withTimeout(async (signal) => {
      const before = ['--reverse', `--until=${journalTime(range.from)}`]
      // If the unit is younger than the range, older entries of systemd show that the journal covers it.
      return (await readNewest([...before, ...own], signal)) ?? (await readNewest([...before, '_PID=1'], signal))
    }).then((entry) => entry !== undefined),
    withTimeout(async (signal) => {
      const entries: JournalEntry[] = []
      const last = { match: own, until, newest: NEWEST + MAX_PARTS }
      for await (const batch of readPast(last, signal)) entries.push(...batch.entries)
      return newestLines(entries, NEWEST)
    }),
    withTimeout(createGrepSupport(exec)),
  ])

  fold.begin(range.from, isCovered)
  const joiner = createLineJoiner()
  const pattern = consensusLogPattern([GROUP_MESSAGE])
  const match = [...own, ...(canGrep ? [`--grep=${pattern}`] : [])]
  let lines = 0
  let unreadable = 0
  for await (const batch of readPast({ match, since: range.from, until }, parts.signal)) {
    for (const part of batch.entries) {
      const entry = joiner.join(part)
      if (entry) fold.on(entry)
    }
    unreadable += batch.unreadable + joiner.takeLostCount()
    lines += batch.entries.length
    onLines(lines)
  }

  if (newest.some((entry) => isOwn(entry) && entry.at >= range.from)) fold.noteOwnEntry()
  if (canGrep && !fold.isDebugKnown(range.to)) {
    // Of the lines that journalctl filtered out only the level matters.
    const filter = [...scope, '--reverse', from, `--until=${journalTime(until)}`, `_SYSTEMD_UNIT=${unit}`]
    const debug = await withTimeout(async (signal) => readNewest([...filter, `--grep=${DEBUG_PATTERN}`], signal))
    if (debug) fold.noteDebug(debug.at)
  }
  return { newest, unreadable }
}
