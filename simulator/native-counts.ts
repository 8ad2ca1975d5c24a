import { ownStatesync, progressAt, REQUEST_MS } from './consensus/statesync.ts'
import type { SimulatedNode } from './subject.ts'
import type { Condition } from './scenario/timeline.ts'

/** As in the log: a stalled node has a local timeout in every third round of the network. */
const STUCK_EVERY = 3n
/** A healthy consensus waits for execution about once a day. */
const DAY_MS = 86_400_000
const LAGS_EVERY_MS = 1000
const DIFFERS_EVERY_MS = 5000
/**
 * How often consensus checks a block with a wrong result: when it arrives, and with each block that is added on top of it
 * until its branch is left (blocktree.rs, try_update_coherency).
 */
export const CHECKS_PER_BLOCK = 4

/** The counters of consensus since the start of its process, computed from scenario and chain. */
export const countsAt = (node: SimulatedNode, atMs: number) => {
  const { chain, heights } = node
  const { startedMs } = node.condition().services.bft
  const fromMs = followsSince(node.timeline.conditionAt(atMs), atMs, startedMs)
  const roundAt = (ms: number): bigint => chain.block(heights.consensus(ms))?.round ?? 0n
  const commitsIn = (from: number, to: number): number => Number(heights.consensus(to) - heights.consensus(from))
  const sum = (holds: (condition: Condition) => boolean, amount: (from: number, to: number) => number): number =>
    intervals(node, fromMs, atMs)
      .filter(({ condition }) => holds(condition))
      .reduce((total, { from, to }) => total + amount(from, to), 0)
  const every = (ms: number) => (from: number, to: number) => Math.floor((to - from) / ms)
  const stuckIn = (from: number, to: number): number =>
    Number(chain.headAt(to).round / STUCK_EVERY - chain.headAt(from).round / STUCK_EVERY)

  const timeoutsIn = (from: number, to: number): number => Number(roundAt(to) - roundAt(from)) - commitsIn(from, to)

  const commits = commitsIn(fromMs, atMs)
  const timeouts = timeoutsIn(fromMs, atMs)
  const own = ownStatesync(node.timeline.conditionAt(atMs), startedMs)
  const proposedIn = (from: number, to: number): number => Number(chain.headAt(to).seqNum - chain.headAt(from).seqNum)
  return {
    commits,
    finalized: sum(({ finalityStoppedMs }) => finalityStoppedMs === undefined, commitsIn),
    /** Rounds that ended without a block. */
    timeouts,
    /** Counted before the role is known: a full node counts them, too (consensus-state/src/lib.rs). */
    votes: sum(({ native, consensusRuns, behind }) => native.votes && consensusRuns && behind === 0n, commitsIn),
    /** In those rounds, and repeatedly while the node is stalled. */
    localTimeouts: timeouts + sum(({ consensusRuns }) => !consensusRuns, stuckIn),
    executionLagging:
      Math.floor((atMs - startedMs) / DAY_MS) + sum(({ native }) => native.executionLags, every(LAGS_EVERY_MS)),
    badStateRoots:
      sum(({ native }) => native.stateRootsDiffer, every(DIFFERS_EVERY_MS)) +
      sum(({ divergedMs }) => divergedMs !== undefined, proposedIn) +
      sum(({ native }) => native.leaderDiverges, timeoutsIn) * CHECKS_PER_BLOCK,
    rejectedTimestamps: sum(({ native }) => native.clocksDiffer, timeoutsIn),
    statesyncs: Number(progressAt(chain, own, atMs).target > 0n),
    /** Requests of a start that no peer answers. */
    unanswered: own?.kind === 'start' ? Math.floor((Math.min(atMs, own.untilMs) - own.fromMs) / REQUEST_MS) : 0,
  }
}

/** Blocks that came by statesync were not committed one by one. */
const followsSince = ({ statesync }: Condition, atMs: number, startedMs: number): number =>
  statesync && statesync.fromMs >= startedMs ? Math.min(statesync.untilMs, atMs) : startedMs

/** The parts of a time range with one condition each. */
export const intervals = ({ timeline: { segments } }: SimulatedNode, fromMs: number, toMs: number) =>
  segments
    .map(({ fromMs: begins, condition }, index) => ({
      condition,
      from: Math.max(begins, fromMs),
      to: Math.min(segments[index + 1]?.fromMs ?? Infinity, toMs),
    }))
    .filter(({ from, to }) => from < to)
