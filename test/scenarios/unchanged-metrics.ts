import type { MetricName } from '../../src/core/metric.ts'

/** Metrics that no scenario changes, with the reason. A metric that no simulated host has names its test. */
export const UNCHANGED: Readonly<Partial<Record<MetricName, string>>> = {
  chain_agent_alertmanager_up: 'no scenario has an Alertmanager: test/alerts/without-prometheus.test.ts',
  chain_agent_build_info: 'one process is one version',
  chain_agent_certificate_expiry_timestamp_seconds:
    'the simulated servers have no TLS: test/sources/certificates.test.ts',
  chain_agent_config_last_reload_success_timestamp_seconds: 'no scenario changes the configuration',
  chain_agent_config_last_reload_successful: 'no scenario changes the configuration',
  chain_agent_internal_failures_total: 'a fault of the agent',
  chain_agent_journal_gaps_total: 'needs a reader that is paused while the journal is vacuumed: in the sandbox',
  chain_agent_state_saved: 'the disk of the simulated host accepts every file; test/agent has one that does not',
  chain_blocksync_window_blocks: 'follows the statesync_threshold, a setting of the node',
  chain_forks_reviewed_timestamp_seconds: 'a constant of the configuration',
  chain_host_hugepages: 'a setting of the kernel',
  chain_host_socket_buffer_max_bytes: 'a setting of the kernel',
  chain_native_statesync_target_block: 'a simulated statesync keeps its target',
  chain_node_statesync_threshold_blocks: 'a setting of the node',
  chain_service_expected: 'no failure changes what is enabled or required',
  chain_service_restarts_total: 'the units that matter have Restart=no; the sandbox has one that restarts',
  chain_slo_objective_ratio: 'a setting',
  chain_status_statesync_target_block: 'a simulated statesync keeps its target',
  chain_watched_health: 'no simulated host watches another: test/agent/watcher.test.ts',
  chain_watched_heartbeat_timestamp_seconds: 'no simulated host watches another: test/agent/watcher.test.ts',
  chain_watched_maintenance: 'no simulated host watches another: test/agent/watcher.test.ts',
  chain_watched_port: 'no simulated host watches another: test/agent/watcher.test.ts',
}
