import { parseU64 } from '../core/units.ts'

/** What a message of consensus reports. Null is a field that the line or its version does not have. */
export type ConsensusEventBody =
  | { readonly event: 'committed_block'; readonly block: bigint }
  /** A round ended, by a quorum certificate or a timeout certificate. `round` is the certificate's round. */
  | { readonly event: 'round_closed'; readonly by: 'qc' | 'tc'; readonly round: bigint; readonly epoch: bigint }
  | { readonly event: 'qc_created'; readonly round: bigint; readonly epoch: bigint | null }
  | { readonly event: 'local_timeout'; readonly round: bigint; readonly leader: string | null }
  | {
      readonly event: 'proposal'
      readonly round: bigint
      readonly author: string | null
      /** The round of its block: an earlier one if the block is proposed again after a timeout. */
      readonly blockRound: bigint | null
    }
  | { readonly event: 'vote_created'; readonly round: bigint | null }
  /** Each start has these phases. `waiting`: for the blocks of the root, or their state. */
  | { readonly event: 'start'; readonly step: 'begun' | 'waiting' | 'live' }
  /** This node's own statesync. */
  | { readonly event: 'statesync'; readonly step: 'running' | 'snapshot_advised' }
  | { readonly event: 'blocksync'; readonly step: 'own' | 'no_peers' }
  | {
      readonly event: 'network_error'
      readonly kind: NetworkErrorKind
      /** Without the port, which changes from session to session. */
      readonly peer: string | null
    }
  /** The leader has no executed block to build on. */
  | { readonly event: 'execution_lagging'; readonly round: bigint | null }
  /** The leader does not have the block to build on, or could not check it. */
  | { readonly event: 'parent_missing'; readonly round: bigint | null }
  /** The network uses a different vote pace than this node's version or configuration. */
  | { readonly event: 'pacing_differs' }
  | { readonly event: 'wal'; readonly trouble: 'thread_stopped' | 'push_failed' }
  | { readonly event: 'crash' }
  /** The reason of a panic: the block tree is too old to continue from. */
  | { readonly event: 'too_far_behind' }
  /** The first line of a panic. Since Rust 1.73 the reason is on the next line; null in that case. */
  | { readonly event: 'panic'; readonly place: string; readonly reason: string | null }
  | { readonly event: 'stopping' }
  /** A warning or an error without a known message. */
  | { readonly event: 'other' }

type NetworkErrorKind = 'decrypt' | 'session_timeout' | 'timestamp'

/** The fields of a line of the consensus log, as its logger and Rust's Debug print them. */
type Fields = Readonly<Record<string, unknown>>

/**
 * An unsigned integer, printed as a number, as digits or as `Some(digits)`. Null if it is missing, `None` or not an
 * integer; JSON numbers above 2^53 have lost digits and give null.
 */
const readU64 = (value: unknown): bigint | null => {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null
  }
  if (typeof value !== 'string') return null
  const [, digits = ''] = /^(?:Some\()?(\d+)\)?$/.exec(value) ?? []
  return parseU64(digits) ?? null
}

/** The first `name: digits` in the Rust Debug output of a structure. */
const readNamed = (text: unknown, pattern: RegExp): bigint | null =>
  typeof text === 'string' ? (parseU64(pattern.exec(text)?.[1] ?? '') ?? null) : null

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
const readPeer = (fields: Fields): string | null => {
  for (const name of PEER_FIELDS) {
    const value = fields[name]
    if (typeof value !== 'string' || value === '' || value.length > MAX_PEER_LENGTH) continue
    const { host = value } = /^(?<host>\[[^\]]+\]|[^:]+):\d+$/.exec(value)?.groups ?? {}
    return host
  }
  return null
}

// Each function reads the fields of one message; null if the fields do not match.

const roundClosed = ({ certificate }: Fields): ConsensusEventBody | null => {
  const read = readCertificate(certificate)
  return read && { event: 'round_closed', ...read }
}

const committedBlock = ({ block_num: number }: Fields): ConsensusEventBody | null => {
  const block = readU64(number)
  return block === null ? null : { event: 'committed_block', block }
}

const createdQc = ({ round: number, epoch }: Fields): ConsensusEventBody | null => {
  const round = readU64(number)
  return round === null ? null : { event: 'qc_created', round, epoch: readU64(epoch) }
}

const localTimeout = ({ round: number, leader }: Fields): ConsensusEventBody | null => {
  const round = readU64(number)
  return round === null ? null : { event: 'local_timeout', round, leader: readKey(leader) }
}

const proposal = ({ author, proposal: text }: Fields): ConsensusEventBody | null => {
  const round = readNamed(text, /\bproposal_round: (\d+)/)
  if (round === null) return null
  return {
    event: 'proposal',
    round,
    author: readKey(author),
    blockRound: readNamed(text, /\bblock_round: (\d+)/),
  }
}

/** Null if the fields do not match the message. */
type ReadFields = (fields: Fields) => ConsensusEventBody | null

