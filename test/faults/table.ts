import type { Mode } from './flaky-server.ts'

/**
 * The agent beside a simulated node whose parts fail one at a time: which series vanish, which
 * change, which stay. Intervals are scaled by configuration; nothing else is.
 */
export type Part = 'rpc' | 'reference' | 'systemctl' | 'journalctl' | 'mpt' | 'status'

export interface Row {
  readonly part: Part
  readonly fault: Exclude<Mode, 'well'>
  /** Counted up while the fault lasts, and how the log tells of its beginning. */
  readonly counted: string
  readonly logged: RegExp
}

const HEIGHT = 'chain_rpc_block_number{tag=latest}'
export const DIFFERENCE = 'chain_block_difference'
const STARTS = 'chain_service_starts_total{service=bft}'
export const BLOCKS = 'chain_ledger_blocks_total{event=proposed,scope=network}'

export const OF_RPC = [
  HEIGHT,
  'chain_rpc_block_number{tag=safe}',
  'chain_rpc_block_number{tag=finalized}',
  'chain_rpc_block_timestamp_seconds{tag=latest}',
  'chain_rpc_last_advance_timestamp_seconds',
  'chain_rpc_info',
]
const OF_REFERENCE = ['chain_reference_block_number{reference=other}']
export const OF_SERVICES = [
  'chain_service_active{service=bft}',
  'chain_service_state{service=bft,state=active}',
  'chain_service_expected{service=rpc}',
  'chain_service_start_timestamp_seconds{service=execution}',
  'chain_service_partial_restart',
  'chain_timer_next_trigger_timestamp_seconds{timer=cruft}',
]
const OF_LEDGER = [
  'chain_ledger_round{event=proposed}',
  'chain_ledger_seq_num{event=finalized}',
  'chain_ledger_block_timestamp_seconds{event=proposed}',
  'chain_agent_journal_last_entry_timestamp_seconds{service=ledger-tail}',
]
const OF_STORAGE = [
  'chain_storage_chunks{list=free}',
  'chain_storage_latest_block{state=finalized}',
  'chain_storage_history_earliest_block{timeline=primary}',
  'chain_storage_history_max_blocks',
  'chain_storage_compaction_threshold_ratio',
]
const OF_STATUS = [
  'chain_status_block_number',
  'chain_status_in_sync',
  'chain_status_uptime_seconds',
  'chain_status_service_running{service=bft}',
  'chain_status_info',
]
const UP = (collector: string): string => `chain_agent_collector_up{collector=${collector}}`

/** What a part takes away with it, what it changes, and whether the collector itself still works. */
export const PARTS: Readonly<
  Record<
    Part,
    { readonly vanish: readonly string[]; readonly becomes: Readonly<Record<string, number>> }
  >
> = {
  // That the port refuses, hangs or lies is a reading: the collector is up.
  rpc: {
    vanish: [...OF_RPC, DIFFERENCE],
    becomes: { chain_rpc_up: 0, [UP('rpc')]: 1, 'chain_reference_up{reference=other}': 1 },
  },
  reference: {
    vanish: [...OF_REFERENCE, DIFFERENCE],
    becomes: {
      'chain_reference_up{reference=other}': 0,
      chain_reference_agreeing: 0,
      [UP('reference')]: 1,
      chain_rpc_up: 1,
    },
  },
  // That systemctl or journalctl does not answer means that the agent could not even ask.
  systemctl: {
    vanish: OF_SERVICES,
    becomes: { [UP('services')]: 0, chain_rpc_up: 1, [UP('ledger')]: 1 },
  },
  journalctl: {
    vanish: OF_LEDGER,
    becomes: { [UP('ledger')]: 0, [UP('lifecycle')]: 0, chain_rpc_up: 1, [UP('services')]: 1 },
  },
  mpt: { vanish: OF_STORAGE, becomes: { [UP('storage')]: 0, [UP('status')]: 1, chain_rpc_up: 1 } },
  status: {
    vanish: OF_STATUS,
    becomes: { [UP('status')]: 0, [UP('storage')]: 1, chain_rpc_up: 1 },
  },
}
export const GAUGES = [
  ...OF_RPC,
  DIFFERENCE,
  ...OF_REFERENCE,
  ...OF_SERVICES,
  ...OF_LEDGER,
  ...OF_STORAGE,
  ...OF_STATUS,
]
/** None of these is ever 0 on a chain that lives; a 0 would be a claim about something unknown. */
export const HEIGHTS = [
  ...OF_RPC.filter((series) => series !== 'chain_rpc_info'),
  ...OF_REFERENCE,
  ...OF_LEDGER,
]
export const COUNTERS = [
  STARTS,
  BLOCKS,
  'chain_rpc_request_duration_seconds_count{method=eth_blockNumber}',
]

