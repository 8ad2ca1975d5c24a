/** Lines of the ledger stream, with one round a second from noon on. */
export const OWN = `02${'aa'.repeat(32)}`
export const OTHER = `03${'bb'.repeat(32)}`
export const NOON = Date.UTC(2026, 2, 1, 12)

const line = (fields: Readonly<Record<string, string>>): string =>
  JSON.stringify({ timestamp: 'x', level: 'INFO', fields, target: 'ledger_tail' })

export interface Proposal {
  readonly author?: string
  /** null: the line does not have it. */
  readonly parent?: number | null
  readonly seq?: number
  readonly epoch?: number
  /** Milliseconds from the timestamp of the block to the line. */
  readonly delay?: number
}

const block = (
  round: number,
  { author = OTHER, parent = round - 1, seq = round, epoch = 7, delay = 85 }: Proposal,
) => ({
  round: `${round}`,
  ...(parent !== null && { parent_round: `${parent}` }),
  epoch: `${epoch}`,
  seq_num: `${seq}`,
  author,
  block_ts_ms: `${NOON + round * 1000}`,
  now_ts_ms: `${NOON + round * 1000 + delay}`,
  author_address: author === OTHER ? '192.0.2.7:8000' : '',
})

export const proposed = (round: number, proposal: Proposal = {}): string =>
  line({ message: 'proposed_block', num_tx: '12', ...block(round, proposal) })

export const finalized = (round: number, proposal: Proposal = {}): string =>
  line({ message: 'finalized_block', ...block(round, proposal) })

export const timeout = (round: number, author = OTHER): string =>
  line({
    message: 'timeout',
    round: `${round}`,
    author,
    now_ts_ms: `${NOON + round * 1000 + 1000}`,
    author_address: '',
  })
