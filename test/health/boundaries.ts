import type { ReadingName } from '../../src/core/metric.ts'

/** 03:00 UTC. */
export const NOW = Date.UTC(2026, 2, 1, 3)
const S = NOW / 1000

export type Series = readonly [ReadingName, number, Record<string, string>?]

export const blockAge = (age: number): Series => ['chain_rpc_block_timestamp_seconds', S - age, { tag: 'latest' }]

type Row = readonly [name: string, at: (value: number) => readonly Series[], healthy: number, bad: number, says: string]

/** A metric, a value that is still within its limit, one beyond it, and the finding for that. */
const ROWS: readonly Row[] = [
  // Less than two days, of which the first unit is printed.
  [
    'time until the database compacts itself',
    (left) => [['chain_storage_seconds_until_compaction', left]],
    172_800,
    172_799,
    'info: the database begins to shorten its history in 1 d',
  ],
  ['age of the block', (age) => [blockAge(age)], 10, 11, 'warning: no new block for 11 s'],
  ['age of the block', (age) => [blockAge(age)], -3, 31, 'critical: no new block for 31 s'],
  // At two blocks a second 5 s are 10 blocks, and 20 s are 40.
  [
    'difference',
    (blocks) => [['chain_block_difference', blocks]],
    10,
    11,
    'warning: the node is about 11 blocks behind the network',
  ],
  [
    'difference',
    (blocks) => [['chain_block_difference', blocks]],
    0,
    41,
    'critical: the node is about 41 blocks behind the network',
  ],
  [
    'difference, rounded',
    (blocks) => [['chain_block_difference', blocks]],
    0,
    1234,
    'critical: the node is about 1,200 blocks behind the network',
  ],
  [
    'blocksync window',
    (left) => [['chain_blocksync_window_remaining_blocks', left]],
    450,
    449,
    'warning: 449 blocks are left of the blocksync window',
  ],
  [
    'blocksync window',
    (left) => [['chain_blocksync_window_remaining_blocks', left]],
    600,
    299,
    'critical: 299 blocks are left of the blocksync window',
  ],
  [
    'blocksync window',
    (left) => [['chain_blocksync_window_remaining_blocks', left]],
    600,
    0,
    'critical: the blocksync window is closed: a restart needs statesync',
  ],
  [
    'database',
    (used) => [['chain_execution_storage_used_ratio', used]],
    0.85,
    0.8599,
    'critical: the database is 85% full',
  ],
  [
    'database, by the tool',
    (used) => [['chain_storage_used_ratio', used, { device: '/dev/x' }]],
    0.8,
    0.959,
    'critical: the database is 95% full',
  ],
  [
    'chunks',
    (free) => [
      ['chain_storage_chunks', free, { list: 'free' }],
      ['chain_storage_chunks', 90, { list: 'fast' }],
    ],
    10,
    9,
    'warning: only 9% of the chunks of the database are free',
  ],
  [
    'clock',
    (offset) => [['chain_host_clock_offset_seconds', offset]],
    -0.05,
    -0.051,
    'warning: the clock is 51 ms behind',
  ],
  ['clock', (offset) => [['chain_host_clock_offset_seconds', offset]], 0, 0.3, 'critical: the clock is 300 ms ahead'],
  [
    'file system',
    (free) => [
      ['chain_host_filesystem_size_bytes', 100, { directory: 'wal' }],
      ['chain_host_filesystem_available_bytes', free, { directory: 'wal' }],
    ],
    5,
    4,
    'critical: the file system of wal has 4% left',
  ],
  [
    'drive',
    (celsius) => [['chain_host_nvme_temperature_celsius', celsius, { device: 'nvme0' }]],
    70,
    71,
    'warning: the drive nvme0 is at 71 degrees Celsius',
  ],
  [
    'limit of open files',
    (limit) => [['chain_service_max_file_descriptors', limit, { service: 'bft' }]],
    16_384,
    1024,
    'critical: chain-bft may open only 1,024 files',
  ],
  [
    'own timeouts',
    (count) => [['chain_ledger_own_consecutive_timeouts', count]],
    2,
    3,
    'critical: the last 3 rounds that this node led timed out',
  ],
  [
    'sessions',
    (sessions) => [
      ['chain_native_sessions', sessions, { state: 'transport' }],
      ['chain_native_peers', 350],
    ],
    8,
    4,
    'critical: the node has 4 transport sessions, and knows 350 peers',
  ],
  [
    'clean-up',
    (hours) => [['chain_timer_last_trigger_timestamp_seconds', S - hours * 3600, { timer: 'cruft' }]],
    2,
    3,
    'warning: the clean-up has not run for 3 h',
  ],
  [
    'fork, two days and a minute before',
    (days) => [
      ['chain_fork_activation_timestamp_seconds', S + days * 86_400 + 60, { fork: 'aurora' }],
      ['chain_fork_ready', 0, { fork: 'aurora', check: 'version' }],
    ],
    7,
    2,
    'warning: the fork aurora is 2 d away, and the node is not ready for it',
  ],
  [
    'fork, after its beginning',
    (days) => [
      ['chain_fork_activation_timestamp_seconds', S + days * 86_400, { fork: 'aurora' }],
      ['chain_fork_ready', 0, { fork: 'aurora', check: 'timeline' }],
    ],
    8,
    -1,
    'critical: the fork aurora has begun, and the node is not ready for it',
  ],
]

export const BOUNDARIES = ROWS.map(([name, at, healthy, bad, says]) => ({
  name,
  at,
  healthy,
  bad,
  says,
}))