const rpcErrors = (reason: string): string =>
  `chain_rpc_errors_total{method=eth_blockNumber,reason=${reason}}`
const failures = (collector: string, kind: string): string =>
  `chain_agent_collector_failures_total{collector=${collector},kind=${kind}}`

export const ROWS: readonly Row[] = [
  {
    part: 'rpc',
    fault: 'gone',
    counted: rpcErrors('refused'),
    logged: /node RPC: answering → refused/,
  },
  {
    part: 'rpc',
    fault: 'hangs',
    counted: rpcErrors('timeout'),
    logged: /node RPC: answering → timeout/,
  },
  {
    part: 'rpc',
    fault: 'floods',
    counted: rpcErrors('invalid'),
    logged: /node RPC: answering → invalid/,
  },
  {
    part: 'rpc',
    fault: 'garbage',
    counted: rpcErrors('invalid'),
    logged: /node RPC: answering → invalid/,
  },
  { part: 'reference', fault: 'gone', counted: '', logged: /reference other: answering → refused/ },
  {
    part: 'reference',
    fault: 'hangs',
    counted: '',
    logged: /reference other: answering → timeout/,
  },
  {
    part: 'reference',
    fault: 'floods',
    counted: '',
    logged: /reference other: answering → invalid/,
  },
  {
    part: 'reference',
    fault: 'garbage',
    counted: '',
    logged: /reference other: answering → invalid/,
  },
  {
    part: 'systemctl',
    fault: 'gone',
    counted: failures('services', 'source'),
    logged: /services: .*there is no systemctl on PATH/,
  },
  {
    part: 'systemctl',
    fault: 'hangs',
    counted: failures('services', 'timeout'),
    logged: /services: .*none within/,
  },
  {
    part: 'systemctl',
    fault: 'floods',
    counted: failures('services', 'source'),
    logged: /services: .*printed more than/,
  },
  {
    part: 'systemctl',
    fault: 'garbage',
    counted: failures('services', 'parse'),
    logged: /services: Could not understand systemctl show/,
  },
  {
    part: 'journalctl',
    fault: 'gone',
    counted: failures('ledger', 'source'),
    logged: /ledger: .*there is no journalctl on PATH/,
  },
  {
    part: 'journalctl',
    fault: 'hangs',
    counted: failures('ledger', 'timeout'),
    logged: /ledger: .*none within/,
  },
  {
    part: 'journalctl',
    fault: 'floods',
    counted: failures('ledger', 'source'),
    logged: /ledger: .*printed more than/,
  },
  {
    part: 'journalctl',
    fault: 'garbage',
    counted: failures('ledger', 'parse'),
    logged: /ledger: Could not understand an entry of the journal/,
  },
  {
    part: 'mpt',
    fault: 'gone',
    counted: failures('storage', 'source'),
    logged: /storage: .*there is no chain-mpt on PATH/,
  },
  {
    part: 'mpt',
    fault: 'hangs',
    counted: failures('storage', 'timeout'),
    logged: /storage: .*none within/,
  },
  {
    part: 'mpt',
    fault: 'floods',
    counted: failures('storage', 'source'),
    logged: /storage: .*printed more than/,
  },
  {
    part: 'mpt',
    fault: 'garbage',
    counted: failures('storage', 'parse'),
    logged: /storage: Could not understand the report on the storage/,
  },
  {
    part: 'status',
    fault: 'gone',
    counted: failures('status', 'source'),
    logged: /status: .*there is no chain-status on PATH/,
  },
  {
    part: 'status',
    fault: 'hangs',
    counted: failures('status', 'timeout'),
    logged: /status: .*none within/,
  },
  {
    part: 'status',
    fault: 'floods',
    counted: failures('status', 'source'),
    logged: /status: .*printed more than/,
  },
  {
    part: 'status',
    fault: 'garbage',
    counted: failures('status', 'parse'),
    logged: /status: Could not understand/,
  },
  {
    part: 'mpt',
    fault: 'aborts',
    counted: failures('storage', 'source'),
    logged: /storage: Could not read the storage report: Neither copy/,
  },
  {
    part: 'status',
    fault: 'aborts',
    counted: failures('status', 'source'),
    logged: /status: .*killed by SIGABRT/,
  },
  {
    part: 'mpt',
    fault: 'locked',
    counted: failures('storage', 'source'),
    logged: /storage: .*this user may not run chain-mpt/,
  },
  {
    part: 'status',
    fault: 'locked',
    counted: failures('status', 'source'),
    logged: /status: .*this user may not run chain-status/,
  },
  {
    part: 'systemctl',
    fault: 'locked',
    counted: failures('services', 'source'),
    logged: /services: .*this user may not run systemctl/,
  },
]
