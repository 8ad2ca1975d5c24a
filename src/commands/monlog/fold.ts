import { CONSENSUS_KINDS } from '../../collectors/consensus/definition.ts'
import { type ConsensusLogReading, createConsensusCounters } from '../../collectors/consensus/counters.ts'
import { wholeSecond } from '../../collectors/consensus/window.ts'
import { recordFor } from '../../core/record.ts'
import { ifUnreadable } from '../../core/errors.ts'
import type { Recorder } from '../../core/metric.ts'
import { hour, minute, parseU64, second } from '../../core/units.ts'
import { parseConsensusLine } from '../../parsers/consensus-log.ts'
import type { JournalEntry } from '../../parsers/journal.ts'

/** A range of whole minutes. Milliseconds since the epoch, at whole seconds; `to` is exclusive. */
export interface TimeRange {
  readonly from: number
  readonly to: number
  readonly minutes: number
}

/** Start of a range: milliseconds before its end, or milliseconds since the epoch. */
export type RangeStart = { readonly ago: number } | { readonly at: number }

export const LONGEST_MS = hour

/**
 * The range that ends at a whole second. Its length is rounded up to whole minutes, because each minute is analysed
 * separately.
 */
export const timeRangeTo = (to: number, since: RangeStart = { ago: minute }): TimeRange => {
  const end = Math.floor(to / second) * second
  const length = 'ago' in since ? since.ago : end - since.at
  const minutes = Math.ceil(Math.min(Math.max(length, 1), LONGEST_MS) / minute)
  return { from: end - minutes * minute, to: end, minutes }
}

export type Folded = ReturnType<Fold['finish']>
/** The state of the agent's window at the end of one minute. */
export type Minute = Folded['minutes'][number]

/** What was read in addition to the folded lines. */
export interface JournalContext {
  /** The newest lines of the unit until the end of the range, oldest first, including those of systemd. */
  readonly newest: readonly JournalEntry[]
  /** Lines that are not journal entries. */
  readonly unreadable: number
}

/** The number of the newest lines that are kept. */
export const NEWEST = 10

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
    finish: ({ to, minutes: wanted }: Pick<TimeRange, 'to' | 'minutes'>) => {
      advanceTo(wholeSecond(to))
      const all = Array.from({ length: wanted }, (_, back) => ({
        to: to - back * minute,
        found: kept.at(-1 - back * MINUTE_SECONDS),
      }))
      return {
        /** Newest first; without minutes before the first line of a file. */
        minutes: all.flatMap(({ to: end, found }) => {
          if (!found) return []
          /** The rounds of this minute that this node timed out, by their leader. */
          const { timedOutLeaders } = extraFacts.read(wholeSecond(end), MINUTE_SECONDS)
          /** `to`: the end of the minute, exclusive, in milliseconds since the epoch. */
          return [{ to: end, found: withDebug(end, found), timedOutLeaders }]
        }),
        extraFacts: extraFacts.read(wholeSecond(to), wanted * MINUTE_SECONDS),
        /** Whether the service itself logged anything. */
        hasOwnEntries,
      }
    },
  }
}

export type Fold = ReturnType<typeof createFold>

const withDebugLine = (found: ConsensusLogReading): ConsensusLogReading => ({
  ...found,
  blocksyncActive: found.blocksyncActive ?? (found.isWhole ? false : null),
  messages: recordFor(CONSENSUS_KINDS, (kind) => found.messages[kind] ?? (found.isCovered ? 0 : null)),
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

/** Start of the message about the group, which the journalctl pattern must include. */
export const GROUP_MESSAGE = 'RaptorCastSecondary Client confirmed group'

const GROUP =
  /"message":"RaptorCastSecondary Client confirmed group for rounds \[(\d+), ?(\d+)\) from validator (?:0x)?([0-9a-fA-F]{66})\b/
/** Entries kept of each kind; a node logs at most two timeouts per second. */
const MAX_KEPT = 10_000

/** Facts from the log that the agent's own window does not have: leaders of timed-out rounds, the group, the newest block. */
const createExtraFacts = () => {
  const gaveUp: { readonly at: number; readonly round: bigint; readonly leader: string | null }[] = []
  let group: ReturnType<typeof groupOf>
  /** Seconds in which a block was committed, ascending. */
  const committed: number[] = []

  return {
    on: ({ at, message }: JournalEntry): void => {
      if (message === null) return
      const head = message.slice(0, 200)
      if (head.includes('"committed block"')) {
        if (committed.at(-1) !== wholeSecond(at)) committed.push(wholeSecond(at))
        if (committed.length > MAX_KEPT) committed.shift()
      } else if (head.includes('"local timeout"')) {
        const event = timeoutOf(message)
        if (event) gaveUp.push({ at: wholeSecond(at), round: event.round, leader: event.leader })
        if (gaveUp.length > MAX_KEPT) gaveUp.shift()
      } else if (head.includes(GROUP_MESSAGE)) {
        group = groupOf(message, wholeSecond(at)) ?? group
      }
    },
    /** The facts of the last `seconds` before `to`, both in seconds. */
    read: (to: number, seconds: number) => {
      const isWithin = ({ at }: { readonly at: number }): boolean => at >= to - seconds && at < to
      const leaders = new Map(gaveUp.filter(isWithin).map(({ round, leader }) => [round, leader]))
      const rounds = new Map<string, number>()
      const newestCommit = committed.findLast((at) => isWithin({ at }))
      for (const leader of leaders.values()) {
        if (leader !== null) rounds.set(leader, (rounds.get(leader) ?? 0) + 1)
      }
      return {
        /** Rounds that this node timed out: it logs a timeout again and again for a round that does not end. */
        timedOutRounds: leaders.size,
        /** Those whose leader is in the log, by the leader's key, those with the most rounds first. */
        timedOutLeaders: [...rounds]
          .map(([leader, count]) => ({ leader, rounds: count }))
          .toSorted((a, b) => b.rounds - a.rounds || (a.leader < b.leader ? -1 : 1)),
        /** The newest group that a full node has joined; null if the log has none. */
        group: group && isWithin(group) ? group.joined : null,
        /** Seconds from the newest committed block to the end; null if the log has none. */
        committedBefore: newestCommit === undefined ? null : to - newestCommit,
      }
    },
  }
}

const timeoutOf = (message: string) => {
  try {
    const event = parseConsensusLine(message)
    return event?.event === 'local_timeout' ? event : null
  } catch (error) {
    // The consensus count already counts it as unparsed.
    return ifUnreadable(() => null)(error)
  }
}

const groupOf = (message: string, at: number) => {
  const [, from = '', to = '', validator] = GROUP.exec(message) ?? []
  const [fromRound, toRound] = [parseU64(from), parseU64(to)]
  if (fromRound === undefined || toRound === undefined || validator === undefined) return undefined
  /** `toRound`: the first round after it. `validator`: the key of the one that leads it. */
  return { at, joined: { fromRound, toRound, validator: validator.toLowerCase() } }
}
