import * as lines from './log-lines.ts'
import { createLogFlood, type LogLine, noiseLine, renderLogLine } from './log-lines.ts'
import {
  type Block,
  type Chain,
  digest,
  FINAL_AFTER,
  pick,
  type RoundOutcome,
  type Timeout,
  type Validator,
} from '../chain.ts'
import { drift } from '../format-drift.ts'
import type { NodeSubject } from '../subject.ts'
import { createSteadyLines } from '../injected-lines.ts'
import type { Draft } from '../journal/entry.ts'
import { createRateLimit, serviceEntry, suppressedEntry } from '../journal/journal.ts'
import { CHECKS_PER_BLOCK } from '../native.ts'
import { blocks, directiveTable, oneOf, percent, set, taking } from '../scenario/directives.ts'
import type { Condition } from '../scenario/timeline.ts'
import { unitOf } from '../services/service.ts'
import { installedVersion } from '../versions.ts'
import { createStatesyncLog, isSyncing } from './statesync.ts'
import { widen } from '../../src/core/widen.ts'

export const usualConsensus = {
  /** How many blocks the node follows behind the network. */
  behind: 0n,
  /** Whether consensus follows the network, provided that its service is active. */
  consensusRuns: true,
  /** `badly`: the node is the leader of every round that times out. `never`: and of no round with a block. */
  leads: widen<'normally' | 'badly' | 'never'>('normally'),
  /** Whether the blocks of this node have no transactions of users. */
  proposesEmpty: false,
  /** Since when the network has no new block; undefined while it has. */
  networkStoppedMs: widen<number | undefined>(undefined),
  /** Since when no block is finalized, though new ones are proposed; undefined while blocks are. */
  finalityStoppedMs: widen<number | undefined>(undefined),
  /** What the log has of the rounds that this node misses. */
  missesAfter: widen<(typeof REASONS)[number]>('nothing'),
  /** The share of the rounds of other leaders that end with a timeout certificate, although their block is taken. */
  leadersLatePercent: 0,
}

export const consensusDirectives = directiveTable({
  'node behind': [
    'the node follows the network that number of blocks behind',
    taking(blocks, (behind) => set({ behind })),
  ],
  'node misses': ['the node is the leader of every round that times out: four a minute', set({ leads: 'badly' })],
  'node idles': ['the same, and the node is not the leader of any round with a block', set({ leads: 'never' })],
  'node leads': ['the node leads rounds as usual; rounds of other leaders time out', set({ leads: 'normally' })],
  'node empties': ['the blocks of this node have no transaction but that of the reward', set({ proposesEmpty: true })],
  'consensus stops': ['consensus is stalled: no new block, though every process runs', set({ consensusRuns: false })],
  'consensus resumes': ['the node catches up with the network', set({ consensusRuns: true })],
  'network stops': [
    'no node of the network has a new block, the references included',
    (condition, atMs) => ({ ...condition, consensusRuns: false, networkStoppedMs: atMs }),
  ],
  'network resumes': ['the network has new blocks again', set({ consensusRuns: true, networkStoppedMs: undefined })],
  'finality stops': [
    'new blocks are proposed, and none is finalized',
    (condition, atMs) => ({ ...condition, finalityStoppedMs: atMs }),
  ],
  'finality resumes': ['blocks are finalized again', set({ finalityStoppedMs: undefined })],
})

/** The round with the leader and the transactions that the scenario requires for this node; the network itself is not affected. */
const leaderOf = <Round extends RoundOutcome>(
  round: Round,
  { chain, own }: { readonly chain: Chain; readonly own: Validator },
  { leads, proposesEmpty }: Condition,
): Round => {
  if (round.kind === 'timeout') return leads === 'normally' ? round : { ...round, leader: own }
  if (round.leader !== own) return round
  if (leads !== 'never') return proposesEmpty ? { ...round, transactions: 1 } : round
  const other = chain.validators.find((validator) => validator !== own)
  return other ? { ...round, leader: other } : round
}

/** The most blocks that a node logs while it catches up. */
const CATCH_UP = 100n
/** A stalled node has a local timeout in every third round of the network, about once a second. */
const STUCK_EVERY = 3n

/**
 * The log lines of consensus for each round. The function that it returns must be called with consecutive time ranges;
 * it keeps the number of the last block.
 */
