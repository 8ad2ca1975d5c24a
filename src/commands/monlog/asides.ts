import { wholeSecond } from '../../collectors/consensus/sliding-window.ts'
import { ParseError } from '../../core/errors.ts'
import { parseU64 } from '../../core/units.ts'
import { parseConsensusLine } from '../../parsers/consensus-log.ts'
import type { JournalEntry } from '../../parsers/journal.ts'

/** What the log tells beside the window of the agent: whose rounds this node gave up, its group, its newest block. */
export interface Aside {
  /** By the leader's key, those with the most rounds first. */
  readonly gaveUpOn: readonly { readonly leader: string; readonly rounds: number }[]
  /** The newest group that a full node has joined; null where the log tells none. */
  readonly group: Group | null
  /** Seconds from the newest committed block to the end; null where the log tells of none. */
  readonly committedBefore: number | null
}

export interface Group {
  readonly fromRound: bigint
  /** The first round after it. */
  readonly toRound: bigint
  /** The key of the validator that leads it. */
  readonly validator: string
}

/** How a message begins that journalctl must not leave out, for the group. */
export const GROUP_MESSAGE = 'RaptorCastSecondary Client confirmed group'

const GROUP =
  /"message":"RaptorCastSecondary Client confirmed group for rounds \[(\d+), ?(\d+)\) from validator (?:0x)?([0-9a-fA-F]{66})\b/
/** No node gives up a round more than twice a second. */
const MOST = 10_000

export const createAsides = () => {
  const gaveUp: { readonly at: number; readonly leader: string }[] = []
  let group: (Group & { readonly at: number }) | undefined
  /** Seconds in which a block was committed, in order. */
  const committed: number[] = []

  return {
    on: ({ at, message }: JournalEntry): void => {
      if (message === null) return
      const head = message.slice(0, 200)
      if (head.includes('"committed block"')) {
        if (committed.at(-1) !== wholeSecond(at)) committed.push(wholeSecond(at))
        if (committed.length > MOST) committed.shift()
      } else if (head.includes('"local timeout"')) {
        const leader = leaderOf(message)
        if (leader !== undefined) gaveUp.push({ at: wholeSecond(at), leader })
        if (gaveUp.length > MOST) gaveUp.shift()
      } else if (head.includes(GROUP_MESSAGE)) {
        group = groupOf(message, wholeSecond(at)) ?? group
      }
    },
    /** Within so many seconds before this one. */
    read: (to: number, seconds: number): Aside => {
      const isWithin = ({ at }: { readonly at: number }): boolean => at >= to - seconds && at < to
      const rounds = new Map<string, number>()
      const newestCommit = committed.findLast((at) => isWithin({ at }))
      for (const { leader } of gaveUp.filter(isWithin)) {
        rounds.set(leader, (rounds.get(leader) ?? 0) + 1)
      }
      return {
        gaveUpOn: [...rounds]
          .map(([leader, count]) => ({ leader, rounds: count }))
          .toSorted((a, b) => b.rounds - a.rounds || (a.leader < b.leader ? -1 : 1)),
        group: group && isWithin(group) ? withoutTime(group) : null,
        committedBefore: newestCommit === undefined ? null : to - newestCommit,
      }
    },
  }
}

const leaderOf = (message: string): string | undefined => {
  try {
    const event = parseConsensusLine(message)
    return event?.event === 'local_timeout' ? (event.leader ?? undefined) : undefined
  } catch (error) {
    // It is counted where all lines are read.
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
