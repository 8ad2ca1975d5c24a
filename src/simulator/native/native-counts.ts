import type { SimulatedNode } from '../node.ts'
import type { Condition } from '../scenario/condition.ts'
import { isVoting } from '../scenario/native.ts'

/** What consensus has counted since its process was started. */
export interface NativeCounts {
  readonly commits: number
  readonly votes: number
  /** Rounds that ended without a block. */
  readonly timeouts: number
  /** Times that the node's own clock ran out: in those rounds, and again and again where it is stuck. */
  readonly localTimeouts: number
  readonly executionLagging: number
  readonly badStateRoots: number
  readonly statesyncs: number
}

/** As in the log: a node that is stuck runs out of time in every third round of the network. */
const STUCK_EVERY = 3n
/** Consensus waits for execution once in a day or so, and nothing is wrong then. */
const DAY_MS = 86_400_000
const LAGS_EVERY_MS = 1000
const DIFFERS_EVERY_MS = 5000

/** All of it follows from scenario and chain: nothing is counted as time passes. */
export const countsAt = (node: SimulatedNode, atMs: number): NativeCounts => {
  const { chain, heights } = node
  const { startedMs } = node.condition().services.bft
  const fromMs = followsSince(node.timeline.conditionAt(atMs), atMs, startedMs)
  const roundAt = (ms: number): bigint => chain.block(heights.consensus(ms))?.round ?? 0n
  const commitsIn = (from: number, to: number): number =>
    Number(heights.consensus(to) - heights.consensus(from))
  const sum = (
    holds: (condition: Condition) => boolean,
    amount: (from: number, to: number) => number,
  ): number =>
    stretches(node, fromMs, atMs)
      .filter(({ condition }) => holds(condition))
      .reduce((total, { from, to }) => total + amount(from, to), 0)
  const every = (ms: number) => (from: number, to: number) => Math.floor((to - from) / ms)
  const stuckIn = (from: number, to: number): number =>
    Number(chain.headAt(to).round / STUCK_EVERY - chain.headAt(from).round / STUCK_EVERY)

  const commits = commitsIn(fromMs, atMs)
  const timeouts = Number(roundAt(atMs) - roundAt(fromMs)) - commits
  const { statesync } = node.timeline.conditionAt(atMs)
  return {
    commits,
    timeouts,
    votes: sum(
      ({ native, consensusRuns, behind }) => isVoting(native) && consensusRuns && behind === 0n,
      commitsIn,
    ),
    localTimeouts: timeouts + sum(({ consensusRuns }) => !consensusRuns, stuckIn),
    executionLagging:
      Math.floor((atMs - startedMs) / DAY_MS) +
      sum(({ native }) => native.executionLags, every(LAGS_EVERY_MS)),
    badStateRoots: sum(({ native }) => native.stateRootsDiffer, every(DIFFERS_EVERY_MS)),
    statesyncs: statesync && statesync.fromMs >= startedMs ? 1 : 0,
  }
}

/** Blocks that came by statesync were not committed one by one. */
const followsSince = ({ statesync }: Condition, atMs: number, startedMs: number): number =>
  statesync && statesync.fromMs >= startedMs ? Math.min(statesync.untilMs, atMs) : startedMs

/** The parts of a time in each of which one condition held. */
const stretches = ({ timeline: { segments } }: SimulatedNode, fromMs: number, toMs: number) =>
  segments
    .map(({ fromMs: begins, condition }, index) => ({
      condition,
      from: Math.max(begins, fromMs),
      to: Math.min(segments[index + 1]?.fromMs ?? Infinity, toMs),
    }))
    .filter(({ from, to }) => from < to)