const createConsensusLog = ({ chain, own, timeline, heights }: NodeSubject) => {
  let reported: bigint | undefined

  /** Blocks that the node did not receive when they were proposed. */
  function* catchUp(upto: bigint, atMs: number): Generator<LogLine> {
    if (reported === undefined || reported >= upto) return
    if (upto - reported > 1n) {
      const fields = { requester: 'Consensus', block_range: `BlockRange { num_blocks: ${upto - reported} }` }
      const message = 'blocksync: self request'
      yield { atMs, level: 'DEBUG', target: 'blocksync::blocksync', message, fields }
    }
    const oldest = upto - CATCH_UP + 1n
    for (let number = reported + 1n < oldest ? oldest : reported + 1n; number <= upto; number += 1n) {
      const block = chain.block(number)
      if (!block) continue
      yield lines.advanced({ chain, atMs }, block)
      yield* lines.committed({ chain, atMs }, block)
    }
  }

  /** A round starts with the certificate of the block before it; after a timeout it has already started. */
  function* enter(round: bigint, atMs: number): Generator<LogLine> {
    const before = chain.round(round - 1n)
    if (before?.kind !== 'block') return
    const isLate = endsLate(before, own, timeline.conditionAt(atMs))
    yield isLate ? lines.advancedByTimeout({ chain, atMs }, before) : lines.advanced({ chain, atMs }, before)
  }

  function* follow(block: Block, condition: Condition): Generator<LogLine> {
    const { log, native, leads } = condition
    const context = { chain, atMs: block.seenMs }
    yield lines.proposed(context, leaderOf(block, { chain, own }, condition))
    if (native.votes) yield* lines.voted(context, block)
    if (!isOwnBlock(block, own, condition)) yield* enter(block.round, context.atMs)
    const isNext = leads !== 'never' && chain.round(block.round + 1n)?.leader === own
    if (isNext) yield lines.collected(context, block)
    if (condition.finalityStoppedMs === undefined) yield* lines.committed(context, block)
    for (let index = 0; index < log.noise; index += 1) {
      yield noiseLine(Number(block.seqNum) * log.noise + index, context.atMs)
    }
  }

  function* report(outcome: RoundOutcome): Generator<LogLine> {
    const atMs = outcome.seenMs
    const condition = timeline.conditionAt(atMs)
    if (condition.services.bft.state !== 'active' || isSyncing(condition, atMs)) return
    const height = heights.consensus(atMs)
    if (!condition.consensusRuns) {
      const round = (chain.block(height)?.round ?? 0n) + 1n
      const leader = chain.round(round)?.leader ?? own
      if (outcome.round % STUCK_EVERY === 0n) yield* lines.timedOut({ chain, atMs }, { round, leader })
    } else if (height !== chain.headAt(atMs).seqNum) {
      yield* catchUp(height, atMs)
    } else if (outcome.kind === 'block') {
      yield* catchUp(height - 1n, atMs)
      yield* follow(outcome, condition)
    } else {
      if (condition.native.leaderDiverges) yield* lines.diverged(atMs, CHECKS_PER_BLOCK)
      if (condition.native.clocksDiffer) yield lines.mistimed(atMs)
      if (!isMissed(outcome, own, condition)) yield* enter(outcome.round, atMs)
      yield* lines.timedOut({ chain, atMs }, leaderOf(outcome, { chain, own }, condition))
      yield lines.advancedByTimeout({ chain, atMs }, outcome)
    }
    reported = height
  }

  return function* (fromMs: number, toMs: number): Generator<LogLine> {
    for (const outcome of chain.between(fromMs, toMs)) yield* report(outcome)
  }
}

