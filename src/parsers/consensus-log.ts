import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { tryJson } from '../core/json.ts'
import { parseU64 } from '../core/units.ts'

/** A parsed line of the consensus log. Null is a field that the line or its version does not have. */
export type ConsensusEvent = { readonly level: Level | null } & ConsensusEventBody

/** Null for lines that are not JSON: Rust's own panic output. */
type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'

type ConsensusEventBody =
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
    }
  | { readonly event: 'vote_created'; readonly round: bigint | null }
  | { readonly event: 'vote_succeeded' }
  | { readonly event: 'start'; readonly step: StartStep }
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

/** Of every start. `waiting`: for the blocks of the root; `database_done`: their state is there, also without statesync. */
type StartStep = 'begun' | 'waiting' | 'database_done' | 'live'

/** `serving` answers other nodes and is healthy; every other step is this node's own statesync. */
type StatesyncStep = 'running' | 'new_target' | 'snapshot_advised' | 'reached' | 'serving'

type BlocksyncStep = 'own' | 'no_peers' | 'serving'

type Fields = Readonly<Record<string, unknown>>
type NetworkErrorKind = 'decrypt' | 'session_timeout' | 'timestamp'

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
  }
}

const statesyncAt = (step: StatesyncStep, target: bigint | null = null): ConsensusEventBody => ({
  event: 'statesync',
  step,
  target,
})
/** Consensus has asked for a state only while its database status is `Started`. */
const stillSyncing = ({ db_status: status, root_seq_num: root }: Fields): ConsensusEventBody =>
  status === 'Started' ? statesyncAt('running', readU64(root)) : { event: 'start', step: 'waiting' }
const newTarget = ({ new_root: root }: Fields): ConsensusEventBody =>
  statesyncAt('new_target', readNamed(root, 'seq_num'))

const WHAT = 'a line of the consensus log'
const LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const
const schema = z.object({ level: z.enum(LEVELS), target: z.string(), fields: z.record(z.string(), z.unknown()) })

/**
 * Parses one line. Null for lines without a known message, which is nearly every line on a node that logs DEBUG: the
 * message is compared before any JSON is parsed. Throws a ParseError for a known message in a line that cannot be
 * parsed.
 */
export const parseConsensusLine = (text: string): ConsensusEvent | null => {
  if (!text.startsWith('{')) return parsePlain(text)
  const message = messageOf(text)
  const known = message === undefined ? undefined : MESSAGES.get(message)
  const variable = message === undefined || known ? null : readVariable(message)
  if (!known && !variable) return parseUnknown(text)
  const { data } = schema.safeParse(tryJson(text))
  if (!data) throw new ParseError(WHAT, 'a whole JSON object with level, target and fields', text)
  const { level, target, fields } = data
  if (variable) return { level, ...variable }
  // The same message, logged by another component.
  if (!known?.target.test(target)) return ofLevel(level)
  const body = known.read(fields)
  if (!body) throw new ParseError(WHAT, `the fields of "${message}"`, text)
  return { level, ...body }
}

const MESSAGE = '"message":"'

/** The message up to its first quote. It stands near the beginning of the line. */
const messageOf = (text: string): string | undefined => {
  const found = text.indexOf(MESSAGE)
  if (found === -1) return /"message"\s*:\s*"([^"]*)"/.exec(text)?.[1]
  const start = found + MESSAGE.length
  const end = text.indexOf('"', start)
  return end === -1 ? text.slice(start) : text.slice(start, end)
}

/** For an unknown message only the level is returned, and only for warnings and errors. */
const parseUnknown = (text: string): ConsensusEvent | null => {
  const [, level] = /"level"\s*:\s*"(WARN|ERROR)"/.exec(text.slice(0, LEVEL_RANGE)) ?? []
  return level === undefined ? null : ofLevel(level)
}

/** The level follows the timestamp, within this number of characters. */
const LEVEL_RANGE = 200

const ofLevel = (level: string): ConsensusEvent | null =>
  level === 'WARN' || level === 'ERROR' ? { level, event: 'other' } : null

const PANIC = /^thread '[^']*'(?: \(\d+\))? panicked at (?:'(.*)', )?([^'].*?):?$/s
/** The only panic whose reason has a known remedy. */
const TOO_FAR_AHEAD = /^high qc too far ahead of block tree root/

const parsePlain = (text: string): ConsensusEvent | null => {
  const level: Level | null = null
  if (TOO_FAR_AHEAD.test(text)) return { level, event: 'too_far_behind' }
  if (!text.startsWith('thread ')) return null
  const [, reason, place] = PANIC.exec(text) ?? []
  return place === undefined ? null : { level, event: 'panic', place, reason: reason ?? null }
}

/** A known message: the pattern of its log target, without the name prefix, and the function that reads its fields. */
interface Message {
  readonly target: RegExp
  /** Null if the fields do not match the message. */
  readonly read: (fields: Fields) => ConsensusEventBody | null
}

const LEDGER = /(?:^|[_:])ledger$/
const CONSENSUS = /(?:^|[_:])consensus/
const STATESYNC = /(?:^|[_:])(?:state|statesync)(?:$|_|:)/
const BLOCKSYNC = /(?:^|[_:])(?:blocksync|consensus|state)/
const ANY = /^/

const always = (body: ConsensusEventBody) => (): ConsensusEventBody => body
const statesync = (step: StatesyncStep, target = STATESYNC): Message => ({ target, read: () => statesyncAt(step) })
const start = (step: StartStep): Message => ({ target: STATESYNC, read: always({ event: 'start', step }) })
const blocksync = (step: BlocksyncStep): Message => ({ target: BLOCKSYNC, read: always({ event: 'blocksync', step }) })
const networkError = (kind: NetworkErrorKind): Message => ({
  target: ANY,
  read: (fields) => ({ event: 'network_error', kind, peer: readPeer(fields) }),
})
const other = (body: ConsensusEventBody, target = ANY): Message => ({ target, read: always(body) })

