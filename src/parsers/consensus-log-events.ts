import { parseU64 } from '../core/units.ts'

/** A parsed line of the consensus log. Null is a field that the line or its version does not have. */
export type ConsensusEvent = { readonly level: Level | null } & ConsensusEventBody

/** Null for lines that are not JSON: Rust's own panic output. */
export type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'

export type ConsensusEventBody =
  | {
      readonly event: 'committed_block'
      readonly block: bigint
      readonly transactions: bigint | null
    }
  /** A round ended, by a quorum certificate or a timeout certificate. `round` is the certificate's round. */
  | {
      readonly event: 'round_closed'
      readonly by: 'qc' | 'tc'
      readonly round: bigint
      readonly epoch: bigint
    }
  | { readonly event: 'qc_created'; readonly round: bigint; readonly epoch: bigint | null }
  | { readonly event: 'local_timeout'; readonly round: bigint; readonly leader: string | null }
  | { readonly event: 'remote_timeout'; readonly round: bigint | null }
  | {
      readonly event: 'proposal'
      readonly round: bigint
      readonly epoch: bigint | null
      readonly seqNum: bigint | null
      readonly author: string | null
    }
  | { readonly event: 'vote_sent'; readonly round: bigint | null }
  | { readonly event: 'vote_succeeded' }
  | { readonly event: 'statesync'; readonly step: StatesyncStep; readonly target: bigint | null }
  | { readonly event: 'blocksync'; readonly step: BlocksyncStep }
  | {
      readonly event: 'network_error'
      readonly kind: NetworkErrorKind
      /** Without the port, which changes from session to session. */
      readonly peer: string | null
    }
  /** The leader has no executed block to build on. */
  | { readonly event: 'execution_lagging' }
  /** The network uses a different vote pace than this node's version or configuration. */
  | { readonly event: 'pacing_differs' }
  | { readonly event: 'wal'; readonly trouble: 'thread_stopped' | 'push_failed' }
  | { readonly event: 'crash'; readonly reason: string }
  /** The reason of a panic: the block tree is too old to continue from. */
  | { readonly event: 'too_far_behind' }
  /** The first line of a panic. Since Rust 1.73 the reason is on the next line; null in that case. */
  | { readonly event: 'panic'; readonly place: string; readonly reason: string | null }
  | { readonly event: 'starting'; readonly version: string }
  | { readonly event: 'configs_replaced' }
  | { readonly event: 'stopping' }
  /** A warning or an error without a known message. */
  | { readonly event: 'other' }

/** `serving` answers other nodes and is healthy; every other step is this node's own statesync, or its end. */
type StatesyncStep = 'begun' | 'running' | 'new_target' | 'snapshot_advised' | 'database_done' | 'done' | 'serving'

type BlocksyncStep = 'own' | 'no_peers' | 'serving'

export type Fields = Readonly<Record<string, unknown>>
export type NetworkErrorKind = 'decrypt' | 'session_timeout' | 'timestamp'

/**
 * An unsigned integer, printed as a number, as digits or as `Some(digits)`. Null if it is missing, `None` or not an
 * integer; JSON numbers above 2^53 have lost digits and give null.
 */
export const readU64 = (value: unknown): bigint | null => {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null
  }
  if (typeof value !== 'string') return null
  const [, digits = ''] = /^(?:Some\()?(\d+)\)?$/.exec(value) ?? []
  return parseU64(digits) ?? null
}

/** The first `name: digits` in the Rust Debug output of a structure. */
export const readNamed = (text: unknown, name: string): bigint | null => {
  if (typeof text !== 'string') return null
  const [, digits = ''] = new RegExp(String.raw`\b${name}: (\d+)`).exec(text) ?? []
  return parseU64(digits) ?? null
}

const CERTIFICATE = /^(Qc|Tc)\(.*?epoch: (\d+), round: (\d+)/s

/** The certificate that closed a round, parsed from its Debug output. */
const readCertificate = (
  text: unknown,
): { readonly by: 'qc' | 'tc'; readonly epoch: bigint; readonly round: bigint } | null => {
  if (typeof text !== 'string') return null
  const [, kind, epochDigits = '', roundDigits = ''] = CERTIFICATE.exec(text) ?? []
  const [epoch, round] = [parseU64(epochDigits), parseU64(roundDigits)]
  if (epoch === undefined || round === undefined) return null
  return { by: kind === 'Tc' ? 'tc' : 'qc', epoch, round }
}

/** A node's public key: hex digits, of any length that a version prints. */
const readKey = (value: unknown): string | null => {
  if (typeof value !== 'string') return null
  const [, key] = /^(?:0x)?([0-9a-fA-F.]{4,130})$/.exec(value) ?? []
  return key?.toLowerCase() ?? null
}

const PEER_FIELDS = ['addr', 'remote_addr', 'peer', 'author', 'node_id'] as const
const MAX_PEER_LENGTH = 140

/** The peer of an error: its address without the port, or its key. */
export const readPeer = (fields: Fields): string | null => {
  for (const name of PEER_FIELDS) {
    const value = fields[name]
    if (typeof value !== 'string' || value === '' || value.length > MAX_PEER_LENGTH) continue
    const { host = value } = /^(?<host>\[[^\]]+\]|[^:]+):\d+$/.exec(value)?.groups ?? {}
    return host
  }
  return null
}

// Each function reads the fields of one message; null if the fields do not match.

export const roundClosed = ({ certificate }: Fields): ConsensusEventBody | null => {
  const read = readCertificate(certificate)
  return read && { event: 'round_closed', ...read }
}

export const committedBlock = ({ block_num: number, num_tx: transactions }: Fields): ConsensusEventBody | null => {
  const block = readU64(number)
  return block === null ? null : { event: 'committed_block', block, transactions: readU64(transactions) }
}

export const createdQc = ({ round: number, epoch }: Fields): ConsensusEventBody | null => {
  const round = readU64(number)
  return round === null ? null : { event: 'qc_created', round, epoch: readU64(epoch) }
}

export const localTimeout = ({ round: number, leader }: Fields): ConsensusEventBody | null => {
  const round = readU64(number)
  return round === null ? null : { event: 'local_timeout', round, leader: readKey(leader) }
}

export const remoteTimeout = (fields: Fields): ConsensusEventBody => {
  const text = Object.values(fields).find((value) => readNamed(value, 'round') !== null)
  return { event: 'remote_timeout', round: readU64(fields['round']) ?? readNamed(text, 'round') }
}

export const proposal = ({ author, proposal: text }: Fields): ConsensusEventBody | null => {
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
