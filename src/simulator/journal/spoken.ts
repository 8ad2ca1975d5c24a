import type { CONSENSUS_SAYS, EXECUTION_SAYS } from '../scenario/logs.ts'
import type { LogLine } from './log-line.ts'

type Words = Omit<LogLine, 'atMs'>

const NODE = 'node'
const STATE = 'consensus_state'

/** How consensus words its troubles. */
export const consensusWords: Readonly<Record<(typeof CONSENSUS_SAYS)[number], Words>> = {
  wal_stopped: { level: 'ERROR', target: 'wal::events', message: 'waltrace thread stopped' },
  wal_push_failed: {
    level: 'ERROR',
    target: NODE,
    message: 'failed to push to wal',
    fields: { err: 'Os { code: 28, kind: StorageFull, message: "No space left on device" }' },
  },
  consensus_crashed: { level: 'ERROR', target: NODE, message: 'PREFIX consensus node crashed: ()' },
  parent_executor_gone: {
    level: 'ERROR',
    target: NODE,
    message: 'parent executor returned none!',
  },
  slow_executor: {
    level: 'WARN',
    target: NODE,
    message: 'long time to execute commands',
    fields: { elapsed: '612.44ms' },
  },
  clock_rejected: {
    level: 'WARN',
    target: STATE,
    message: 'Timestamp validation failed',
    fields: { author: '02c7' },
  },
  pacing_mismatch: {
    level: 'WARN',
    target: STATE,
    message: 'network has different vote/proposal pacing than us',
  },
  cannot_propose: {
    level: 'WARN',
    target: STATE,
    message: "no eth_header found, can't propose",
  },
  snapshot_advised: {
    level: 'WARN',
    target: 'state',
    message: 'local tip over 30000 blocks older than root. consider restoring from snapshot first',
    fields: { latest_finalized_block: '61118402', delay_seq_num: '61158402' },
  },
}

/** A line that a logger wrote, as level, place and text; or text as it stands. */
type Line = readonly [level: string, place: string, text: string] | string

const ADDRESSES = ['0x5581b3e0c4d1', '0x5581b3dfa2e8', '0x5581b3df7c40'] as const
const BACKTRACE = [
  ...ADDRESSES.map((address) => `      ${address}`),
  '   Attempting async signal unsafe human readable stacktrace (this may hang):',
  `      ${ADDRESSES[0]}: PREFIX_assertion_failed`,
  `      ${ADDRESSES[1]}: PREFIX::runloop`,
  `      ${ADDRESSES[2]}: main`,
]
const PLACE =
  'PREFIX: /usr/src/PREFIX-execution/category/execution/runloop.cpp:216: void PREFIX::runloop(...)'

/** How execution words them, with PREFIX for the maker's word. journald drops the blank lines in between. */
export const executionWords: Readonly<Record<(typeof EXECUTION_SAYS)[number], readonly Line[]>> = {
  assertion: [
    ...BACKTRACE,
    `${PLACE}: Assertion 'block_cache.find(parent_id)' failed.`,
    'assertion failure message: blocks diverge: the parent of the proposed block is not known',
  ],
  abort: [...BACKTRACE, `${PLACE}: PREFIX_ABORT called.`, 'abort message: no block to begin with'],
  block_failed: [['ERROR', 'runloop.cpp:188', 'block 61240118 failed with: wrong state root']],
  result_mismatch: [
    ['ERROR', 'validate.cpp:77', 'Delayed execution result mismatch for block 61240118'],
  ],
  slow_commit: [
    ['WARNING', 'block_db.cpp:91', 'Slow block commit detected - block 61240118: 1204331µs'],
  ],
  event_ring: [
    ['ERROR', 'event_ring.cpp:52', 'event library error -- PREFIX_event_ring_mmap: no memory'],
  ],
  io_uring: [...BACKTRACE, 'FATAL: io_uring_queue_init_params failed: Operation not permitted'],
  virtual_offset: [
    [
      'WARNING',
      'update_aux.cpp:911',
      'Virtual offset space is running out (insertion count: 1048000)',
    ],
  ],
  exception: [['ERROR', 'fiber.cpp:30', 'PrefixException: fiber ended by invalid argument']],
  caught_exception: [['INFO', 'evm.cpp:140', 'PREFIX assert throw: code hash of no account']],
  history_shortened: [
    [
      'INFO',
      'update_aux.cpp:702',
      'Adjust db history length down from 528916 to 520000. Current disk usage: 0.8013',
    ],
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
  fatal: ["terminate called after throwing an instance of 'std::bad_alloc'"],
}

/** A line as it comes from the program. */
export const renderExecutionLine = (
  line: Line,
  { atMs, pid, prefix }: { readonly atMs: number; readonly pid: number; readonly prefix: string },
): string => {
  const at = new Date(atMs).toISOString().replace('T', ' ').replace('Z', '000000')
  const text =
    typeof line === 'string' ? line : `${at} [${pid}] ${line[1]} LOG_${line[0]}\t${line[2]}`
  return text
    .replaceAll('PREFIX_ABORT', `${prefix.toUpperCase()}_ABORT`)
    .replaceAll('magic=PREFIX', `magic=${prefix.toUpperCase()}`)
    .replaceAll('expects PREFIX', `expects ${prefix.toUpperCase()}`)
    .replaceAll('PREFIX', prefix)
    .replaceAll('PrefixException', `${prefix.slice(0, 1).toUpperCase()}${prefix.slice(1)}Exception`)
}
