import type { Block, Timeout } from '../chain/happening.ts'

/** A block as ledger-tail announces it. Every field is a string, numbers too. */
export const renderProposed = (block: Block, nowMs: number): string =>
  renderLine(nowMs, {
    message: 'proposed_block',
    ...place(block),
    num_tx: String(block.transactions),
    ...author(block, nowMs),
  })

/** The same block once it is final: without the number of transactions. */
export const renderFinalized = (block: Block, nowMs: number): string =>
  renderLine(nowMs, { message: 'finalized_block', ...place(block), ...author(block, nowMs) })

/** A round that gave no block: its line knows neither epoch nor sequence number. */
export const renderTimeout = ({ round, leader }: Timeout, nowMs: number): string =>
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
