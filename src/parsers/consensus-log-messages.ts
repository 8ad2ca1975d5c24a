import type { Said } from './consensus-log-events.ts'
import { type Fields, readNamed, readPeer, readU64 } from './consensus-log-fields.ts'
import {
  committedBlock,
  createdQc,
  localTimeout,
  proposal,
  remoteTimeout,
  roundClosed,
} from './consensus-log-readers.ts'

/** A message that we know: where it comes from, without the maker's word, and how its fields are read. */
interface Message {
  readonly target: RegExp
  /** Null when the fields are not those of the message. */
  readonly read: (fields: Fields) => Said | null
}

const LEDGER = /(?:^|[_:])ledger$/
const CONSENSUS = /(?:^|[_:])consensus/
const STATESYNC = /(?:^|[_:])(?:state|statesync)(?:$|_|:)/
const BLOCKSYNC = /(?:^|[_:])(?:blocksync|consensus|state)/
const ANY = /^/

const always = (said: Said) => (): Said => said
const statesync = (
  step: Extract<Said, { event: 'statesync' }>['step'],
  target: (fields: Fields) => bigint | null = () => null,
): Message => ({
  target: STATESYNC,
  read: (fields) => ({ event: 'statesync', step, target: target(fields) }),
})
const blocksync = (step: Extract<Said, { event: 'blocksync' }>['step']): Message => ({
  target: BLOCKSYNC,
  read: always({ event: 'blocksync', step }),
})
const networkError = (kind: Extract<Said, { event: 'network_error' }>['kind']): Message => ({
  target: ANY,
  read: (fields) => ({ event: 'network_error', kind, peer: readPeer(fields) }),
})
const other = (said: Said, target = ANY): Message => ({ target, read: always(said) })

/** Messages that are always the same, in every version since v0.11. */
export const MESSAGES: ReadonlyMap<string, Message> = new Map<string, Message>([
  ['committed block', { target: LEDGER, read: committedBlock }],
  ['advancing round', { target: CONSENSUS, read: roundClosed }],
  ['Created new QC', { target: CONSENSUS, read: createdQc }],
  ['local timeout', { target: CONSENSUS, read: localTimeout }],
  ['remote timeout message', { target: CONSENSUS, read: remoteTimeout }],
  ['proposal message', { target: CONSENSUS, read: proposal }],
  [
    'sending vote',
    { target: CONSENSUS, read: ({ round }) => ({ event: 'vote_sent', round: readU64(round) }) },
  ],
  ['vote successful', other({ event: 'vote_succeeded' }, CONSENSUS)],

  ['starting up, syncing', statesync('begun')],
  ['still syncing...', statesync('running', ({ root_seq_num: root }) => readU64(root))],
  ['done db statesync', statesync('database_done', ({ n }) => readU64(n))],
  ['done syncing, initializing consensus', statesync('done')],
  [
    'setting new statesync target',
    {
      target: /(?:^|[_:])(?:state|statesync|consensus)/,
      read: ({ new_root: root }) => ({
        event: 'statesync',
        step: 'new_target',
        target: readNamed(root, 'seq_num'),
      }),
    },
  ],
  [
    'local tip over 30000 blocks older than root. consider restoring from snapshot first',
    statesync('snapshot_advised'),
  ],
  ['starting from empty state, consider fetching a snapshot first', statesync('snapshot_advised')],
  ['updating statesync target', statesync('running')],
  ['applying statesync response', statesync('running')],
  ['statesync client thread applied response', statesync('running')],
  ['done statesync', statesync('database_done')],
  ['sending request', { ...statesync('running'), target: /statesync/ }],
  ['sending response', { ...statesync('serving'), target: /statesync/ }],
  ['received statesync request', statesync('serving')],
  ['received SyncDone', { ...statesync('serving'), target: /statesync/ }],

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
    .map((text): [string, Message] => [
      `blocksync: ${text}, but no peers - retrying later`,
      blocksync('no_peers'),
    ]),
  ['blocksync: peer headers request', blocksync('serving')],
  ['blocksync: peer payload request', blocksync('serving')],
  ['consensus blocksyncing blocks up to root', blocksync('own')],
  ['consensus blocksyncing tip', blocksync('own')],
  ['statesync blocksyncing blocks', blocksync('own')],

  ['failed to decrypt message', networkError('decrypt')],
  ['session timeout expired', networkError('session_timeout')],
  ['Timestamp validation failed', networkError('timestamp')],
  ["no eth_header found, can't propose", other({ event: 'execution_lagging' }, CONSENSUS)],
  [
    'network has different vote/proposal pacing than us',
    other({ event: 'pacing_differs' }, CONSENSUS),
  ],
  ['replaced local configs with remote configs', other({ event: 'configs_replaced' })],
  ['received SIGTERM, exiting...', other({ event: 'stopping' })],
  ['parent executor returned none!', other({ event: 'crash', reason: 'parent executor' })],
])

/** Messages with something of their own in them. */
const VARIABLE: readonly (readonly [pattern: RegExp, read: (rest: string) => Said])[] = [
  [/^waltrace thread stopped/, always({ event: 'wal', trouble: 'thread_stopped' })],
  [/^failed to push to wal/, always({ event: 'wal', trouble: 'push_failed' })],
  [/^statesync reached target/, always({ event: 'statesync', step: 'running', target: null })],
  [/^starting \S+-bft with version (\S+)/, (version) => ({ event: 'starting', version })],
  [/(?:^|\s)consensus node crashed/, always({ event: 'crash', reason: 'consensus' })],
]
/** One look at a message tells whether one of those can be meant: nearly none is. */
const MAYBE_VARIABLE =
  /^(?:waltrace|failed to push|statesync reached|starting \S+-bft)|consensus node crashed/

export const readVariable = (message: string): Said | null => {
  if (!MAYBE_VARIABLE.test(message)) return null
  for (const [pattern, read] of VARIABLE) {
    const match = pattern.exec(message)
    if (match) return read(match[1] ?? '')
  }
  return null
}

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/**
 * What journalctl may leave out is what does not match this: nearly everything on a node that logs
 * DEBUG. Lines that are not JSON are panics, and what systemd and journald say of the unit. Bound to
 * the beginning it takes a third of the time, and one alternative more at its front two fifths longer.
 * With a capital letter in it, case matters. `more`: beginnings of messages that are wanted, too.
 */
export const consensusLogPattern = (more: readonly string[] = []): string =>
  '^(?:[^{]|.{0,200}?"(?:level":"(?:WARN|ERROR)"|message":"(?:' +
  [...MESSAGES.keys(), 'waltrace', 'failed to push to wal', 'statesync reached target', ...more]
    .map(escape)
    .join('|') +
  '|starting [^" ]+-bft|[^"]*consensus node crashed)))'

export const CONSENSUS_LOG_PATTERN = consensusLogPattern()