/** Messages with a fixed text, in every version since v0.11. */
export const MESSAGES: ReadonlyMap<string, Message> = new Map<string, Message>([
  ['committed block', { target: LEDGER, read: committedBlock }],
  ['advancing round', { target: CONSENSUS, read: roundClosed }],
  ['Created new QC', { target: CONSENSUS, read: createdQc }],
  ['local timeout', { target: CONSENSUS, read: localTimeout }],
  ['remote timeout message', { target: CONSENSUS, read: remoteTimeout }],
  ['proposal message', { target: CONSENSUS, read: proposal }],
  ['sending vote', { target: CONSENSUS, read: ({ round }) => ({ event: 'vote_created', round: readU64(round) }) }],
  ['vote successful', other({ event: 'vote_succeeded' }, CONSENSUS)],

  ['starting up, syncing', start('begun')],
  ['still syncing...', { target: STATESYNC, read: stillSyncing }],
  ['done db statesync', start('database_done')],
  ['done syncing, initializing consensus', start('live')],
  ['setting new statesync target', { target: /(?:^|[_:])(?:state|statesync|consensus)/, read: newTarget }],
  ['starting from empty state, consider fetching a snapshot first', statesync('snapshot_advised')],
  ['updating statesync target', statesync('running')],
  ['applying statesync response', statesync('running')],
  ['statesync client thread applied response', statesync('running')],
  ['done statesync', statesync('reached')],
  ['sending request', statesync('running', /statesync/)],
  ['sending response', statesync('serving', /statesync/)],
  ['received SyncDone', statesync('serving', /statesync/)],

  ...[
    'self request',
    'self initiating payload request',
    'header not found locally, sending request',
    'payload not found locally, sending request',
    'header request timed out, sending new request',
    'payload request timed out, sending new request',
    'headers response verification passed',
    'headers response verification failed',
    'headers response not available',
    'received payload response',
    'self response from ledger',
    'self request timeout',
    'self cancel request',
    'received invalid self request',
  ].map((text): [string, Message] => [`blocksync: ${text}`, blocksync('own')]),
  ...['header', 'payload']
    .flatMap((part) => [`${part} not found locally`, `${part} request timed out`])
    .map((text): [string, Message] => [`blocksync: ${text}, but no peers - retrying later`, blocksync('no_peers')]),
  ['blocksync: peer headers request', blocksync('serving')],
  ['blocksync: peer payload request', blocksync('serving')],
  ['consensus blocksyncing blocks up to root', blocksync('own')],
  ['consensus blocksyncing tip', blocksync('own')],
  ['statesync blocksyncing blocks', blocksync('own')],

  ['failed to decrypt message', networkError('decrypt')],
  ['session timeout expired', networkError('session_timeout')],
  ['Timestamp validation failed', networkError('timestamp')],
  ["no eth_header found, can't propose", other({ event: 'execution_lagging' }, CONSENSUS)],
  ['network has different vote/proposal pacing than us', other({ event: 'pacing_differs' }, CONSENSUS)],
  ['replaced local configs with remote configs', other({ event: 'configs_replaced' })],
  ['received SIGTERM, exiting...', other({ event: 'stopping' })],
  ['parent executor returned none!', other({ event: 'crash', reason: 'parent executor' })],
])

/** Messages with variable parts. */
const VARIABLE: readonly (readonly [pattern: RegExp, read: (rest: string) => ConsensusEventBody])[] = [
  [/^waltrace thread stopped/, always({ event: 'wal', trouble: 'thread_stopped' })],
  [/^failed to push to wal/, always({ event: 'wal', trouble: 'push_failed' })],
  [/^received statesync request/, () => statesyncAt('serving')],
  [/^local tip over \d+ blocks older than root/, () => statesyncAt('snapshot_advised')],
  [/^statesync reached target/, () => statesyncAt('running')],
  [/^starting \S+-bft with version (\S+)/, (version) => ({ event: 'starting', version })],
  [/(?:^|\s)consensus node crashed/, always({ event: 'crash', reason: 'consensus' })],
]
/** A fast test: nearly no message is one of these. */
const VARIABLE_CANDIDATE =
  /^(?:waltrace|failed to push|statesync reached|received statesync|local tip over|starting \S+-bft)|consensus node crashed/

const readVariable = (message: string): ConsensusEventBody | null => {
  if (!VARIABLE_CANDIDATE.test(message)) return null
  for (const [pattern, read] of VARIABLE) {
    const match = pattern.exec(message)
    if (match) return read(match[1] ?? '')
  }
  return null
}

const BEGINNINGS = ['waltrace', 'failed to push to wal', 'statesync reached', 'received statesync', 'local tip over ']

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/**
 * The pattern for `journalctl --grep`: lines that do not match, nearly all on a node that logs DEBUG, are not read.
 * Lines that are not JSON are panics, and messages of systemd and journald about the unit. Anchored at the beginning it
 * takes a third of the time; one more alternative at its front makes it 40 % slower. It contains a capital letter, so
 * matching is case-sensitive. `more`: beginnings of additional messages to include.
 */
export const consensusLogPattern = (more: readonly string[] = []): string =>
  '^(?:[^{]|.{0,200}?"(?:level":"(?:WARN|ERROR)"|message":"(?:' +
  [...MESSAGES.keys(), ...BEGINNINGS, ...more].map(escape).join('|') +
  '|starting [^" ]+-bft|[^"]*consensus node crashed)))'

export const CONSENSUS_LOG_PATTERN = consensusLogPattern()
