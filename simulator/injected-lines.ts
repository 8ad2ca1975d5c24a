import { renderLogLine, type Steady } from './consensus/log-lines.ts'
import { CONSENSUS_TEXTS, type MessageText, RPC_TEXTS } from './injected-texts.ts'
import type { NodeSubject } from './subject.ts'
import type { Draft } from './journal/entry.ts'
import { serviceEntry } from './journal/journal.ts'
import { directive, type Directive, linesPerSecond, oneOf, setIn, taking } from './scenario/directives.ts'
import type { Change, Effect } from './scenario/timeline.ts'
import { REPEATED, type Repeated, REPEATED_LINES } from './repeated-lines.ts'
import { endService, pidOf } from './services/service.ts'

declare module './scenario/timeline.ts' {
  interface Condition {
    readonly injectedLines: InjectedLines
  }
}

const wordsOf = <Word extends string>(texts: Readonly<Record<Word, MessageText>>): readonly Word[] =>
  Object.keys(texts).filter((word): word is Word => word in texts)

/** Log lines of consensus that a scenario can inject. */
export const CONSENSUS_MESSAGES = [
  'wal_stopped',
  'wal_push_failed',
  'consensus_crashed',
  'parent_executor_gone',
  'slow_executor',
  'clock_rejected',
  'pacing_mismatch',
  'cannot_propose',
  'snapshot_advised',
  'start_refused',
  'keystore_rejected',
  'config_rejected',
  'config_fetch_failed',
  'validators_unknown',
  'forkpoint_old',
  'files_not_written',
  'metrics_not_started',
  'triedb_unavailable',
  'triedb_stats_missing',
  'triedb_without_cache',
  'triedb_overloaded',
  'triedb_read_failed',
  'wal_not_started',
  'wal_lagging',
  'consensus_invariant',
  'result_not_coherent',
  'state_root_mismatch',
  'statesync_backlogged',
  'txpool_stopped',
  'stream_ended',
  'egress_full',
  'udp_buffers',
  'buffer_ring',
  'accept_failed',
  'name_record_invalid',
  'address_unresolved',
  ...wordsOf(CONSENSUS_TEXTS),
] as const
/** Log lines of execution that a scenario can inject. */
export const EXECUTION_MESSAGES = [
  'assertion',
  'abort',
  'block_failed',
  'result_mismatch',
  'slow_commit',
  'event_ring',
  'io_uring',
  'virtual_offset',
  'exception',
  'caught_exception',
  'history_shortened',
  'timeline_missing',
  'db_old_format',
  'db_hard_reset',
  'db_dirty',
  'disk_full',
  'fatal',
  'memory_corrupted',
  'db_corrupt',
  'db_not_opened',
  'db_encoding',
  'primary_encoding',
  'db_io_failed',
  'blocks_out_of_order',
  'huge_pages_missing',
  'virtual_offset_used_up',
  'consensus_disconnected',
] as const
/** Log lines of the RPC that a scenario can inject. */
export const RPC_MESSAGES = wordsOf(RPC_TEXTS)

type InjectedLine =
  | { readonly role: 'bft'; readonly message: (typeof CONSENSUS_MESSAGES)[number]; readonly atMs: number }
  | { readonly role: 'execution'; readonly message: (typeof EXECUTION_MESSAGES)[number]; readonly atMs: number }
  | { readonly role: 'rpc'; readonly message: (typeof RPC_MESSAGES)[number]; readonly atMs: number }

/** Log lines that a scenario injects in addition to those of normal operation. */
export interface InjectedLines {
  /** The line injected last. */
  readonly last: InjectedLine | undefined
  /** A line of consensus at a constant rate. */
  readonly repeated: (Steady & { readonly message: Repeated }) | undefined
  /** While other nodes send messages that cannot be read. */
  readonly networkErrors: Steady | undefined
}

export const noInjectedLines: InjectedLines = { last: undefined, repeated: undefined, networkErrors: undefined }

const inject = setIn('injectedLines')

/** How often a node of v0.14.5 logs that the write-ahead log is not written. */
const WAL_LINES_PER_SECOND = 250
/** A burst of lines that others cause. */
const REPEATED_PER_SECOND = 10
const SIGABRT = 6

