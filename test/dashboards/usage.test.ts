import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { DETAILS } from '../../dashboards/build/overview.ts'
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
  chain_host_udp_received_total: 'the denominator of ChainUdpDrops',
  chain_node_statesync_threshold_blocks: 'a setting; the window follows it',
  chain_blocksync_window_blocks: 'a constant of a node; its rest is shown',
  chain_token_balance: 'which tokens and holders matter, each operator knows alone',
  chain_token_through_block: 'goes with the balances',
}

describe('the catalogue and the dashboards', () => {
  it('every exposed metric is on a visible panel', () => {
    expect(Object.keys(metrics).filter((name) => !shown.has(name) && !(name in LEFT_OUT))).toEqual([])
  })
})

/** Labels of every alert, or of its own columns. */
const COMMON = ['alertname', 'severity', 'component', 'job', 'instance', 'cluster']
/** The reason of a maintenance window, whose alert is not in the list; labels that are the same in every series of an alert. */
const NOT_SHOWN = ['reason', 'scope', 'percentile', 'phase', 'firmware', 'view', 'boot', 'criterion']

const testFile = z.object({
  tests: z.array(
    z.object({
      alert_rule_test: z
        .array(
          z.object({ exp_alerts: z.array(z.object({ exp_labels: z.record(z.string(), z.unknown()) })).optional() }),
        )
        .optional(),
    }),
  ),
})

it('the list of alerts has every label that distinguishes the series of an alert', () => {
  const labels = readdirSync('alerts')
    .filter((file) => file.endsWith('.test.yaml'))
    .flatMap((file) => testFile.parse(parse(readFileSync(`alerts/${file}`, 'utf8'))).tests)
    .flatMap(({ alert_rule_test: rules = [] }) => rules)
    .flatMap(({ exp_alerts: alerts = [] }) => alerts)
    .flatMap(({ exp_labels: own }) => Object.keys(own))
  expect(labels.length).toBeGreaterThan(100)
  expect([...new Set(labels)].filter((label) => ![...COMMON, ...NOT_SHOWN, ...DETAILS].includes(label))).toEqual([])
})
