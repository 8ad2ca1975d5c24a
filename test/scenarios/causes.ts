import { readFile } from 'node:fs/promises'

/** Nothing is wrong in these. */
export const WITHOUT_FAULT = ['healthy', 'healthy-busy', 'healthy-busy-full-node', 'info-only-log']

/**
 * The metrics of the cause, from docs/reference/scenarios.md, where the signal names none or only a consequence: the
 * signal is evaluated at once, a cause is what an operator acts on.
 */
const CAUSES: Readonly<Record<string, readonly string[]>> = {
  // Three processes were killed; the signal is the window that closes after it.
  'node-down': ['chain_service_active', 'chain_service_state'],
  lagging: ['chain_block_difference'],
  // Most of its lines are at DEBUG; what journald drops is known at the end of the flood.
  'log-flood': ['chain_agent_lines_total', 'chain_log_suppressed_messages_total'],
  // Heights of the node stay in both: those of the references, or the difference from them, tell which it is.
  'network-halted': ['chain_reference_block_number', 'chain_ledger_block_timestamp_seconds'],
  stalled: ['chain_block_difference', 'chain_ledger_block_timestamp_seconds'],
  // Both count the rounds of this node that time out; the text of the scenario names the second as what rises.
  'own-timeouts': ['chain_ledger_own_timeouts_total', 'chain_duty_timeout_ratio'],
  'rpc-frozen': ['chain_rpc_block_number', 'chain_block_difference'],
  statesync: ['chain_consensus_statesync_active', 'chain_native_statesync_active'],
  'statesync-frozen': ['chain_native_statesync_progress_block', 'chain_statesync_last_progress_timestamp_seconds'],
  // The ratio follows from the chunks.
  'storage-filling': ['chain_storage_used_ratio', 'chain_storage_chunks'],
  'storage-full': ['chain_storage_used_ratio', 'chain_storage_chunks'],
}

/** The metrics by which an operator finds the cause of a scenario: by default the first name in its signal. */
export const causesOf = async (name: string): Promise<readonly string[]> => {
  const [, signal = ''] = /^# Signal: (.*)$/m.exec(await readFile(`scenarios/${name}.scenario`, 'utf8')) ?? []
  const names = [...signal.matchAll(/chain_[a-z_]+/g)].map(([metric]) => metric.replace(/_(?:bucket|sum|count)$/, ''))
  return CAUSES[name] ?? names.slice(0, 1)
}
