import type { JournalEntry } from '../../src/parsers/journal.ts'

/** 2026-05-02 08:00:00 UTC. */
export const T0 = 1_777_708_800_000
export const UNIT = 'chain-bft.service'

export const entry = (at: number, message: string, fields: Readonly<Record<string, string>> = {}): JournalEntry => ({
  cursor: `s=${at}`,
  at,
  unit: UNIT,
  message,
  fields: { _PID: '40', ...fields },
})

interface Line {
  readonly level?: string
  readonly target?: string
  readonly [field: string]: unknown
}

export const line = (message: string, { level, target, ...fields }: Line = {}): string =>
  JSON.stringify({
    timestamp: '2026-05-02T08:00:00.1Z',
    level: level ?? 'DEBUG',
    fields: { message, ...fields },
    target: target ?? 'a_consensus_state',
  })

export const committed = (block: number): string =>
  line('committed block', { level: 'INFO', target: 'a_ledger', num_tx: 1, block_num: block })
export const closed = (round: number, by: 'Qc' | 'Tc' = 'Qc'): string =>
  line('advancing round', {
    target: 'a_consensus::pacemaker',
    certificate:
      by === 'Qc'
        ? `Qc(QC { info: Vote { id: 1a..2b, epoch: 7, round: ${round} } })`
        : `Tc(TimeoutCertificate { epoch: 7, round: ${round}, tip_rounds: [] })`,
  })
export const newQc = (round: number): string => line('Created new QC', { level: 'INFO', round: `${round}`, epoch: '7' })
export const timedOut = (round: number): string => line('local timeout', { round: `${round}` })
export const vote = (round: number): string => line('sending vote', { round: `${round}` })
export const undecryptable = (peer: string): string =>
  line('failed to decrypt message', { level: 'WARN', target: 'a_wireauth', addr: `${peer}:8000` })
export const suppressed = (at: number, count: number): JournalEntry =>
  entry(at, `Suppressed ${count} messages from ${UNIT}`, {
    _PID: '9',
    OBJECT_SYSTEMD_UNIT: UNIT,
    N_DROPPED: `${count}`,
  })
