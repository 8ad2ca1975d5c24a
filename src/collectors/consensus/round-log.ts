import { minute, second } from '../../core/units.ts'
import { NODE_FACTS } from '../../domain/node-facts.ts'
import type { ConsensusEvent } from '../../parsers/consensus-log.ts'

export type RoundLog = ReturnType<typeof createRoundLog>

/** What the consensus log of this node has of a round. Durations are in milliseconds. */
export type RoundTimes = NonNullable<ReturnType<RoundLog['read']>>

interface RoundQuestion {
  readonly round: bigint
  /** An estimate of its time, for a round that the node did not enter; in milliseconds since the epoch. */
  readonly at: number
  readonly ownKey: string
  /** Other rounds that this node led and missed. */
  readonly ownMissed: ReadonlySet<bigint>
}

interface LoggedRound {
  enteredAt: number | null
  enteredBy: 'qc' | 'tc' | null
  proposal: { readonly at: number; readonly author: string | null; readonly isReproposal: boolean } | null
  /** What the node logged as the reason not to propose. */
  obstacle: 'execution' | 'parent' | null
}

/** Six minutes, if none times out. */
const MAX_ROUNDS = 1000
const KEPT_MS = 6 * minute
/** Rounds before and after that are compared. */
const NEARBY = 25n
/** Rounds for the usual time between two entries, and own proposals for the usual time of one. */
const COMPARED = 50n
const MIN_COMPARED = 3
/** A vote waits for the pace, and a proposal for its way. */
const SHORTEST_MS = NODE_FACTS.delta.value
/** Rounds after it of which one was entered. */
const NEXT = 5n
const DROPPED_NEAR_MS = 10 * second

