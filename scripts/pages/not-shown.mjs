/** Metrics that are on no dashboard, with the reason. */
export const NOT_SHOWN = {
  chain_agent_alertmanager_up: 'the table of alerts has ChainMonitoringFailing',
  chain_agent_certificate_expiry_timestamp_seconds: 'the table of alerts has ChainAgentFailing',
  chain_agent_log_state: 'the table of alerts has ChainLogsIncomplete',
  chain_blocksync_window_blocks: 'a constant of a node; its rest is shown',
  chain_execution_retried_transactions_total: 'as a share of all: instance:chain_execution_retried:ratio10m',
  chain_forks_reviewed_timestamp_seconds:
    'it changes with an upgrade of the agent; ChainUpgradeDue.fork-list compares it',
  chain_host_network_received_total: 'the denominator of ChainUdpDrops',
  chain_host_socket_buffer_max_bytes: 'a setting; the runbook of dropped packets compares it',
  chain_host_udp_received_total: 'the denominator of ChainUdpDrops',
  chain_native_database_used_bytes: 'a condition of ChainStatesyncFrozen; the other sources have the ratio',
  chain_node_recovery_deadline_timestamp_seconds: 'for the messages of alerts',
  chain_node_recovery_info: 'for the messages of alerts',
  chain_node_statesync_threshold_blocks: 'a setting; the window follows it',
  chain_schedule_file_epoch: 'ChainStartFiles.validators compares it with the epoch of the ledger',
  chain_staking_authority_balance_minimum_tokens: 'a setting; ChainStakingMismatch compares it',
  chain_traffic_up: 'while it is 0, the panels of the RPC as its users see it are empty, with the reason',
}
