import {
  type ConsensusLogReading,
  createConsensusCounters,
} from '../../collectors/consensus/counters.ts'
import { recordOf } from '../../collectors/consensus/kinds.ts'
import { wholeSecond } from '../../collectors/consensus/sliding-window.ts'
import type { Recorder } from '../../core/recorder.ts'
import { minute, second } from '../../core/units.ts'
import { CONSENSUS_KINDS } from '../../collectors/consensus/definition.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { createAsides, type Aside } from './asides.ts'
import { isDebug, isOwn } from './log-entry.ts'
import type { Stretch } from './stretch.ts'

/** What the window of the agent says of one minute. */
export interface Minute {
  /** Milliseconds since the epoch, after the minute. */
  readonly to: number
  readonly found: ConsensusLogReading
  /** The rounds of this minute that this node gave up, by their leader. */
  readonly gaveUpOn: Aside['gaveUpOn']
}

export interface Folded {
  /** The newest first; without those before the first line of a file. */
  readonly minutes: readonly Minute[]
  readonly asides: Aside
  /** Whether the service itself said anything. */
  readonly hasSpoken: boolean
}

const FORGETFUL: Recorder = { count: () => undefined, observe: () => undefined }
const MINUTE_SECONDS = minute / second

/**
 * Folds lines into readings of the agent's own window, one a second, of which it keeps as many as the
 * stretch is long: where it ends may be known only by its last line. No line is kept.
 */
export const createFold = (minutes: number) => {
  const count = createConsensusCounters(FORGETFUL)
  const asides = createAsides()
  const limit = (minutes - 1) * MINUTE_SECONDS + 1
  const kept: ConsensusLogReading[] = []
  /** The second that is being filled. */
  let open: number | undefined
  let debugAt = Number.NaN
  let hasSpoken = false

  const goTo = (whole: number): void => {
    const first = Math.max(open ?? whole, whole - limit)
    for (let at = first; at < whole; at += 1) {
      count.advanceTo((at + 1) * second - 1)
      kept.push(count.read())
      if (kept.length > limit) kept.shift()
    }
    open = Math.max(open ?? whole, whole)
  }

  /** A DEBUG line that means nothing still shows that the others would have been told. */
  const withDebug = (to: number, found: ConsensusLogReading): ConsensusLogReading =>
    debugAt >= to - minute && debugAt < to && found.seen.debug_line === 0
      ? toldOfDebug(found)
      : found

  return {
    /** The log is read from here on, whatever comes first. */
    begin: (from: number, isCovered: boolean): void => {
      open = wholeSecond(from)
      if (isCovered) count.advanceTo(from)
    },
    on: (entry: JournalEntry): void => {
      goTo(wholeSecond(entry.at))
      count.on(entry, false)
      if (!isOwn(entry)) return
      hasSpoken = true
      if (isDebug(entry)) debugAt = entry.at
      asides.on(entry)
    },
    /** An entry of the stretch that was asked for by itself, and says nothing of consensus. */
    noteDebug: (at: number): void => {
      debugAt = at
    },
    noteSpoken: (): void => {
      hasSpoken = true
    },
    isDebugKnown: (to: number): boolean => debugAt >= to - minute && debugAt < to,
    /** The stretch is no longer than the fold was made for. */
    finish: ({ to, minutes: wanted }: Pick<Stretch, 'to' | 'minutes'>): Folded => {
      goTo(wholeSecond(to))
      const all = Array.from({ length: wanted }, (_, back) => ({
        to: to - back * minute,
        found: kept.at(-1 - back * MINUTE_SECONDS),
      }))
      return {
        minutes: all.flatMap(({ to: end, found }): readonly Minute[] => {
          if (!found) return []
          const { gaveUpOn } = asides.read(wholeSecond(end), MINUTE_SECONDS)
          return [{ to: end, found: withDebug(end, found), gaveUpOn }]
        }),
        asides: asides.read(wholeSecond(to), wanted * MINUTE_SECONDS),
        hasSpoken,
      }
    },
  }
}

export type Fold = ReturnType<typeof createFold>

const toldOfDebug = (found: ConsensusLogReading): ConsensusLogReading => ({
  ...found,
  blocksyncActive: found.blocksyncActive ?? (found.isWhole ? false : null),
  messages: recordOf(
    CONSENSUS_KINDS,
    (kind) => found.messages[kind] ?? (found.isCovered ? 0 : null),
  ),
  seen: { ...found.seen, debug_line: 1 },
})
