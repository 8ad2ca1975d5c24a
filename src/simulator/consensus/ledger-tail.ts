import { type Block, type Chain, FINAL_AFTER, type RoundOutcome, type Timeout, type Validator } from '../chain/chain.ts'
import type { Heights } from '../heights.ts'
import type { Timeline } from '../scenario/timeline.ts'
import { leaderOf } from './consensus-log.ts'

interface Line {
  readonly atMs: number
  readonly text: string
}

/** How many rounds ledger-tail prints again when it starts or when the node catches up. */
const REPLAY = 100n

interface LedgerTailSubject {
  readonly chain: Chain
  readonly own: Validator
  readonly timeline: Timeline
  readonly heights: Heights
}

/**
 * The output of ledger-tail. The function that it returns must be called with consecutive time ranges; it keeps the
 * last reported round. The lengths of the ranges do not change the output.
 */
export const createLedgerTail = ({ chain, own: self, timeline, heights }: LedgerTailSubject) => {
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
      yield { atMs, text: renderProposed(seen(round, round.seenMs), atMs) }
      const final = chain.block(round.seqNum - FINAL_AFTER)
      if (final && !replay) yield { atMs, text: renderFinalized(seen(final, final.seenMs), atMs) }
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

/** The line of ledger-tail for a proposed block. Every field is a string, including numbers. */
const renderProposed = (block: Block, nowMs: number): string =>
  renderLine(nowMs, {
    message: 'proposed_block',
    ...place(block),
    num_tx: String(block.transactions),
    ...author(block, nowMs),
  })

/** The line for a final block: without the number of transactions. */
const renderFinalized = (block: Block, nowMs: number): string =>
  renderLine(nowMs, { message: 'finalized_block', ...place(block), ...author(block, nowMs) })

/** The line for a round without a block: it has neither epoch nor sequence number. */
const renderTimeout = ({ round, leader }: Timeout, nowMs: number): string =>
  renderLine(nowMs, {
    message: 'timeout',
    round: String(round),
    author: leader.publicKey,
    now_ts_ms: String(nowMs),
    author_address: leader.address,
  })

type Fields = Readonly<Record<string, string>>

const place = ({ round, parentRound, epoch, seqNum }: Block): Fields => ({
  round: String(round),
  parent_round: String(parentRound),
  epoch: String(epoch),
  seq_num: String(seqNum),
})

const author = ({ leader, timeMs }: Block, nowMs: number): Fields => ({
  author: leader.publicKey,
  block_ts_ms: String(timeMs),
  now_ts_ms: String(nowMs),
  author_address: leader.address,
})

const renderLine = (nowMs: number, fields: Fields): string => {
  const timestamp = new Date(nowMs).toISOString().replace('Z', '000Z')
  return JSON.stringify({ timestamp, level: 'INFO', fields, target: 'ledger_tail' })
}