const asserts: Effect = (condition, atMs) => {
  const { services, injectedLines } = condition
  const exit = { atMs, code: 'dumped', status: SIGABRT, requested: false } as const
  return {
    ...condition,
    injectedLines: { ...injectedLines, last: { role: 'execution', message: 'assertion', atMs } },
    services: { ...services, execution: endService(services.execution, exit) },
  }
}

export const injectedLineDirectives: readonly Directive[] = [
  directive(
    'bft logs',
    'consensus writes that line once, wal_stopped until `bft calms`',
    taking(oneOf(CONSENSUS_MESSAGES), (message) =>
      inject((_, atMs) =>
        message === 'wal_stopped'
          ? { repeated: { message, fromMs: atMs, perSecond: WAL_LINES_PER_SECOND } }
          : { last: { role: 'bft', message, atMs } },
      ),
    ),
  ),
  directive(
    'bft repeats',
    'consensus writes that line ten times a second until `bft calms`',
    taking(oneOf(REPEATED), (message) =>
      inject((_, atMs) => ({ repeated: { message, fromMs: atMs, perSecond: REPEATED_PER_SECOND } })),
    ),
  ),
  directive('bft calms', 'the lines that consensus repeats end', inject({ repeated: undefined })),
  directive(
    'execution logs',
    'execution writes that line and continues',
    taking(oneOf(EXECUTION_MESSAGES), (message) =>
      inject((_, atMs) => ({ last: { role: 'execution', message, atMs } })),
    ),
  ),
  directive(
    'rpc logs',
    'the RPC writes that line and continues',
    taking(oneOf(RPC_MESSAGES), (message) => inject((_, atMs) => ({ last: { role: 'rpc', message, atMs } }))),
  ),
  directive('execution asserts', 'the process writes a backtrace with an assertion and aborts', asserts),
  directive(
    'network noise',
    'consensus logs that number of errors per second about messages of other nodes',
    taking(linesPerSecond, (perSecond) => inject((_, atMs) => ({ networkErrors: { fromMs: atMs, perSecond } }))),
  ),
  directive('network calms', 'these errors end', inject({ networkErrors: undefined })),
]

const NODE = 'node'
const STATE = 'consensus_state'

const error = (target: string, message: string): MessageText => ({ level: 'ERROR', target, message })
const warn = (target: string, message: string): MessageText => ({ level: 'WARN', target, message })
/** Texts of the injected lines of consensus and of the RPC. */
const LINES: Readonly<Record<(typeof CONSENSUS_MESSAGES | typeof RPC_MESSAGES)[number], MessageText>> = {
  wal_stopped: REPEATED_LINES.wal_stopped,
  wal_push_failed: {
    level: 'ERROR',
    target: NODE,
    message: 'failed to push to wal',
    fields: { err: 'Os { code: 28, kind: StorageFull, message: "No space left on device" }' },
  },
  consensus_crashed: error(NODE, 'PREFIX consensus node crashed: ()'),
  parent_executor_gone: error(NODE, 'parent executor returned none!'),
  slow_executor: warn(NODE, 'long time to execute commands'),
  clock_rejected: REPEATED_LINES.clock_rejected,
  pacing_mismatch: warn(STATE, 'network has different vote/proposal pacing than us'),
  cannot_propose: warn(STATE, "no eth_header found, can't propose"),
  snapshot_advised: {
    level: 'WARN',
    target: 'state',
    message: 'local tip over 30000 blocks older than root. consider restoring from snapshot first',
    fields: { latest_finalized_block: '61118402', delay_seq_num: '61158402' },
  },
  start_refused: 'error: No such file or directory (os error 2)',
  keystore_rejected: 'error: secp secret must be encoded in keystore json',
  config_rejected: 'error: TOML parse error at line 14, column 1',
  config_fetch_failed: 'error: failed to fetch local and remote configs, local_err=Os { code: 2 }',
  validators_unknown: 'validators config missing validator set for epoch 1204',
  forkpoint_old: warn(NODE, 'remote forkpoint over 5000 rounds older than local forkpoint'),
  files_not_written: warn(STATE, 'failed to write forkpoint to toml string'),
  metrics_not_started: error(NODE, 'failed to start metrics server: Address already in use (os error 98)'),
  triedb_unavailable: warn(NODE, 'triedb unavailable, migration-phase and disk-usage metrics will not be reported'),
  triedb_stats_missing: warn(NODE, 'no triedb stats sample; check that --triedb-stats-path names the same file'),
  triedb_without_cache: warn(NODE, 'state backend has no trie-node cache, its metrics will not be reported'),
  triedb_overloaded: warn('triedb_utils', 'TrieDB poll count went over limit for 10000 lookups'),
  triedb_read_failed: error('triedb_utils', 'error decoding result from db'),
  wal_not_started: error(NODE, 'failed to initialize wal'),
  wal_lagging: REPEATED_LINES.wal_lagging,
  consensus_invariant: error(STATE, 'invariant broken: round_recovery.tc.high_extend is not tc'),
  result_not_coherent: REPEATED_LINES.result_not_coherent,
  state_root_mismatch: "state root doesn't match, are peers trusted?",
  statesync_backlogged: REPEATED_LINES.statesync_backlogged,
  txpool_stopped: warn('eth_txpool_executor', 'command channel was dropped, shutting down txpool executor'),
  stream_ended: error('raptorcast', 'Primary RaptorCast stream ended unexpectedly.'),
  egress_full: warn('dataplane', 'udp egress channel full, dropping message'),
  udp_buffers:
    'unable to set udp receive buffer size to 62500000. Got 212992 instead. Set net.core.rmem_max to at least 62500000',
  buffer_ring: warn('dataplane', 'failed to create multishot buffer ring, falling back to single-shot UDP receiver'),
  accept_failed: warn('dataplane', 'error accepting tcp connection'),
  name_record_invalid: 'self name record signature mismatch',
  address_unresolved: warn(NODE, 'Unable to resolve'),
  ...CONSENSUS_TEXTS,
  ...RPC_TEXTS,
}

