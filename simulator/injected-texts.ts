import type { LogLine } from './consensus/log-lines.ts'

/** A log line without its time; or raw text, which a program prints without its logger. */
export type MessageText = Omit<LogLine, 'atMs'> | string

const info = (target: string, message: string): MessageText => ({ level: 'INFO', target, message })
const warn = (target: string, message: string): MessageText => ({ level: 'WARN', target, message })
const error = (target: string, message: string): MessageText => ({ level: 'ERROR', target, message })

/** Lines of consensus about its start, its votes and its parts that a scenario can inject. */
export const CONSENSUS_TEXTS = {
  remote_files_unavailable: info(
    'node::state',
    'failed to fetch remote configs, using local forkpoint and validators config',
  ),
  remote_files_inconsistent: info(
    'node::state',
    'remote validators config missing validator set for remote forkpoint at epoch 1204, using local configs',
  ),
  remote_files_unused: info(
    'node::state',
    'local forkpoint within 600 rounds of remote forkpoint, using local configs',
  ),
  forkpoint_invalid: '  left: Err(InvalidQC)',
  validator_set_differs: 'assertion `left == right` failed: Unexpected locked epoch valset',
  database_empty: 'is DB state empty? use execution to populate genesis if so',
  db_path_ambiguous: 'assertion `left == right` failed: nothing in triedb path',
  db_path_failed: info(
    'cxx',
    '2026-05-02 08:00:01.204411902 [7711] ffi.cpp:100 LOG_ERROR\tFailed to inspect database path: /dev/triedb',
  ),
  metrics_server_failed: error('node', 'metrics server failed: Connection reset'),
  vote_not_coherent: warn('consensus_state', 'not voting on proposal, is not coherent'),
  proposal_without_parent: warn('consensus_state', 'dropping proposal, no parent timestamp/block_round'),
  block_invalid: warn('consensus_state', 'blocksynced block failed to validate. is this an invalid tip?'),
  blocksync_range_refused: warn('ledger', 'requested blocksync header range too large'),
  commits_lagging: warn('ledger', "evicted round from block_cache that's higher than last_commit_round"),
  statesync_invariant: 'invariant broken: send_request called after destroy',
  txpool_proposal_failed: error('eth_txpool_executor', 'txpool executor failed to create proposal'),
  txpool_preload_failed: warn('eth_txpool_executor', 'txpool executor failed to preload account balances'),
  buffer_ring_required:
    'failed to create buffer ring: Os { code: 22, kind: InvalidInput, message: "Invalid argument" }',
  local_accept_failed: warn('eth_txpool_executor::ipc', 'listener poll accept error=Os { code: 24 }'),
  control_panel_failed: 'not yet implemented: ipc listener error',
  peer_name_record_invalid: warn('node', 'invalid name record signature in config file'),
  self_address_unresolved: 'Unable to resolve self address: node.example:8000',
  group_message_dropped: warn('raptorcast', 'No validators found for current epoch: 1204'),
  clock_before_epoch: 'Clock may have gone backwards: SystemTimeError(5400.204411902s)',
  clock_not_set: warn('raptorcast', 'system time is before unix epoch, ignoring timestamp'),
} as const satisfies Readonly<Record<string, MessageText>>

/** Lines of the RPC that a scenario can inject, with PREFIX for the name prefix. */
export const RPC_TEXTS = {
  rpc_consensus_gone: error('rpc::txpool', 'TxPoolBridge IPC flush failed, PREFIX-bft likely crashed: Broken pipe'),
  rpc_events_lost: warn('rpc', 'event server channel lagged, events will be missing'),
  rpc_archive_failed: error('rpc', 'Archive error: Timeout'),
  rpc_overloaded: warn('rpc::txpool', 'txpool overloaded'),
  rpc_without_pool: warn('rpc', '--ipc-path is not set, tx pool will be disabled.'),
  rpc_waiting: info('rpc', 'Waiting for statesync to complete'),
  rpc_not_started: 'Error: Os { code: 98, kind: AddrInUse, message: "Address already in use" }',
} as const satisfies Readonly<Record<string, MessageText>>
