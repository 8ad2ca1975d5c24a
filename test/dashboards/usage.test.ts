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
  chain_host_socket_buffer_max_bytes: 'a setting; the runbook of dropped packets compares it',
  chain_token_balance: 'which tokens and holders matter, each operator knows alone',
  chain_token_through_block: 'goes with the balances',
  chain_agent_state_saved: 'an alert reports it',
}

describe('the catalogue and the dashboards', () => {
  it('every exposed metric is on a visible panel', () => {
    expect(Object.keys(metrics).filter((name) => !shown.has(name) && !(name in LEFT_OUT))).toEqual([])
  })
})
