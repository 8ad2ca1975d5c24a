import { describe, expect, it } from 'vitest'
import { metrics } from '../../src/metrics.ts'
import { committed, dashboardSchema, panelsOf } from './model.ts'

/** Names in the expressions of all panels, with the suffixes of histograms taken off. */
const shown = new Set(
  [...committed().values()]
    .flatMap((json) => panelsOf(dashboardSchema.parse(json)))
    .flatMap(({ targets = [] }) => targets)
    .flatMap(({ expr }) => expr.match(/\bchain_\w+/g) ?? [])
    .flatMap((name) => [name, name.replace(/_(?:bucket|sum|count)$/, '')]),
)

/** Metrics that are on no dashboard, with the reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  chain_node_health: 'the dashboards show the alerts of Prometheus, which evaluates the same rules',
  chain_node_findings: 'goes with the health',
  chain_host_socket_buffer_max_bytes: 'a setting; the runbook of dropped packets compares it',
  chain_node_role: 'rules join on it',
  chain_last_start_seconds: '`chain-agent restart-window` compares it',
  chain_schedule_proved: '`chain-agent status duties` shows the leader schedule',
  chain_schedule_misses_total: 'goes with the leader schedule',
  chain_schedule_next_own_round: 'goes with the leader schedule',
  chain_schedule_next_own_timestamp_seconds: 'goes with the leader schedule',
  chain_schedule_own_rounds_ahead: 'goes with the leader schedule',
  chain_schedule_own_rounds: 'goes with the leader schedule',
  chain_token_balance: 'which tokens and holders matter, each operator knows alone',
  chain_token_through_block: 'goes with the balances',
  chain_agent_state_saved: 'an alert reports it',
  chain_agent_config_last_reload_successful: 'the log reports the result of a reload at once',
  chain_agent_config_last_reload_success_timestamp_seconds: 'goes with the result of a reload',
}

describe('the catalogue and the dashboards', () => {
  it('every exposed metric is on a visible panel', () => {
    expect(Object.keys(metrics).filter((name) => !shown.has(name) && !(name in LEFT_OUT))).toEqual([])
  })
})
