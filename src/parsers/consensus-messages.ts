import { type NodeSource, own, received } from '../domain/node-source.ts'
import { parseU64 } from '../core/units.ts'

/** What a message of consensus reports. Null is a field that the line or its version does not have. */
export type ConsensusEventBody =
  | { readonly event: 'committed_block'; readonly block: bigint; readonly transactions: bigint | null }
  /** A round ended, by a quorum certificate or a timeout certificate. `round` is the certificate's round. */
  | { readonly event: 'round_closed'; readonly by: 'qc' | 'tc'; readonly round: bigint; readonly epoch: bigint }
  | { readonly event: 'qc_created'; readonly round: bigint; readonly epoch: bigint | null }
  | { readonly event: 'local_timeout'; readonly round: bigint; readonly leader: string | null }
  | { readonly event: 'remote_timeout'; readonly round: bigint | null }
  | {
      readonly event: 'proposal'
      readonly round: bigint
      readonly epoch: bigint | null
      readonly seqNum: bigint | null
      readonly author: string | null
      /** The round of its block: an earlier one if the block is proposed again after a timeout. */
      readonly blockRound: bigint | null
    }
  | { readonly event: 'vote_created'; readonly round: bigint | null }
  | { readonly event: 'vote_succeeded' }
  | { readonly event: 'start'; readonly step: StartStep }
  | {
      readonly event: 'statesync'
      readonly step: StatesyncStep
      readonly target: bigint | null
      /** The requests of other nodes that wait, and those that this node answers; only in the line about a request. */
      readonly requests?: { readonly pending: bigint; readonly inProgress: bigint }
    }
  | { readonly event: 'blocksync'; readonly step: BlocksyncStep }
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

/** Each start has these phases. `waiting`: for the blocks of the root. `database_done`: their state is present, also without statesync. */
type StartStep = 'begun' | 'waiting' | 'database_done' | 'live'

/** `serving` answers other nodes and is healthy; every other step is this node's own statesync. */
type StatesyncStep = 'running' | 'new_target' | 'snapshot_advised' | 'reached' | 'serving'

