import { expect } from 'vitest'
import { agentMetrics } from '../../src/metrics.ts'
import type { Coverage } from './simulate.ts'

/** Metrics that cannot change while one agent monitors one node, with the reason. */
const CONSTANT: Readonly<Record<string, string>> = {
  chain_agent_build_info: 'one process is one version',
  chain_status_statesync_target_block: 'a simulated statesync keeps its target',
  chain_native_statesync_target_block: 'a simulated statesync keeps its target',
  chain_agent_collector_enabled: 'no scenario changes the configuration',
  chain_agent_config_last_reload_successful: 'no scenario changes the configuration',
  chain_agent_config_last_reload_success_timestamp_seconds: 'no scenario changes the configuration',
  chain_agent_state_saved: 'the disk of the simulated host accepts every file; test/agent has one that does not',
  chain_node_statesync_threshold_blocks: 'a setting of the node',
  chain_blocksync_window_blocks: 'follows that setting',
  chain_slo_objective_ratio: 'a setting',
  chain_service_expected: 'no failure changes what is enabled or required',
  chain_host_hugepages: 'a setting of the kernel',
  chain_host_socket_buffer_max_bytes: 'a setting of the kernel',
  chain_service_restarts_total: 'the units that matter have Restart=no; the sandbox has one that restarts',
  chain_agent_journal_gaps_total: 'needs a reader that is paused while the journal is vacuumed: in the sandbox',
}
const BUDGET = 1100

/** Every metric must occur, with more than one value in some scenario; the limit of series per node. */
export const expectWholeCatalogue = (parts: readonly Coverage[]): void => {
  const names = Object.keys(agentMetrics)
  const isIn = (name: string, of: 'moved' | 'present') => parts.some((part) => name in part[of])
  expect(names.filter((name) => !isIn(name, 'present'))).toEqual([])
  expect(names.filter((name) => !isIn(name, 'moved') && !(name in CONSTANT))).toEqual([])
  expect(Object.keys(CONSTANT).filter((name) => isIn(name, 'moved'))).toEqual([])
  const [most] = parts.map((part) => part.most).toSorted((a, b) => b.series - a.series)
  console.log(`at most ${most?.series} series, in the scenario ${most?.scenario}`)
  expect(most?.series).toBeGreaterThan(500)
  expect(most?.series).toBeLessThanOrEqual(BUDGET)
}
