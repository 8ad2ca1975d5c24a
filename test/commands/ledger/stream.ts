/** Lines of the ledger stream, with one round a second from noon on. */
export const OWN = `02${'aa'.repeat(32)}`
export const OTHER = `03${'bb'.repeat(32)}`
export const NOON = Date.UTC(2026, 2, 1, 12)

export const line = (fields: Readonly<Record<string, string>>): string =>
  JSON.stringify({ timestamp: 'x', level: 'INFO', fields, target: 'ledger_tail' })

interface Proposal {
  readonly author?: string
  readonly parent?: number
  readonly seq?: number
  /** Milliseconds from the timestamp of the block to the line. */
  readonly delay?: number
}

export const proposed = (
  round: number,
  { author = OTHER, parent = round - 1, seq = round, delay = 85 }: Proposal = {},
): string =>
  line({
    message: 'proposed_block',
    round: `${round}`,
    parent_round: `${parent}`,
    epoch: '7',
    seq_num: `${seq}`,
    num_tx: '12',
    author,
    block_ts_ms: `${NOON + round * 1000}`,
    now_ts_ms: `${NOON + round * 1000 + delay}`,
    author_address: author === OTHER ? '192.0.2.7:8000' : '',
  })

export const timeout = (round: number, author: string): string =>
  line({
    message: 'timeout',
    round: `${round}`,
    author,
    now_ts_ms: `${NOON + round * 1000 + 1000}`,
    author_address: '',
  })