/** A log line as level, source location and text; or raw text. */
type ExecutionLine = readonly [level: string, place: string, text: string] | string

const ADDRESSES = ['0x5581b3e0c4d1', '0x5581b3dfa2e8', '0x5581b3df7c40'] as const
const BACKTRACE = [
  ...ADDRESSES.map((address) => `      ${address}`),
  '   Attempting async signal unsafe human readable stacktrace (this may hang):',
  `      ${ADDRESSES[0]}: PREFIX_assertion_failed`,
  `      ${ADDRESSES[1]}: PREFIX::runloop`,
  `      ${ADDRESSES[2]}: main`,
]
const PLACE = 'PREFIX: /usr/src/PREFIX-execution/category/execution/runloop.cpp:216: void PREFIX::runloop(...)'

/** Texts of the injected lines of execution, with PREFIX for the name prefix. journald drops blank lines. */
const EXECUTION_LINES: Readonly<Record<(typeof EXECUTION_MESSAGES)[number], readonly ExecutionLine[]>> = {
  assertion: [
    ...BACKTRACE,
    `${PLACE}: Assertion 'block_cache.find(parent_id)' failed.`,
    'assertion failure message: blocks diverge: the parent of the proposed block is not known',
  ],
  abort: [...BACKTRACE, `${PLACE}: PREFIX_ABORT called.`, 'abort message: no block to begin with'],
  block_failed: [['ERROR', 'runloop.cpp:188', 'block 61240118 failed with: wrong state root']],
  result_mismatch: [['ERROR', 'validate.cpp:77', 'Delayed execution result mismatch for block 61240118']],
  slow_commit: [['WARNING', 'block_db.cpp:91', 'Slow block commit detected - block 61240118: 1204331µs']],
  event_ring: [['ERROR', 'event_ring.cpp:52', 'event library error -- PREFIX_event_ring_mmap: no memory']],
  io_uring: [...BACKTRACE, 'FATAL: io_uring_queue_init_params failed: Operation not permitted'],
  virtual_offset: [['WARNING', 'update_aux.cpp:911', 'Virtual offset space is running out (insertion count: 1048000)']],
  exception: [['ERROR', 'main.cpp:594', 'PrefixException: invalid argument']],
  caught_exception: [['INFO', 'evm.cpp:140', 'PREFIX assert throw: code hash of no account']],
  history_shortened: [
    ['INFO', 'update_aux.cpp:702', 'Adjust db history length down from 528916 to 520000. Current disk usage: 0.8013'],
  ],
  timeline_missing: [
    ...BACKTRACE,
    `${PLACE}: Assertion 'primary_is_page || secondary_active' failed.`,
    'assertion failure message: live PREFIX requires a page-encoded timeline (as primary or secondary) on PREFIX_mainnet; primary_is_page=0 secondary_active=0',
  ],
  db_old_format: [
    "FATAL: DB is on older format (magic=PREFIX007) and this binary expects PREFIX008. Run 'PREFIX-mpt --upgrade --storage <path>' before starting PREFIX services.",
  ],
  db_hard_reset: [
    ...BACKTRACE,
    `${PLACE}: Assertion 'db.is_empty()' failed.`,
    'database must be hard reset when loading snapshot',
  ],
  db_dirty: ['FATAL: DB metadata was closed dirty, but not opened for healing'],
  disk_full: [['ERROR', 'file_io.cpp:64', 'cannot write the proposal: No space left on device']],
  memory_corrupted: ['double free or corruption (!prev)'],
  fatal: ["terminate called after throwing an instance of 'std::bad_alloc'"],
  db_corrupt: ['abort message: Detected corruption. Last root offset is in free list.'],
  db_not_opened: ['assertion failure message: open failed due to No such file or directory'],
  primary_encoding: [`${PLACE}: Assertion 'primary_db.is_page_encoded() == traits::mip_8_active()' failed.`],
  db_encoding: ['assertion failure message: secondary timeline must be page-encoded'],
  db_io_failed: ['assertion failure message: msync of metadata copy 0 failed: Input/output error (errno=5)'],
  blocks_out_of_order: [
    ['ERROR', 'runloop.cpp:136', 'Validated blocks not increasing. Expected block 61240119, got block 61240121'],
  ],
  virtual_offset_used_up: [
    'Chunk count overflow detected. The 20-bit address space for chunk count has been exhausted. Please perform a database reset.',
  ],
  consensus_disconnected: [['WARNING', 'statesync_server_network.hpp:179', 'connection closed, reconnecting']],
  huge_pages_missing: [
    ['WARNING', 'event.cpp:277', 'file system hosting event ring file `/mnt/ring` does not support MAP_HUGETLB!'],
  ],
}

