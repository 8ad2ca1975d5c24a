import { createSampleIndex } from '../../src/core/metric.ts'
import type { Health } from '../../src/parsers/agent-status.ts'
import type { NodeSnapshot } from '../../src/health/snapshot.ts'

const since = Date.UTC(2026, 2, 1, 11)
export const HEALTHY: Health = { state: 'healthy', since, unknownBecause: null, findings: [], failures: [] }

/** A snapshot of a running agent in which nothing is known but what is given. */
export const snapshotWith = (given: Partial<NodeSnapshot>): NodeSnapshot => ({
  at: Date.UTC(2026, 2, 1, 12),
  origin: 'agent',
  version: '1.2.3',
  prefix: 'chain',
  collectors: [],
  readings: {},
  epochs: new Map(),
  outbound: { alertmanagers: [] },
  devices: [],
  known: createSampleIndex([]),
  health: HEALTHY,
  export: () => Promise.resolve({ metrics: '', readings: {} }),
  ...given,
})
