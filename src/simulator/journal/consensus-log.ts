import type { Chain } from '../chain/chain.ts'
import type { Block, Happening } from '../chain/happening.ts'
import type { Validator } from '../chain/validators.ts'
import type { Heights } from '../heights.ts'
import type { Condition } from '../scenario/condition.ts'
import { isVoting } from '../scenario/native.ts'
import { isSyncing } from '../scenario/statesync.ts'
import type { Timeline } from '../scenario/timeline.ts'
import * as lines from './consensus-lines.ts'
import { leaderOf } from './leader.ts'
import { noiseLine } from './log-noise.ts'
import type { LogLine } from './log-line.ts'

export interface ConsensusSubject {
  readonly chain: Chain
  readonly own: Validator
  readonly timeline: Timeline
  readonly heights: Heights
}

/** A node that has to catch up writes of so many blocks at most. */
const CATCH_UP = 100n
/** A node that is stuck runs out of time in every third round of the network, about once a second. */
const STUCK_EVERY = 3n

/**
 * What the consensus of a node logs as rounds end. It is called with the stretches of time one
 * after the other, and remembers which block it came to.
 */
export const createConsensusLog = ({ chain, own, timeline, heights }: ConsensusSubject) => {
  let told: bigint | undefined

  /** Blocks that it did not see as they were proposed. */
  function* catchUp(upto: bigint, atMs: number): Generator<LogLine> {
    if (told === undefined || told >= upto) return
    if (upto - told > 1n) {
      const fields = {
        requester: 'Consensus',
        block_range: `BlockRange { num_blocks: ${upto - told} }`,
      }
      const message = 'blocksync: self request'
      yield { atMs, level: 'DEBUG', target: 'blocksync::blocksync', message, fields }
    }
    const oldest = upto - CATCH_UP + 1n
    for (let number = told + 1n < oldest ? oldest : told + 1n; number <= upto; number += 1n) {
      const block = chain.block(number)
      if (!block) continue
      yield* lines.advanced({ chain, atMs }, block)
      yield* lines.committed({ chain, atMs }, block)
    }
  }

  /** A round begins with the certificate of the block before it; after a timeout it has begun already. */
  function* enter(round: bigint, atMs: number): Generator<LogLine> {
    const before = chain.round(round - 1n)
    if (before?.kind === 'block') yield* lines.advanced({ chain, atMs }, before)
  }

  function* follow(block: Block, condition: Condition): Generator<LogLine> {
    const { log, native, leads } = condition
    const moment = { chain, atMs: block.seenMs }
    yield* lines.proposed(moment, leaderOf(block, { chain, own }, condition))
    if (isVoting(native)) yield* lines.voted(moment, block)
    yield* enter(block.round, moment.atMs)
    const isNext = leads !== 'never' && chain.round(block.round + 1n)?.leader === own
    if (isNext) yield* lines.collected(moment, block)
    yield* lines.committed(moment, block)
    for (let index = 0; index < log.noise; index += 1) {
      yield noiseLine(Number(block.seqNum) * log.noise + index, moment.atMs)
    }
  }

  function* tell(happening: Happening): Generator<LogLine> {
    const atMs = happening.seenMs
    const condition = timeline.conditionAt(atMs)
    if (condition.services.bft.state !== 'active' || isSyncing(condition, atMs)) return
    const height = heights.consensus(atMs)
    if (!condition.consensusRuns) {
      const round = (chain.block(height)?.round ?? 0n) + 1n
      const leader = chain.round(round)?.leader ?? own
      if (happening.round % STUCK_EVERY === 0n)
        yield* lines.timedOut({ chain, atMs }, { round, leader })
    } else if (height !== chain.headAt(atMs).seqNum) {
      yield* catchUp(height, atMs)
    } else if (happening.kind === 'block') {
      yield* catchUp(height - 1n, atMs)
      yield* follow(happening, condition)
    } else {
      yield* enter(happening.round, atMs)
      yield* lines.timedOut({ chain, atMs }, leaderOf(happening, { chain, own }, condition))
      yield* lines.advancedByTimeout({ chain, atMs }, happening)
    }
    told = height
  }

  return function* (fromMs: number, toMs: number): Generator<LogLine> {
    for (const happening of chain.between(fromMs, toMs)) yield* tell(happening)
  }
}