/** The journal entries of the consensus process, within the rate limit of journald. */
export const createConsensusEntries = (subject: NodeSubject) => {
  const { prefix, chain, timeline } = subject
  const sources = [
    createStatesyncLog(chain, timeline),
    createConsensusLog(subject),
    createOwnRoundsLog(subject),
    createLogFlood(timeline),
    createSteadyLines(timeline),
  ]
  const rateLimit = createRateLimit()
  const program = `${prefix}-node`

  /** Lines of the enabled levels, in order of time. */
  const linesOf = (fromMs: number, toMs: number): readonly LogLine[] =>
    [
      ...starts(subject).filter(({ atMs }) => atMs > fromMs && atMs <= toMs),
      ...sources.flatMap((source) => [...source(fromMs, toMs)]),
    ]
      .filter(({ atMs, level }) => level !== 'DEBUG' || writesDebug(atMs))
      .toSorted((a, b) => a.atMs - b.atMs)

  const writesDebug = (atMs: number): boolean => timeline.conditionAt(atMs).log.level === 'DEBUG'

  return function* (fromMs: number, toMs: number): Generator<Draft> {
    for (const line of linesOf(fromMs, toMs)) {
      const { atMs } = line
      const dropped = rateLimit(atMs)
      if (dropped === undefined) continue
      if (dropped > 0) yield suppressedEntry(unitOf(prefix, 'bft'), atMs, dropped)
      const { services, formatsDrift } = timeline.conditionAt(atMs)
      const plain = renderLogLine(prefix, line)
      const text = formatsDrift ? drift.jsonLog(plain) : plain
      yield serviceEntry(subject, services.bft, { atMs, text, program })
    }
    for (const { atMs, after } of timeline.changes) {
      const { exit } = after.services.bft
      if (atMs <= fromMs || atMs > toMs || exit?.atMs !== atMs || !exit.panicked) continue
      for (const text of PANIC) yield serviceEntry(subject, after.services.bft, { atMs, text, program })
    }
  }
}

const starts = ({ timeline, prefix }: NodeSubject): readonly LogLine[] =>
  timeline.changes
    .filter(({ before, after }) => before.services.bft.generation !== after.services.bft.generation)
    .map(({ atMs, after }) => ({
      atMs,
      level: 'INFO',
      target: 'node',
      message: `starting ${prefix}-bft with version ${installedVersion(after.versions)}`,
    }))

const PANIC = [
  "thread 'main' panicked at consensus-state/src/lib.rs:412:17:",
  'high qc too far ahead of block tree root, restart client and statesync. highqc: QC { .. }, block-tree root RootInfo { .. }',
  'note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace',
]

interface Line {
  readonly atMs: number
  readonly text: string
}

/** How many rounds ledger-tail prints again when it starts or when the node catches up. */
const REPLAY = 100n

/**
 * The output of ledger-tail. The function that it returns must be called with consecutive time ranges; it keeps the
 * last reported round. The lengths of the ranges do not change the output.
 */
export const createLedgerTail = ({ chain, own: self, timeline, heights }: NodeSubject) => {
  const seen = <Round extends RoundOutcome>(round: Round, atMs: number): Round =>
    leaderOf(round, { chain, own: self }, timeline.conditionAt(atMs))
  let reported: bigint | undefined
  let generation: number | undefined

  function* report(upto: bigint, atMs: number, replay: boolean): Generator<Line> {
    const oldest = upto - REPLAY + 1n
    const first = reported === undefined || replay || reported + 1n < oldest ? oldest : reported + 1n
    for (let number = first; number <= upto; number += 1n) {
      const round = chain.round(number)
      if (round?.kind === 'timeout' && !replay) {
        yield { atMs, text: renderTimeout(seen(round, atMs), atMs) }
      }
      if (round?.kind !== 'block') continue
      yield { atMs, text: renderBlock('proposed_block', seen(round, round.seenMs), atMs) }
      const final = chain.block(round.seqNum - FINAL_AFTER)
      const isFinal = timeline.conditionAt(atMs).finalityStoppedMs === undefined
      if (final && isFinal && !replay)
        yield { atMs, text: renderBlock('finalized_block', seen(final, final.seenMs), atMs) }
    }
    reported = upto
  }

  return function* (fromMs: number, toMs: number): Generator<Line> {
    for (const outcome of chain.between(fromMs, toMs)) {
      const atMs = outcome.seenMs
      const service = timeline.conditionAt(atMs).services['ledger-tail']
      if (service.state !== 'active') continue
      const head = chain.headAt(atMs)
      const own = heights.consensus(atMs)
      // At the head of the network a node follows rounds, behind it blocks.
      const upto = own === head.seqNum ? outcome.round : chain.block(own)?.round
      const replay = generation !== undefined && generation !== service.generation
      generation = service.generation
      if (upto !== undefined && (replay || reported === undefined || upto > reported)) {
        yield* report(upto, atMs, replay)
      }
    }
  }
}

/** The line of ledger-tail for a block. Every field is a string, including numbers; a final block has no number of transactions. */
const renderBlock = (message: 'proposed_block' | 'finalized_block', block: Block, nowMs: number): string => {
  const { round, parentRound, epoch, seqNum, transactions, leader, timeMs } = block
  return renderLine(nowMs, {
    message,
    round,
    parent_round: parentRound,
    epoch,
    seq_num: seqNum,
    ...(message === 'proposed_block' && { num_tx: transactions }),
    author: leader.publicKey,
    block_ts_ms: timeMs,
    now_ts_ms: nowMs,
    author_address: leader.address,
  })
}

