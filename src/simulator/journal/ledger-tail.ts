import { type Chain, FINAL_AFTER } from '../chain/chain.ts'
import type { Happening } from '../chain/happening.ts'
import type { Heights } from '../heights.ts'
import { leaderOf } from './leader.ts'
import { renderFinalized, renderProposed, renderTimeout } from './ledger-lines.ts'
import type { Validator } from '../chain/validators.ts'
import type { Timeline } from '../scenario/timeline.ts'

export interface Line {
  readonly atMs: number
  readonly text: string
}

/** So many rounds are told again when ledger-tail starts, or when the node has to catch up. */
const REPLAY = 100n

interface Subject {
  readonly chain: Chain
  readonly own: Validator
  readonly timeline: Timeline
  readonly heights: Heights
}

/**
 * The stream of a node's ledger-tail. It is called with the stretches of time one after the other,
 * and remembers what it has told; how time is cut into stretches changes nothing.
 */
export const createLedgerTail = ({ chain, own: self, timeline, heights }: Subject) => {
  const seen = <Round extends Happening>(round: Round, atMs: number): Round =>
    leaderOf(round, { chain, own: self }, timeline.conditionAt(atMs))
  let told: bigint | undefined
  let generation: number | undefined

  function* tell(upto: bigint, atMs: number, replay: boolean): Generator<Line> {
    const oldest = upto - REPLAY + 1n
    const first = told === undefined || replay || told + 1n < oldest ? oldest : told + 1n
    for (let number = first; number <= upto; number += 1n) {
      const round = chain.round(number)
      if (round?.kind === 'timeout' && !replay) {
        yield { atMs, text: renderTimeout(seen(round, atMs), atMs) }
      }
      if (round?.kind !== 'block') continue
      yield { atMs, text: renderProposed(seen(round, round.seenMs), atMs) }
      const final = chain.block(round.seqNum - FINAL_AFTER)
      if (final && !replay) yield { atMs, text: renderFinalized(seen(final, final.seenMs), atMs) }
    }
    told = upto
  }

  return function* (fromMs: number, toMs: number): Generator<Line> {
    for (const happening of chain.between(fromMs, toMs)) {
      const atMs = happening.seenMs
      const service = timeline.conditionAt(atMs).services['ledger-tail']
      if (service.state !== 'active') continue
      const head = chain.headAt(atMs)
      const own = heights.consensus(atMs)
      // At the head of the network a node sees rounds end as they end; behind it, it follows blocks.
      const upto = own === head.seqNum ? happening.round : chain.block(own)?.round
      const replay = generation !== undefined && generation !== service.generation
      generation = service.generation
      if (upto !== undefined && (replay || told === undefined || upto > told)) {
        yield* tell(upto, atMs, replay)
      }
    }
  }
}
