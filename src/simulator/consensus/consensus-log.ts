import type { Block, Chain, RoundOutcome, Validator } from '../chain/chain.ts'
import { drift } from '../format-drift.ts'
import type { Heights } from '../heights.ts'
import { createSteadyLines } from '../injected-lines.ts'
import type { Draft } from '../journal/journal.ts'
import { createRateLimit, serviceEntry, suppressedEntry } from '../journal/journald.ts'
import { isVoting } from '../native/native.ts'
import { bareDirective, blocks, type Directive, directive } from '../scenario/directives.ts'
import type { Condition, Timeline } from '../scenario/timeline.ts'
import { unitOf } from '../services/service.ts'
import { installedVersion } from '../versions.ts'
import * as lines from './consensus-lines.ts'
import { type LogLine, renderLogLine } from './consensus-lines.ts'
import { createLogFlood, noiseLine } from './log-noise.ts'
import { createStatesyncLog, isSyncing } from './statesync.ts'

export const consensusDirectives: readonly Directive[] = [
  directive(
    {
      subject: 'node',
      verb: 'behind',
      meaning: 'the node follows the network that number of blocks behind',
    },
    blocks,
    (behind) => (condition) => ({ ...condition, behind }),
  ),
  bareDirective(
    {
      subject: 'node',
      verb: 'misses',
      meaning: 'the node is the leader of every round that times out: four a minute',
    },
    (condition) => ({ ...condition, leads: 'badly' }),
  ),
  bareDirective(
    {
      subject: 'node',
      verb: 'idles',
      meaning: 'the same, and the node is not the leader of any round with a block',
    },
    (condition) => ({ ...condition, leads: 'never' }),
  ),
  bareDirective(
    {
      subject: 'node',
      verb: 'leads',
      meaning: 'the node leads rounds as usual; rounds of other leaders time out',
    },
    (condition) => ({ ...condition, leads: 'well' }),
  ),
  bareDirective(
    {
      subject: 'consensus',
      verb: 'stops',
      meaning: 'consensus is stalled: no new block, though every process runs',
    },
    (condition) => ({ ...condition, consensusRuns: false }),
  ),
  bareDirective(
    { subject: 'consensus', verb: 'resumes', meaning: 'the node catches up with the network' },
    (condition) => ({ ...condition, consensusRuns: true }),
  ),
]

/** The round with the leader that the scenario requires for this node; the network itself is not affected. */
export const leaderOf = <Round extends RoundOutcome>(
  round: Round,
  { chain, own }: { readonly chain: Chain; readonly own: Validator },
  { leads }: Condition,
): Round => {
  if (round.kind === 'timeout') return leads === 'well' ? round : { ...round, leader: own }
  if (leads !== 'never' || round.leader !== own) return round
  const other = chain.validators.find((validator) => validator !== own)
  return other ? { ...round, leader: other } : round
}

interface ConsensusSubject {
  readonly chain: Chain
  readonly own: Validator
  readonly timeline: Timeline
  readonly heights: Heights
}

/** The most blocks that a node logs while it catches up. */
const CATCH_UP = 100n
/** A stalled node has a local timeout in every third round of the network, about once a second. */
const STUCK_EVERY = 3n

/**
 * The log lines of consensus for each round. The function that it returns must be called with consecutive time ranges;
 * it keeps the number of the last block.
 */
const createConsensusLog = ({ chain, own, timeline, heights }: ConsensusSubject) => {
  let reported: bigint | undefined

  /** Blocks that the node did not receive when they were proposed. */
  function* catchUp(upto: bigint, atMs: number): Generator<LogLine> {
    if (reported === undefined || reported >= upto) return
    if (upto - reported > 1n) {
      const fields = {
        requester: 'Consensus',
        block_range: `BlockRange { num_blocks: ${upto - reported} }`,
      }
      const message = 'blocksync: self request'
      yield { atMs, level: 'DEBUG', target: 'blocksync::blocksync', message, fields }
    }
    const oldest = upto - CATCH_UP + 1n
    for (let number = reported + 1n < oldest ? oldest : reported + 1n; number <= upto; number += 1n) {
      const block = chain.block(number)
      if (!block) continue
      yield* lines.advanced({ chain, atMs }, block)
      yield* lines.committed({ chain, atMs }, block)
    }
  }

  /** A round starts with the certificate of the block before it; after a timeout it has already started. */
  function* enter(round: bigint, atMs: number): Generator<LogLine> {
    const before = chain.round(round - 1n)
    if (before?.kind === 'block') yield* lines.advanced({ chain, atMs }, before)
  }

  function* follow(block: Block, condition: Condition): Generator<LogLine> {
    const { log, native, leads } = condition
    const context = { chain, atMs: block.seenMs }
    yield* lines.proposed(context, leaderOf(block, { chain, own }, condition))
    if (isVoting(native)) yield* lines.voted(context, block)
    yield* enter(block.round, context.atMs)
    const isNext = leads !== 'never' && chain.round(block.round + 1n)?.leader === own
    if (isNext) yield* lines.collected(context, block)
    yield* lines.committed(context, block)
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
      yield* enter(outcome.round, atMs)
      yield* lines.timedOut({ chain, atMs }, leaderOf(outcome, { chain, own }, condition))
      yield* lines.advancedByTimeout({ chain, atMs }, outcome)
    }
    reported = height
  }

  return function* (fromMs: number, toMs: number): Generator<LogLine> {
    for (const outcome of chain.between(fromMs, toMs)) yield* report(outcome)
  }
}

interface JournalSubject extends ConsensusSubject {
  readonly node: string
  readonly prefix: string
}

/** The journal entries of the consensus process, within the rate limit of journald. */
export const createConsensusEntries = (subject: JournalSubject) => {
  const { prefix, chain, timeline } = subject
  const sources = [
    createStatesyncLog(chain, timeline),
    createConsensusLog(subject),
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
      const text = formatsDrift ? drift.consensusLog(plain) : plain
      yield serviceEntry(subject, services.bft, { atMs, text, program })
    }
    for (const { atMs, after } of timeline.changes) {
      const { exit } = after.services.bft
      if (atMs <= fromMs || atMs > toMs || exit?.atMs !== atMs || !exit.panicked) continue
      for (const text of PANIC) yield serviceEntry(subject, after.services.bft, { atMs, text, program })
    }
  }
}

const starts = ({ timeline, prefix }: JournalSubject): readonly LogLine[] =>
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
