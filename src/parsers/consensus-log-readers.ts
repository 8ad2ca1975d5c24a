import type { Said } from './consensus-log-events.ts'
import {
  type Fields,
  readCertificate,
  readKey,
  readNamed,
  readU64,
} from './consensus-log-fields.ts'

// Each reads the fields of one message; null when they are not those of the message.

export const roundClosed = ({ certificate }: Fields): Said | null => {
  const read = readCertificate(certificate)
  return read && { event: 'round_closed', ...read }
}

export const committedBlock = ({
  block_num: number,
  num_tx: transactions,
}: Fields): Said | null => {
  const block = readU64(number)
  return block === null
    ? null
    : { event: 'committed_block', block, transactions: readU64(transactions) }
}

export const createdQc = ({ round: number, epoch }: Fields): Said | null => {
  const round = readU64(number)
  return round === null ? null : { event: 'qc_created', round, epoch: readU64(epoch) }
}

export const localTimeout = ({ round: number, leader }: Fields): Said | null => {
  const round = readU64(number)
  return round === null ? null : { event: 'local_timeout', round, leader: readKey(leader) }
}

export const remoteTimeout = (fields: Fields): Said => {
  const text = Object.values(fields).find((value) => readNamed(value, 'round') !== null)
  return { event: 'remote_timeout', round: readU64(fields['round']) ?? readNamed(text, 'round') }
}

export const proposal = ({ author, proposal: text }: Fields): Said | null => {
  const round = readNamed(text, 'proposal_round')
  if (round === null) return null
  return {
    event: 'proposal',
    round,
    epoch: readNamed(text, 'proposal_epoch'),
    seqNum: readNamed(text, 'seq_num'),
    author: readKey(author),
  }
}
