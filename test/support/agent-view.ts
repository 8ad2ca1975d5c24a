import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { RuleFinding } from '../../src/parsers/agent-status.ts'
import { renderHealth, renderStatus } from '../../src/exporter/api.ts'
import { createHistory } from '../../src/exporter/page/figures.ts'
import type { OverviewInput } from '../../src/exporter/page/overview.ts'
import { createStatusPage } from '../../src/exporter/page/page.ts'
import type { AgentView } from '../../src/exporter/server.ts'
import { DEFAULT_TUNING, limitsOf } from '../../src/health/rules/index.ts'
import type { NodeSnapshot } from '../../src/health/snapshot.ts'
import { runbooks } from '../../src/sources/runbooks.ts'
import { HEALTHY, snapshotWith } from './snapshot.ts'

const limitOf = limitsOf(DEFAULT_TUNING)

/** A critical alert that fires. */
export const findingOf = (more: Partial<RuleFinding> = {}): RuleFinding => ({
  alert: 'ChainBehind',
  severity: 'critical',
  component: 'sync',
  state: 'firing',
  countsAs: 'critical',
  since: 0,
  for: 0,
  summary: 'It is.',
  description: 'It is.',
  advice: [],
  explainedBy: [],
  labels: {},
  ...more,
})

/** What the status page is rendered from: nothing is known, unless it is in the snapshot. */
export const overviewInput = (
  snapshot: Partial<NodeSnapshot> = {},
  more: Partial<OverviewInput> = {},
): OverviewInput => ({
  snapshot: snapshotWith(snapshot),
  events: [],
  history: createHistory(),
  rounds: [],
  limitOf,
  hostName: null,
  ...more,
})

interface PageOptions {
  readonly clock?: Clock
  readonly read?: () => Promise<OverviewInput>
}

export const statusPageOf = ({
  clock = systemClock,
  read = () => Promise.resolve(overviewInput()),
}: PageOptions = {}) => createStatusPage({ clock, version: '1.2.3', read })

/** What a server of the agent exports, without an agent. */
export const agentView = (own: Partial<AgentView> = {}): AgentView => ({
  version: '1.2.3',
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  clock: systemClock,
  metrics: () => Promise.resolve('chain_rpc_up 1\n'),
  health: () => Promise.resolve(renderHealth(HEALTHY)),
  status: () =>
    renderStatus({ version: '1.2.3', prefix: 'acme', startedAt: new Date(HEALTHY.since).toISOString() }, []),
  events: () => Promise.resolve([]),
  page: statusPageOf(),
  runbooks,
  prefix: () => 'acme',
  heartbeats: { isOpen: () => false, receive: () => undefined },
  waitingFor: () => [],
  complain: () => undefined,
  ...own,
})
