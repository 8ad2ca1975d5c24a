import { wholeSecond } from '../../collectors/consensus/window.ts'
import { ParseError } from '../../core/errors.ts'
import { parseU64 } from '../../core/units.ts'
import { parseConsensusLine } from '../../parsers/consensus-log.ts'
import type { JournalEntry } from '../../parsers/journal.ts'

/** Facts from the log that the agent's own window does not have: leaders of timed-out rounds, the group, the newest block. */
export interface ExtraFacts {
  /** Rounds that this node timed out: it logs a timeout again and again for a round that does not end. */
  readonly timedOutRounds: number
  /** Those whose leader is in the log, by the leader's key, those with the most rounds first. */
  readonly timedOutLeaders: readonly { readonly leader: string; readonly rounds: number }[]
  /** The newest group that a full node has joined; null if the log has none. */
  readonly group: Group | null
  /** Seconds from the newest committed block to the end; null if the log has none. */
  readonly committedBefore: number | null
}

export interface Group {
  readonly fromRound: bigint
  /** The first round after it. */
  readonly toRound: bigint
  /** The key of the validator that leads it. */
  readonly validator: string
}

/** Start of the message about the group, which the journalctl pattern must include. */
export const GROUP_MESSAGE = 'RaptorCastSecondary Client confirmed group'

const GROUP =
  /"message":"RaptorCastSecondary Client confirmed group for rounds \[(\d+), ?(\d+)\) from validator (?:0x)?([0-9a-fA-F]{66})\b/
/** Entries kept of each kind; a node logs at most two timeouts per second. */
const MAX_KEPT = 10_000

export const createExtraFacts = () => {
  const gaveUp: { readonly at: number; readonly round: bigint; readonly leader: string | null }[] = []
  let group: (Group & { readonly at: number }) | undefined
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
    read: (to: number, seconds: number): ExtraFacts => {
      const isWithin = ({ at }: { readonly at: number }): boolean => at >= to - seconds && at < to
      const leaders = new Map(gaveUp.filter(isWithin).map(({ round, leader }) => [round, leader]))
      const rounds = new Map<string, number>()
      const newestCommit = committed.findLast((at) => isWithin({ at }))
      for (const leader of leaders.values()) {
        if (leader !== null) rounds.set(leader, (rounds.get(leader) ?? 0) + 1)
      }
      return {
        timedOutRounds: leaders.size,
        timedOutLeaders: [...rounds]
          .map(([leader, count]) => ({ leader, rounds: count }))
          .toSorted((a, b) => b.rounds - a.rounds || (a.leader < b.leader ? -1 : 1)),
        group: group && isWithin(group) ? withoutTime(group) : null,
        committedBefore: newestCommit === undefined ? null : to - newestCommit,
      }
    },
  }
}

const timeoutOf = (message: string) => {
  try {
    const event = parseConsensusLine(message)
    return event?.event === 'local_timeout' ? event : undefined
  } catch (error) {
    // The consensus count already counts it as unparsed.
    if (error instanceof ParseError) return undefined
    throw error
  }
}

const groupOf = (message: string, at: number): (Group & { readonly at: number }) | undefined => {
  const [, from = '', to = '', validator] = GROUP.exec(message) ?? []
  const [fromRound, toRound] = [parseU64(from), parseU64(to)]
  if (fromRound === undefined || toRound === undefined || validator === undefined) return undefined
  return { fromRound, toRound, validator: validator.toLowerCase(), at }
}

const withoutTime = ({ fromRound, toRound, validator }: Group): Group => ({
  fromRound,
  toRound,
  validator,
})
