import * as lines from './log-lines.ts'
import { type Block, type Chain, digest, pick, type RoundOutcome, type Validator } from '../chain.ts'
import { directive, type Directive, oneOf, percent, set, taking } from '../scenario/directives.ts'
import type { Condition } from '../scenario/timeline.ts'
import type { NodeSubject } from '../subject.ts'
import type { LogLine } from './log-lines.ts'
import { isSyncing } from './statesync.ts'

const REASONS = ['nothing', 'late-parent', 'late-proposal', 'lost-votes'] as const

declare module '../scenario/timeline.ts' {
  interface Condition {
    /** What the log has of the rounds that this node misses. */
    readonly missesAfter: (typeof REASONS)[number]
    /** The share of the rounds of other leaders that end with a timeout certificate, although their block is taken. */
    readonly leadersLatePercent: number
  }
}

export const usualRounds = { missesAfter: 'nothing', leadersLatePercent: 0 } as const

export const roundDirectives: readonly Directive[] = [
  directive(
    'node misses-after',
    'what the log has of the rounds that this node leads and that time out: no proposal, the block before 700 ms late, the own proposal 600 ms late, or a proposal in time and no certificate',
    taking(oneOf(REASONS), (missesAfter) => set({ missesAfter })),
  ),
  directive(
    'leaders late',
    'the share of the rounds of other leaders that end with a timeout certificate; their blocks are taken later',
    taking(percent, (leadersLatePercent) => set({ leadersLatePercent })),
  ),
]

/** Whether the round of another leader ends with a timeout certificate. */
export const endsLate = ({ round, leader }: Block, own: Validator, { leadersLatePercent }: Condition): boolean =>
  leader !== own && pick(100, 'late', round) < leadersLatePercent

/** Whether the round times out and this node leads it. */
export const isMissed = ({ kind, leader }: RoundOutcome, own: Validator, { leads }: Condition): boolean =>
  kind === 'timeout' && (leads !== 'normally' || leader === own)

/** Whether this node proposes its block: it enters the round first. */
export const isOwnBlock = ({ kind, leader }: RoundOutcome, own: Validator, { leads }: Condition): boolean =>
  kind === 'block' && leader === own && leads !== 'never'

/** From the start of a round to its timeout. */
const TIMEOUT_MS = 1000
/** Longer than from the start of a round to the end of its timeout. */
const AHEAD_MS = 1100
const ENTRY_MS = 10
const PROPOSAL_MS = 45
const LATE_PARENT_MS = 700
const LATE_PROPOSAL_MS = 600

/** The block that the node proposes in a round that times out. */
const lostBlock = (chain: Chain, before: Block, own: Validator): Block => {
  const round = before.round + 1n
  const { seqNum, timeMs } = before
  return { ...before, round, leader: own, seqNum: seqNum + 1n, timeMs, id: digest(chain.seed, 'lost block', round) }
}

/** What this node logs of a round that it leads up to its proposal, and of one that it misses up to its local timeout. */
function* linesOf(outcome: RoundOutcome, { chain, own }: NodeSubject, condition: Condition): Generator<LogLine> {
  const before = chain.round(outcome.round - 1n)
  if (before?.kind !== 'block') return
  const { missesAfter, native } = condition
  if (outcome.kind === 'block') {
    yield* lines.advanced({ chain, atMs: outcome.seenMs - PROPOSAL_MS }, before)
    return
  }
  const beginMs = outcome.seenMs - TIMEOUT_MS
  const enteredMs = beginMs + (missesAfter === 'late-parent' ? LATE_PARENT_MS : ENTRY_MS)
  yield* lines.advanced({ chain, atMs: enteredMs }, before)
  if (native.executionLags) {
    yield lines.cannotPropose(enteredMs, outcome.round)
    return
  }
  if (missesAfter === 'nothing') return
  const proposedMs = enteredMs + (missesAfter === 'late-proposal' ? LATE_PROPOSAL_MS : PROPOSAL_MS)
  const block = lostBlock(chain, before, own)
  yield* lines.proposed({ chain, atMs: proposedMs }, block)
  if (missesAfter === 'lost-votes' && native.votes) yield* lines.voted({ chain, atMs: proposedMs }, block)
}

/** The lines about the rounds that this node leads, for consecutive time ranges. */
export const createOwnRoundsLog = (subject: NodeSubject) => {
  const { chain, own, timeline, heights } = subject
  return function* (fromMs: number, toMs: number): Generator<LogLine> {
    for (const outcome of chain.between(fromMs, toMs + AHEAD_MS)) {
      const atMs = outcome.seenMs - (outcome.kind === 'block' ? PROPOSAL_MS : TIMEOUT_MS)
      const condition = timeline.conditionAt(atMs)
      const { services, consensusRuns } = condition
      if (!isMissed(outcome, own, condition) && !isOwnBlock(outcome, own, condition)) continue
      if (services.bft.state !== 'active' || !consensusRuns || isSyncing(condition, atMs)) continue
      if (heights.consensus(atMs) !== chain.headAt(atMs).seqNum) continue
      for (const line of linesOf(outcome, subject, condition)) if (line.atMs > fromMs && line.atMs <= toMs) yield line
    }
  }
}