type BlocksyncStep = 'own' | 'no_peers' | 'serving'

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
const readNamed = (text: unknown, name: string): bigint | null => {
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

const committedBlock = ({ block_num: number, num_tx: transactions }: Fields): ConsensusEventBody | null => {
  const block = readU64(number)
  return block === null ? null : { event: 'committed_block', block, transactions: readU64(transactions) }
}

const createdQc = ({ round: number, epoch }: Fields): ConsensusEventBody | null => {
  const round = readU64(number)
  return round === null ? null : { event: 'qc_created', round, epoch: readU64(epoch) }
}

const localTimeout = ({ round: number, leader }: Fields): ConsensusEventBody | null => {
  const round = readU64(number)
  return round === null ? null : { event: 'local_timeout', round, leader: readKey(leader) }
}

const remoteTimeout = (fields: Fields): ConsensusEventBody => {
  const text = Object.values(fields).find((value) => readNamed(value, 'round') !== null)
  return { event: 'remote_timeout', round: readU64(fields['round']) ?? readNamed(text, 'round') }
}

const proposal = ({ author, proposal: text }: Fields): ConsensusEventBody | null => {
  const round = readNamed(text, 'proposal_round')
  if (round === null) return null
  return {
    event: 'proposal',
    round,
    epoch: readNamed(text, 'proposal_epoch'),
    seqNum: readNamed(text, 'seq_num'),
    author: readKey(author),
    blockRound: readNamed(text, 'block_round'),
  }
}

/** Null if the fields do not match the message. */
type ReadFields = (fields: Fields) => ConsensusEventBody | null

const start = (step: StartStep): ConsensusEventBody => ({ event: 'start', step })
const statesync = (step: StatesyncStep, target: bigint | null = null): ConsensusEventBody => ({
  event: 'statesync',
  step,
  target,
})
/** Consensus has asked for a state only while its database status is `Started`. */
const stillSyncing = ({ db_status: status, root_seq_num: root }: Fields): ConsensusEventBody =>
  status === 'Started' ? statesync('running', readU64(root)) : start('waiting')
const newTarget = ({ new_root: root }: Fields): ConsensusEventBody =>
  statesync('new_target', readNamed(root, 'seq_num'))
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

const MAIN = 'monad-bft/monad-node/src/main.rs'
const STATE = 'monad-bft/monad-consensus-state/src/lib.rs'
const LIVE = 'monad-bft/monad-state/src/lib.rs'
const PACEMAKER = 'monad-bft/monad-consensus/src/pacemaker.rs'
const STATESYNC_FILES = 'monad-bft/monad-statesync-executor/src'
const CLIENT = `${STATESYNC_FILES}/client/mod.rs`
const REQUESTS = `${STATESYNC_FILES}/client/outbound_requests.rs`
const IPC = `${STATESYNC_FILES}/ipc.rs`
const EXECUTOR = `${STATESYNC_FILES}/lib.rs`
const whenReady = own(LIVE, 'maybe_start_consensus')
const whenProposing = own(STATE, 'try_propose')

/** A known message: its text, the pattern of its log target without the name prefix, what it reports, and its sources. */
type Row = readonly [string, target: RegExp, reports: ConsensusEventBody | ReadFields, readonly NodeSource[]]

/** Messages about blocksync, each with the function that logs it. */
const blocksync = (step: BlocksyncStep, functions: Readonly<Record<string, string>>, sources = own): readonly Row[] =>
  Object.entries(functions).map(([text, name]) => [
    `blocksync: ${text}`,
    BLOCKSYNC,
    { event: 'blocksync', step },
    sources('monad-bft/monad-blocksync/src/blocksync.rs', name),
  ])
const OWN_BLOCKSYNC: ConsensusEventBody = { event: 'blocksync', step: 'own' }

const ROWS: readonly Row[] = [
  ['committed block', LEDGER, committedBlock, own('monad-bft/monad-ledger/src/lib.rs', 'exec')],
  ['advancing round', CONSENSUS, roundClosed, own(PACEMAKER, 'process_certificate')],
  ['Created new QC', CONSENSUS, createdQc, own('monad-bft/monad-consensus/src/vote_state.rs', 'process_vote')],
  ['local timeout', CONSENSUS, localTimeout, own(STATE, 'handle_timeout_expiry')],
  ['remote timeout message', CONSENSUS, remoteTimeout, received(STATE, 'handle_timeout_message')],
  ['proposal message', CONSENSUS, proposal, received(STATE, 'handle_proposal_message')],
  ['sending vote', CONSENSUS, ofRound('vote_created'), own(STATE, 'send_vote_and_reset_timer')],
  ['vote successful', CONSENSUS, { event: 'vote_succeeded' }, own(STATE, 'try_vote')],

  ['starting up, syncing', STATESYNC, start('begun'), own(LIVE, 'build')],
  ['still syncing...', STATESYNC, stillSyncing, whenReady],
  ['done db statesync', STATESYNC, start('database_done'), own(LIVE, 'update')],
  ['done syncing, initializing consensus', STATESYNC, start('live'), whenReady],
  ['setting new statesync target', NEW_TARGET, newTarget, own('monad-bft/monad-state/src/consensus.rs', 'update')],
  [
    'starting from empty state, consider fetching a snapshot first',
    STATESYNC,
    statesync('snapshot_advised'),
    whenReady,
  ],
  ['updating statesync target', STATESYNC, statesync('running'), own(CLIENT, 'start')],
  ['applying statesync response', STATESYNC, statesync('running'), own(REQUESTS, 'apply_response')],
  ['statesync client thread applied response', STATESYNC, statesync('running'), own(CLIENT, 'start')],
  ['done statesync', STATESYNC, statesync('reached'), own(CLIENT, 'start')],
  ['sending request', PEERS, statesync('running'), own(EXECUTOR, 'poll_next')],
  ['sending response', PEERS, statesync('serving'), received(EXECUTOR, 'poll_next')],
  ['received SyncDone', PEERS, statesync('serving'), received(IPC, 'handle_execution_message')],

  ...blocksync('own', {
    'self request': 'handle_self_request',
    'self initiating payload request': 'try_initiate_payload_requests_for_self',
    'header not found locally, sending request': 'handle_headers_response_for_self',
    'payload not found locally, sending request': 'handle_payload_response_for_self',
    'header request timed out, sending new request': 'handle_timeout',
    'payload request timed out, sending new request': 'handle_timeout',
    'headers response verification passed': 'handle_headers_response_for_self',
    'headers response verification failed': 'handle_headers_response_for_self',
    'headers response not available': 'handle_headers_response_for_self',
    'received payload response': 'handle_payload_response_for_self',
    'self response from ledger': 'handle_ledger_response',
    'self request timeout': 'handle_timeout',
    'self cancel request': 'handle_self_cancel_request',
    'received invalid self request': 'handle_self_request',
  }),
  ...blocksync('no_peers', {
    'header not found locally, but no peers - retrying later': 'handle_headers_response_for_self',
    'header request timed out, but no peers - retrying later': 'handle_timeout',
    'payload not found locally, but no peers - retrying later': 'handle_payload_response_for_self',
    'payload request timed out, but no peers - retrying later': 'handle_timeout',
  }),
  ...blocksync(
    'serving',
    { 'peer headers request': 'handle_peer_request', 'peer payload request': 'handle_peer_request' },
    received,
  ),
  [
    'consensus blocksyncing blocks up to root',
    BLOCKSYNC,
    OWN_BLOCKSYNC,
    own(STATE, 'request_blocks_if_missing_ancestor'),
  ],
  ['consensus blocksyncing tip', BLOCKSYNC, OWN_BLOCKSYNC, own(STATE, 'request_tip_if_missing')],
  [
    'statesync blocksyncing blocks',
    BLOCKSYNC,
    OWN_BLOCKSYNC,
    own('monad-bft/monad-state/src/statesync.rs', 'needs_blocksync'),
  ],

  // Both at DEBUG: any foreign packet causes the first, and any peer that restarts the second.
  [
    'failed to decrypt message',
    ANY,
    networkError('decrypt'),
    received('monad-bft/monad-raptorcast/src/auth/socket.rs', 'recv'),
  ],
  [
    'session timeout expired',
    ANY,
    networkError('session_timeout'),
    received('monad-bft/monad-wireauth/src/session/transport.rs', 'tick'),
  ],
  ['Timestamp validation failed', ANY, networkError('timestamp'), received(STATE, 'try_vote')],
  ["no eth_header found, can't propose", CONSENSUS, ofRound('execution_lagging'), whenProposing],
  ['qc.block_id not coherent, not proposing', CONSENSUS, ofRound('parent_missing'), whenProposing],
  ['tip.block_id not coherent, not reproposing', CONSENSUS, ofRound('parent_missing'), whenProposing],
  [
    'network has different vote/proposal pacing than us',
    CONSENSUS,
    { event: 'pacing_differs' },
    received(STATE, 'try_vote'),
  ],
  [
    'replaced local configs with remote configs',
    ANY,
    { event: 'configs_replaced' },
    own('monad-bft/monad-node/src/state.rs', 'get_latest_configs'),
  ],
  ['received SIGTERM, exiting...', ANY, { event: 'stopping' }, own(MAIN, 'run')],
  ['parent executor returned none!', ANY, { event: 'crash', reason: 'parent executor' }, own(MAIN, 'run')],
]

/** Messages with a fixed text, in every version since v0.11. */
export const MESSAGES = new Map(
  ROWS.map(([text, target, reports, sources]) => [
    text,
    { target, read: typeof reports === 'function' ? reports : () => reports, sources },
  ]),
)

/** From the text that each group of the pattern matched; empty for a group that matched none. */
type ReadGroups = (...groups: string[]) => ConsensusEventBody

const ofRequest: ReadGroups = (pending, inProgress) => {
  const [waiting, answered] = [readU64(pending), readU64(inProgress)]
  const isKnown = waiting !== null && answered !== null
  const requests = isKnown && { requests: { pending: waiting, inProgress: answered } }
  return { event: 'statesync', step: 'serving', target: null, ...requests }
}

const REQUEST = /^received statesync request(?:, num pending (\d{1,20}), in progress (\d{1,20})$)?/

/** Messages with variable parts. */
export const VARIABLE_MESSAGES: readonly (readonly [RegExp, ReadGroups, readonly NodeSource[]])[] = [
  [/^waltrace thread stopped/, () => ({ event: 'wal', trouble: 'thread_stopped' }), own(MAIN, 'run')],
  [/^failed to push to wal/, () => ({ event: 'wal', trouble: 'push_failed' }), own(MAIN, 'run')],
  [REQUEST, ofRequest, received(IPC, 'handle_request')],
  [/^local tip over \d+ blocks older than root/, () => statesync('snapshot_advised'), whenReady],
  [/^statesync reached target/, () => statesync('running'), own(CLIENT, 'start')],
  [/^starting \S+-bft with version (\S+)/, (version = '') => ({ event: 'starting', version }), own(MAIN, 'main')],
  [/(?:^|\s)consensus node crashed/, () => ({ event: 'crash', reason: 'consensus' }), own(MAIN, 'main')],
]
