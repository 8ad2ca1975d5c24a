import type { Mode } from './flaky.ts'

/**
 * An agent and a simulated node whose parts fail one at a time: which series become absent, which change, which stay.
 * Intervals are scaled by configuration; nothing else is.
 */
export type Part = 'rpc' | 'reference' | 'native' | 'systemctl' | 'journalctl' | 'mpt' | 'status' | 'node' | 'dpkg'

export interface Row {
  readonly part: Part
  readonly fault: Exclude<Mode, 'healthy'>
  /** The counter that grows during the fault, and the log message at its start. */
  readonly counted: string
  readonly logged: RegExp
}

const HEIGHT = 'chain_rpc_block_number{tag=latest}'
const DIFFERENCE = 'chain_block_difference'
const STARTS = 'chain_service_starts_total{service=bft}'
const BLOCKS = 'chain_ledger_blocks_total{event=proposed}'

const OF_RPC = [
  HEIGHT,
  'chain_rpc_block_number{tag=safe}',
  'chain_rpc_block_number{tag=finalized}',
  'chain_rpc_block_timestamp_seconds{tag=latest}',
  'chain_rpc_last_advance_timestamp_seconds',
  'chain_rpc_info',
]
const OF_REFERENCE = ['chain_reference_block_number{reference=other}']
const OF_SERVICES = [
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
/** Series from the journal, except the ledger stream. */
const OF_LOGS = [
  'chain_consensus_block_number',
  'chain_consensus_window_messages{kind=committed_block}',
  'chain_execution_block_number',
  'chain_execution_storage_used_ratio',
  'chain_log_oldest_entry_timestamp_seconds{service=bft}',
]
const OF_NATIVE = [
  'chain_native_peers',
  'chain_native_sessions{state=transport}',
  'chain_native_uptime_seconds',
  'chain_native_events_total{event=committed_block}',
  'chain_native_stake_ratio',
  'chain_native_frozen',
]
const OF_NODE = ['chain_node_build_info{program=node}']
const OF_DPKG = ['chain_package_info{package=chain}']
const OF_STORAGE = [
  'chain_storage_chunks{list=free}',
  'chain_storage_latest_block{state=finalized}',
  'chain_storage_history_earliest_block{timeline=primary}',
  'chain_storage_history_max_blocks',
]
const OF_STATUS = [
  'chain_status_block_number',
  'chain_status_in_sync',
  'chain_status_uptime_seconds',
  'chain_status_service_running{service=bft}',
  'chain_status_info',
]
const UP = (collector: string): string => `chain_agent_collector_up{collector=${collector}}`

/** The series that a part removes or changes, and whether the collector itself still works. */
export const PARTS: Readonly<
  Record<Part, { readonly vanish: readonly string[]; readonly becomes: Readonly<Record<string, number>> }>
> = {
  // A port that refuses, hangs or returns garbage is a reading: the collector is up.
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
  native: {
    vanish: OF_NATIVE,
    becomes: { 'chain_native_up{source=native}': 0, [UP('native')]: 1, chain_rpc_up: 1 },
  },
  // One program that does not report its version does not affect the others.
  node: { vanish: OF_NODE, becomes: { [UP('version')]: 1, chain_version_mismatch: 0 } },
  dpkg: { vanish: OF_DPKG, becomes: { [UP('version')]: 1, chain_version_mismatch: 0 } },
  // Without systemctl or journalctl the agent has no reading at all.
  systemctl: {
    vanish: OF_SERVICES,
    becomes: { [UP('services')]: 0, chain_rpc_up: 1, [UP('ledger')]: 1 },
  },
  journalctl: {
    vanish: [...OF_LEDGER, ...OF_LOGS],
    becomes: {
      [UP('ledger')]: 0,
      [UP('lifecycle')]: 0,
      [UP('consensus')]: 0,
      [UP('execution')]: 0,
      [UP('logs')]: 0,
      chain_rpc_up: 1,
      [UP('services')]: 1,
    },
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
  ...OF_LOGS,
  ...OF_NATIVE,
  ...OF_STORAGE,
  ...OF_STATUS,
  ...OF_NODE,
  ...OF_DPKG,
]
/** None of these is ever 0 on a running chain; a 0 would be a wrong value for something unknown. */
export const HEIGHTS = [
  ...OF_RPC.filter((series) => series !== 'chain_rpc_info'),
  ...OF_REFERENCE,
  ...OF_LEDGER,
  'chain_execution_block_number',
  'chain_consensus_block_number',
]
export const COUNTERS = [
  'chain_execution_blocks_total',
  'chain_execution_block_duration_seconds_count',
  STARTS,
  BLOCKS,
  'chain_rpc_request_duration_seconds_count{method=eth_blockNumber}',
]

const FAULTS = ['gone', 'hangs', 'floods', 'garbage', 'aborts', 'locked'] as const
const PART_NAMES = ['rpc', 'reference', 'native', 'systemctl', 'journalctl', 'mpt', 'status', 'node', 'dpkg'] as const

const unparsed = (format: string): string => `chain_agent_lines_total{format=${format},result=unparsed}`
const rpcErrors = (reason: string): string => `chain_rpc_errors_total{method=eth_blockNumber,reason=${reason}}`
const failures = (collector: string): string => `chain_agent_collector_failures_total{collector=${collector}}`

/** `PART FAULT | the counter that grows | the log message at the start`. */
const TABLE = String.raw`
rpc gone          | ${rpcErrors('refused')}               | node RPC: answering → refused
rpc hangs         | ${rpcErrors('timeout')}               | node RPC: answering → timeout
rpc floods        | ${rpcErrors('invalid')}               | node RPC: answering → invalid
rpc garbage       | ${rpcErrors('invalid')}               | node RPC: answering → invalid
reference gone    |                                       | reference other: answering → refused
reference hangs   |                                       | reference other: answering → timeout
reference floods  |                                       | reference other: answering → invalid
reference garbage |                                       | reference other: answering → invalid
native gone       |                                       | metrics at native: answering → refused
native hangs      |                                       | metrics at native: answering → timeout
native floods     |                                       | metrics at native: answering → invalid
native garbage    |                                       | metrics at native: answering → invalid
systemctl gone    | ${failures('services')}               | services: .*there is no systemctl on PATH
systemctl hangs   | ${failures('services')}               | services: .*none within
systemctl floods  | ${failures('services')}               | services: .*printed more than
systemctl garbage | ${failures('services')}               | services: .*ould not parse systemctl show
systemctl locked  | ${failures('services')}               | services: .*this user may not run systemctl
journalctl gone   | ${failures('ledger')}                 | ledger: .*there is no journalctl on PATH
journalctl hangs  | ${failures('ledger')}                 | ledger: .*none within
journalctl floods | ${failures('ledger')}                 | ledger: .*printed more than
journalctl garbage| ${failures('ledger')}                 | ledger: .*ould not parse an entry of the journal
mpt gone          | ${failures('storage')}                | storage: .*there is no chain-mpt on PATH
mpt hangs         | ${failures('storage')}                | storage: .*none within
mpt floods        | ${failures('storage')}                | storage: .*printed more than
mpt garbage       | ${failures('storage')}                | storage: .*ould not parse the report on the storage
mpt aborts        | ${failures('storage')}                | storage: .*ould not read the storage report: Neither copy
mpt locked        | ${failures('storage')}                | storage: .*this user may not run chain-mpt
status gone       | ${failures('status')}                 | status: .*there is no chain-status on PATH
status hangs      | ${failures('status')}                 | status: .*none within
status floods     | ${failures('status')}                 | status: .*printed more than
status garbage    | ${failures('status')}                 | status: .*ould not parse
status aborts     | ${failures('status')}                 | status: .*killed by SIGABRT
status locked     | ${failures('status')}                 | status: .*this user may not run chain-status
node gone         |                                       | program node: [^→]*→ .*there is no chain-node on PATH
node hangs        |                                       | program node: [^→]*→ .*none within
node floods       |                                       | program node: [^→]*→ .*printed more than
node garbage      | ${unparsed('node-version')}           | program node: [^→]*→ .*could not parse
node locked       |                                       | program node: [^→]*→ .*this user may not run chain-node
dpkg gone         |                                       | package: .*there is no dpkg-query on PATH
dpkg hangs        |                                       | package: .*none within
dpkg garbage      | ${unparsed('dpkg')}                   | package: .*could not parse`

export const ROWS: readonly Row[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [what = '', counted = '', logged = ''] = line.split('|').map((cell) => cell.trim())
    const part = PART_NAMES.find((name) => what.startsWith(name))
    const fault = FAULTS.find((name) => what.endsWith(name))
    if (!part || !fault) throw new TypeError(`not a row: ${line}`)
    return { part, fault, counted, logged: new RegExp(logged) }
  })
