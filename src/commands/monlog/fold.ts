import { type ConsensusLogReading, createConsensusCounters } from '../../collectors/consensus/counters.ts'
import { recordOf, wholeSecond } from '../../collectors/consensus/window.ts'
import type { Recorder } from '../../core/metric.ts'
import { minute, second } from '../../core/units.ts'
import { CONSENSUS_KINDS } from '../../collectors/consensus/definition.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { createExtraFacts, type ExtraFacts } from './extra-facts.ts'
import type { TimeRange } from './time-range.ts'

/** The state of the agent's window at the end of one minute. */
export interface Minute {
  /** End of the minute, exclusive, in milliseconds since the epoch. */
  readonly to: number
  readonly found: ConsensusLogReading
  /** The rounds of this minute that this node timed out, by their leader. */
  readonly timedOutLeaders: ExtraFacts['timedOutLeaders']
}

export interface Folded {
  /** Newest first; without minutes before the first line of a file. */
  readonly minutes: readonly Minute[]
  readonly extraFacts: ExtraFacts
  /** Whether the service itself logged anything. */
  readonly hasOwnEntries: boolean
}

const NO_METRICS: Recorder = { count: () => undefined, countByName: () => undefined, observe: () => undefined }
const MINUTE_SECONDS = minute / second

/**
 * Folds lines into readings of the agent's own window, one per second, and keeps as many readings as the range is long:
 * the end may be known only at the last line. Lines are not kept.
 */
export const createFold = (minutes: number) => {
  const count = createConsensusCounters(NO_METRICS)
  const extraFacts = createExtraFacts()
  const limit = (minutes - 1) * MINUTE_SECONDS + 1
  const kept: ConsensusLogReading[] = []
  /** The second whose lines are being read. */
  let open: number | undefined
  let debugAt = Number.NaN
  let hasOwnEntries = false

  const advanceTo = (whole: number): void => {
    const first = Math.max(open ?? whole, whole - limit)
    for (let at = first; at < whole; at += 1) {
      count.advanceTo((at + 1) * second - 1)
      kept.push(count.read())
      if (kept.length > limit) kept.shift()
    }
    open = Math.max(open ?? whole, whole)
  }

  /** A DEBUG line of any content shows that the service logs at DEBUG, so absent lines did not happen. */
  const withDebug = (to: number, found: ConsensusLogReading): ConsensusLogReading =>
    debugAt >= to - minute && debugAt < to && found.seen.debug_line === 0 ? withDebugLine(found) : found

  return {
    /** The log is read from this time on, in milliseconds since the epoch. */
    begin: (from: number, isCovered: boolean): void => {
      open = wholeSecond(from)
      if (isCovered) count.advanceTo(from)
    },
    on: (entry: JournalEntry): void => {
      advanceTo(wholeSecond(entry.at))
      count.on(entry, false)
      if (!isOwn(entry)) return
      hasOwnEntries = true
      if (isDebug(entry)) debugAt = entry.at
      extraFacts.on(entry)
    },
    /** A DEBUG entry within the range that was looked up separately, with no meaning for consensus. */
    noteDebug: (at: number): void => {
      debugAt = at
    },
    noteOwnEntry: (): void => {
      hasOwnEntries = true
    },
    isDebugKnown: (to: number): boolean => debugAt >= to - minute && debugAt < to,
    /** The range must not be longer than the fold was created for. */
    finish: ({ to, minutes: wanted }: Pick<TimeRange, 'to' | 'minutes'>): Folded => {
      advanceTo(wholeSecond(to))
      const all = Array.from({ length: wanted }, (_, back) => ({
        to: to - back * minute,
        found: kept.at(-1 - back * MINUTE_SECONDS),
      }))
      return {
        minutes: all.flatMap(({ to: end, found }): readonly Minute[] => {
          if (!found) return []
          const { timedOutLeaders } = extraFacts.read(wholeSecond(end), MINUTE_SECONDS)
          return [{ to: end, found: withDebug(end, found), timedOutLeaders }]
        }),
        extraFacts: extraFacts.read(wholeSecond(to), wanted * MINUTE_SECONDS),
        hasOwnEntries,
      }
    },
  }
}

export type Fold = ReturnType<typeof createFold>

const withDebugLine = (found: ConsensusLogReading): ConsensusLogReading => ({
  ...found,
  blocksyncActive: found.blocksyncActive ?? (found.isWhole ? false : null),
  messages: recordOf(CONSENSUS_KINDS, (kind) => found.messages[kind] ?? (found.isCovered ? 0 : null)),
  seen: { ...found.seen, debug_line: 1 },
})

/** Whether the service itself wrote the entry, rather than systemd or journald about it. */
export const isOwn = ({ message, fields }: JournalEntry): boolean =>
  message !== null && fields['_PID'] !== '1' && !('OBJECT_SYSTEMD_UNIT' in fields)

/** Whether the entry is at level DEBUG: the level follows the timestamp. */
const isDebug = ({ message }: JournalEntry): boolean =>
  message !== null && /"level"\s*:\s*"DEBUG"/.test(message.slice(0, 200))

/** The same as a pattern for journalctl, which is case-sensitive because it has a capital letter. */
export const DEBUG_PATTERN = '^.{0,200}?"level":"DEBUG"'