const RUNNING: ConsensusEventBody = { event: 'statesync', step: 'running' }
const SNAPSHOT_ADVISED: ConsensusEventBody = { event: 'statesync', step: 'snapshot_advised' }
const WAITING: ConsensusEventBody = { event: 'start', step: 'waiting' }
/** Consensus has asked for a state only while its database status is `Started`. */
const stillSyncing = ({ db_status: status }: Fields): ConsensusEventBody => (status === 'Started' ? RUNNING : WAITING)
const networkError =
  (kind: NetworkErrorKind) =>
  (fields: Fields): ConsensusEventBody => ({ event: 'network_error', kind, peer: readPeer(fields) })
const ofRound =
  (event: 'vote_created' | 'execution_lagging' | 'parent_missing') =>
  ({ round }: Fields): ConsensusEventBody => ({ event, round: readU64(round) })

const LEDGER = /(?:^|[_:])ledger$/
const CONSENSUS = /(?:^|[_:])consensus/
const STATESYNC = /(?:^|[_:])(?:state|statesync)(?:$|_|:)/
const NEW_TARGET = /(?:^|[_:])(?:state|statesync|consensus)/
const BLOCKSYNC = /(?:^|[_:])(?:blocksync|consensus|state)/
const PEERS = /statesync/
const ANY = /^/

/** A known message: its text, the pattern of its log target without the name prefix, and what it reports. */
type Row = readonly [string, target: RegExp, reports: ConsensusEventBody | ReadFields]

const blocksync = (step: 'own' | 'no_peers', texts: readonly string[]): readonly Row[] =>
  texts.map((text) => [text, BLOCKSYNC, { event: 'blocksync', step }])

const ROWS: readonly Row[] = [
  ['committed block', LEDGER, committedBlock],
  ['advancing round', CONSENSUS, roundClosed],
  ['Created new QC', CONSENSUS, createdQc],
  ['local timeout', CONSENSUS, localTimeout],
  ['proposal message', CONSENSUS, proposal],
  ['sending vote', CONSENSUS, ofRound('vote_created')],

  ['starting up, syncing', STATESYNC, { event: 'start', step: 'begun' }],
  ['still syncing...', STATESYNC, stillSyncing],
  ['done syncing, initializing consensus', STATESYNC, { event: 'start', step: 'live' }],
  ['setting new statesync target', NEW_TARGET, RUNNING],
  ['starting from empty state, consider fetching a snapshot first', STATESYNC, SNAPSHOT_ADVISED],
  ['updating statesync target', STATESYNC, RUNNING],
  ['applying statesync response', STATESYNC, RUNNING],
  ['statesync client thread applied response', STATESYNC, RUNNING],
  ['done statesync', STATESYNC, RUNNING],
  ['sending request', PEERS, RUNNING],

  ...blocksync('own', [
    'blocksync: self request',
    'blocksync: self initiating payload request',
    'blocksync: header not found locally, sending request',
    'blocksync: payload not found locally, sending request',
    'blocksync: header request timed out, sending new request',
    'blocksync: payload request timed out, sending new request',
    'blocksync: headers response verification passed',
    'blocksync: headers response verification failed',
    'blocksync: headers response not available',
    'blocksync: received payload response',
    'blocksync: self response from ledger',
    'blocksync: self request timeout',
    'blocksync: self cancel request',
    'blocksync: received invalid self request',
    'consensus blocksyncing blocks up to root',
    'consensus blocksyncing tip',
    'statesync blocksyncing blocks',
  ]),
  ...blocksync('no_peers', [
    'blocksync: header not found locally, but no peers - retrying later',
    'blocksync: header request timed out, but no peers - retrying later',
    'blocksync: payload not found locally, but no peers - retrying later',
    'blocksync: payload request timed out, but no peers - retrying later',
  ]),

  // Both at DEBUG: any foreign packet causes the first, and any peer that restarts the second.
  ['failed to decrypt message', ANY, networkError('decrypt')],
  ['session timeout expired', ANY, networkError('session_timeout')],
  ['Timestamp validation failed', ANY, networkError('timestamp')],
  ["no eth_header found, can't propose", CONSENSUS, ofRound('execution_lagging')],
  ['qc.block_id not coherent, not proposing', CONSENSUS, ofRound('parent_missing')],
  ['tip.block_id not coherent, not reproposing', CONSENSUS, ofRound('parent_missing')],
  ['network has different vote/proposal pacing than us', CONSENSUS, { event: 'pacing_differs' }],
  ['received SIGTERM, exiting...', ANY, { event: 'stopping' }],
  ['parent executor returned none!', ANY, { event: 'crash' }],
]

/** Messages with a fixed text, in every version since v0.11, of which a collector or a command uses something. */
export const MESSAGES = new Map(
  ROWS.map(([text, target, reports]) => [
    text,
    { target, read: typeof reports === 'function' ? reports : () => reports },
  ]),
)

/** Messages with variable parts. */
export const VARIABLE_MESSAGES: readonly (readonly [RegExp, ConsensusEventBody])[] = [
  [/^waltrace thread stopped/, { event: 'wal', trouble: 'thread_stopped' }],
  [/^failed to push to wal/, { event: 'wal', trouble: 'push_failed' }],
  [/^local tip over \d+ blocks older than root/, SNAPSHOT_ADVISED],
  [/^statesync reached target/, RUNNING],
  [/(?:^|\s)consensus node crashed/, { event: 'crash' }],
]