/** Renders a line as the program prints it. */
const renderExecutionLine = (
  line: ExecutionLine,
  { atMs, pid, prefix }: { readonly atMs: number; readonly pid: number; readonly prefix: string },
): string => {
  const at = new Date(atMs).toISOString().replace('T', ' ').replace('Z', '000000')
  const text = typeof line === 'string' ? line : `${at} [${pid}] ${line[1]} LOG_${line[0]}\t${line[2]}`
  return text
    .replaceAll('PREFIX_ABORT', `${prefix.toUpperCase()}_ABORT`)
    .replaceAll('magic=PREFIX', `magic=${prefix.toUpperCase()}`)
    .replaceAll('expects PREFIX', `expects ${prefix.toUpperCase()}`)
    .replaceAll('PREFIX', prefix)
    .replaceAll('PrefixException', `${prefix.slice(0, 1).toUpperCase()}${prefix.slice(1)}Exception`)
}

/** The line that a scenario injects at a change; none if the program does not run. */
export function* injectedEntries(
  subject: Pick<NodeSubject, 'node' | 'prefix'>,
  { atMs, before, after }: Change,
): Generator<Draft> {
  const { last } = after.injectedLines
  if (!last || last === before.injectedLines.last) return
  const service = before.services[last.role]
  if (service.state !== 'active') return
  const { prefix } = subject
  const program = { bft: `${prefix}-node`, execution: prefix, rpc: `${prefix}-rpc` }[last.role]
  for (const text of textsOf(last, { atMs, prefix, pid: pidOf(service) })) {
    yield serviceEntry(subject, service, { atMs, text, program })
  }
}

const textsOf = (
  injected: InjectedLine,
  context: { readonly atMs: number; readonly pid: number; readonly prefix: string },
): readonly string[] => {
  if (injected.role === 'execution') {
    return EXECUTION_LINES[injected.message].map((line) => renderExecutionLine(line, context))
  }
  const template = LINES[injected.message]
  if (typeof template === 'string') return [template]
  const message = template.message.replace('PREFIX', context.prefix)
  return [renderLogLine(context.prefix, { ...template, message, atMs: context.atMs })]
}