/** The newest rounds as the consensus log of this node shows them. */
export const createRoundLog = () => {
  const rounds = new Map<bigint, LoggedRound>()
  /** Times with a line about a round, one for each second. */
  let times: readonly number[] = []
  let droppedAt: readonly number[] = []

  const roundOf = (round: bigint): LoggedRound => {
    const known = rounds.get(round)
    if (known) return known
    const created = { enteredAt: null, enteredBy: null, proposal: null, obstacle: null }
    rounds.set(round, created)
    for (const old of rounds.keys()) {
      if (rounds.size <= MAX_ROUNDS) break
      rounds.delete(old)
    }
    return created
  }

  const addTime = (at: number): void => {
    const last = times.at(-1)
    if (last !== undefined && at >= last && at - last < second) return
    // After the clock was set back, remove the times of the future.
    times = [...times.filter((time) => time <= at && at - time <= KEPT_MS), at]
  }

  const nextEntry = (round: bigint): number | null => {
    for (let one = round + 1n; one <= round + NEXT; one += 1n) {
      const entry = rounds.get(one)?.enteredAt ?? null
      if (entry !== null) return entry
    }
    return null
  }

  const previousOf = (round: bigint): number | null => {
    const [before, entered] = [rounds.get(round - 1n)?.enteredAt ?? null, rounds.get(round)?.enteredAt ?? null]
    return before === null || entered === null ? null : entered - before
  }

  const proposalOf = ({ enteredAt, proposal }: LoggedRound): number | null =>
    enteredAt === null || proposal === null ? null : Math.max(0, proposal.at - enteredAt)

  const usualPrevious = (round: bigint): number | null => {
    const found: number[] = []
    for (let one = round - COMPARED; one < round; one += 1n) {
      const previous = rounds.get(one)?.enteredBy === 'qc' ? previousOf(one) : null
      if (previous !== null) found.push(previous)
    }
    return medianOf(found)
  }

  const usualProposal = (round: bigint, ownKey: string): number | null =>
    medianOf(
      [...rounds].flatMap(([one, logged]) => {
        const isCompared =
          one !== round && logged.proposal?.author === ownKey && rounds.get(one + 1n)?.enteredBy === 'qc'
        const ms = isCompared ? proposalOf(logged) : null
        return ms === null ? [] : [ms]
      }),
    )

  const othersOf = ({ round, ownMissed }: RoundQuestion) => {
    const ends: ('qc' | 'tc')[] = []
    for (let one = round - NEARBY; one <= round + NEARBY; one += 1n) {
      const by = one === round || ownMissed.has(one) ? null : rounds.get(one + 1n)?.enteredBy
      if (by) ends.push(by)
    }
    return { closed: ends.length, timedOut: ends.filter((by) => by === 'tc').length }
  }

  /** Null without a later line: the node has written the block that shows the miss, so that its log was not read. */
  const silentAround = (at: number): number | null => {
    const [before, after] = [times.findLast((time) => time <= at), times.find((time) => time > at)]
    return before === undefined || after === undefined ? null : after - before
  }

  return {
    add: (event: ConsensusEvent, at: number): void => {
      if (event.event === 'round_closed') {
        addTime(at)
        const next = roundOf(event.round + 1n)
        next.enteredAt ??= at
        next.enteredBy ??= event.by
      } else if (event.event === 'proposal') {
        addTime(at)
        const { author, blockRound } = event
        const isReproposal = blockRound !== null && blockRound !== event.round
        roundOf(event.round).proposal ??= { at, author, isReproposal }
      } else if (event.event === 'local_timeout') addTime(at)
      else if (event.event === 'execution_lagging' && event.round !== null) roundOf(event.round).obstacle = 'execution'
      else if (event.event === 'parent_missing' && event.round !== null) roundOf(event.round).obstacle ??= 'parent'
    },
    /** journald dropped lines at that time: what the log does not have may have been logged. */
    addDropped: (at: number): void => {
      droppedAt = [...droppedAt.filter((one) => at - one <= KEPT_MS).slice(-MAX_ROUNDS), at]
    },
    /** Null if the log does not show rounds at that time. */
    read: (question: RoundQuestion) => {
      const { round, ownKey } = question
      const after = nextEntry(round)
      const entry = rounds.get(round)?.enteredAt ?? null
      // A node that catches up has the certificates of many rounds together.
      const isLive = entry === null || after === null || after - entry >= SHORTEST_MS
      const logged = isLive ? rounds.get(round) : undefined
      const at = logged?.enteredAt ?? question.at
      const silentMs = silentAround(at)
      const isIncomplete = droppedAt.some((one) => Math.abs(one - at) <= DROPPED_NEAR_MS)
      if (isIncomplete || silentMs === null) return null
      const own = logged?.proposal?.author === ownKey ? logged : undefined
      const next = logged && rounds.get(round + 1n)
      return {
        /** Time around the round without any line about a round. */
        silentMs,
        /** The certificate with which this node entered the round; null if it did not enter it. */
        enteredBy: logged?.enteredBy ?? null,
        /** From the entry of the round before to that of this one, and the median of such times; null if unknown. */
        previousMs: previousOf(round),
        usualPreviousMs: usualPrevious(round),
        /** From the entry to the own proposal; null if there is none. */
        proposalMs: own ? proposalOf(own) : null,
        usualProposalMs: usualProposal(round, ownKey),
        /** Whether the own proposal had the block of an earlier round, as after a timeout with a tip. */
        isReproposal: own?.proposal?.isReproposal ?? false,
        /** From the entry to the certificate that closed the round, and that certificate; null if unknown. */
        closedMs: entry === null || !next || next.enteredAt === null ? null : next.enteredAt - entry,
        closedBy: next?.enteredBy ?? null,
        obstacle: logged?.obstacle ?? null,
        /** Rounds of other leaders around it whose end is known, and those that a timeout certificate ended. */
        others: othersOf(question),
      }
    },
  }
}

const medianOf = (values: readonly number[]): number | null =>
  values.length < MIN_COMPARED ? null : (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null)