/** The line for a round without a block: it has neither epoch nor sequence number. */
const renderTimeout = ({ round, leader }: Timeout, nowMs: number): string =>
  renderLine(nowMs, {
    message: 'timeout',
    round,
    author: leader.publicKey,
    now_ts_ms: nowMs,
    author_address: leader.address,
  })

const renderLine = (nowMs: number, values: Readonly<Record<string, string | number | bigint>>): string => {
  const timestamp = new Date(nowMs).toISOString().replace('Z', '000Z')
  const fields = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))
  return JSON.stringify({ timestamp, level: 'INFO', fields, target: 'ledger_tail' })
}

const REASONS = ['nothing', 'late-parent', 'late-proposal', 'lost-votes'] as const

export const roundDirectives = directiveTable({
  'node misses-after': [
    'what the log has of the rounds that this node leads and that time out: no proposal, the block before 700 ms late, the own proposal 600 ms late, or a proposal in time and no certificate',
    taking(oneOf(REASONS), (missesAfter) => set({ missesAfter })),
  ],
  'leaders late': [
    'the share of the rounds of other leaders that end with a timeout certificate; their blocks are taken later',
    taking(percent, (leadersLatePercent) => set({ leadersLatePercent })),
  ],
})

/** Whether the round of another leader ends with a timeout certificate. */
const endsLate = ({ round, leader }: Block, own: Validator, { leadersLatePercent }: Condition): boolean =>
  leader !== own && pick(100, 'late', round) < leadersLatePercent

/** Whether the round times out and this node leads it. */
const isMissed = ({ kind, leader }: RoundOutcome, own: Validator, { leads }: Condition): boolean =>
  kind === 'timeout' && (leads !== 'normally' || leader === own)

/** Whether this node proposes its block: it enters the round first. */
const isOwnBlock = ({ kind, leader }: RoundOutcome, own: Validator, { leads }: Condition): boolean =>
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
function* ownLinesOf(outcome: RoundOutcome, { chain, own }: NodeSubject, condition: Condition): Generator<LogLine> {
  const before = chain.round(outcome.round - 1n)
  if (before?.kind !== 'block') return
  const { missesAfter, native } = condition
  if (outcome.kind === 'block') {
    yield lines.advanced({ chain, atMs: outcome.seenMs - PROPOSAL_MS }, before)
    return
  }
  const beginMs = outcome.seenMs - TIMEOUT_MS
  const enteredMs = beginMs + (missesAfter === 'late-parent' ? LATE_PARENT_MS : ENTRY_MS)
  yield lines.advanced({ chain, atMs: enteredMs }, before)
  if (native.executionLags) {
    yield lines.cannotPropose(enteredMs, outcome.round)
    return
  }
  if (missesAfter === 'nothing') return
  const proposedMs = enteredMs + (missesAfter === 'late-proposal' ? LATE_PROPOSAL_MS : PROPOSAL_MS)
  const block = lostBlock(chain, before, own)
  yield lines.proposed({ chain, atMs: proposedMs }, block)
  if (missesAfter === 'lost-votes' && native.votes) yield* lines.voted({ chain, atMs: proposedMs }, block)
}

/** The lines about the rounds that this node leads, for consecutive time ranges. */
const createOwnRoundsLog = (subject: NodeSubject) => {
  const { chain, own, timeline, heights } = subject
  return function* (fromMs: number, toMs: number): Generator<LogLine> {
    for (const outcome of chain.between(fromMs, toMs + AHEAD_MS)) {
      const atMs = outcome.seenMs - (outcome.kind === 'block' ? PROPOSAL_MS : TIMEOUT_MS)
      const condition = timeline.conditionAt(atMs)
      const { services, consensusRuns } = condition
      if (!isMissed(outcome, own, condition) && !isOwnBlock(outcome, own, condition)) continue
      if (services.bft.state !== 'active' || !consensusRuns || isSyncing(condition, atMs)) continue
      if (heights.consensus(atMs) !== chain.headAt(atMs).seqNum) continue
      for (const line of ownLinesOf(outcome, subject, condition))
        if (line.atMs > fromMs && line.atMs <= toMs) yield line
    }
  }
}
