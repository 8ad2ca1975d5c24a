import { expect } from 'vitest'
import { decodeReadings } from '../../src/commands/shared/agent-snapshot.ts'
import type { RuleFinding } from '../../src/parsers/agent-status.ts'
import { createSampleIndex, type Sample, sample } from '../../src/core/metric.ts'
import { adviseRecovery } from '../../src/health/recovery.ts'
import { ruleSet } from '../../src/health/rules/index.ts'
import { addressOf } from '../../src/health/rules/rule.ts'

export const AT = Date.parse('2026-05-02T03:00:00Z')
export const NOW = AT / 1000

/** A critical finding whose alert fires. */
export const FINDING: RuleFinding = {
  alert: 'ChainIsolated',
  severity: 'critical',
  component: 'consensus',
  state: 'firing',
  countsAs: 'critical',
  since: 0,
  for: 0,
  summary: '',
  description: '',
  advice: [],
  explainedBy: [],
  labels: {},
}

interface Node {
  /** Labels of services that do not run. */
  readonly down?: readonly string[]
  /** Seconds since the newest block. */
  readonly age?: number
  /** Blocks that the node is behind the references; null if none answers. */
  readonly behind?: number | null
  readonly execution?: readonly string[]
  readonly executionAt?: number
  /** Minutes since execution was started. */
  readonly startedAgo?: number
  /** Minutes since consensus was started; by default unknown. */
  readonly consensusStartedAgo?: number
  readonly more?: readonly Sample[]
  /** The rules that hold, of which the plan depends on one. */
  readonly findings?: readonly RuleFinding[]
  /** For each reference that answered: whether its block and the parent of it are those of the node. */
  readonly compared?: readonly (readonly [boolean, boolean])[]
}

const HEIGHT = 1_000_000
const RUNBOOKS = [null, ...ruleSet().alerts.map(({ row }) => addressOf(row))]

export const ALL_DOWN = ['bft', 'execution', 'rpc']

/** A fork that the node is not ready for. */
export const forkAt = (at: number, check: 'version' | 'timeline') => [
  sample('chain_fork_activation_timestamp_seconds', at, { fork: 'aurora' }),
  sample('chain_fork_ready', 0, { fork: 'aurora', check }),
]

/** The advice for a node with consensus, execution and RPC. The runbook that it names exists. */
export const advise = (node: Node) => {
  const { down = [], age = 0.5, behind = 0, execution = [], executionAt = AT, startedAgo = 600, more = [] } = node
  const { consensusStartedAgo, compared = [], findings = [] } = node
  const services = ALL_DOWN.flatMap((service) => [
    sample('chain_service_active', !down.includes(service), { service }),
    sample('chain_service_expected', true, { service }),
  ])
  const references =
    behind === null
      ? [sample('chain_reference_up', 0, { reference: 'a' })]
      : ['a', 'b'].flatMap((reference) => [
          sample('chain_reference_up', 1, { reference }),
          sample('chain_reference_block_number', HEIGHT + behind, { reference }),
        ])
  const advice = adviseRecovery({
    at: AT,
    origin: 'agent',
    prefix: 'chain',
    epochs: new Map(),
    devices: ['/dev/triedb'],
    known: createSampleIndex([
      ...services,
      ...references,
      sample('chain_rpc_block_number', HEIGHT, { tag: 'latest' }),
      sample('chain_rpc_block_timestamp_seconds', NOW - age, { tag: 'latest' }),
      sample('chain_rpc_last_advance_timestamp_seconds', NOW - age),
      ...more,
    ]),
    collectors: [],
    health: { findings },
    readings: decodeReadings({
      services: {
        services: [
          started('execution', startedAgo),
          ...(consensusStartedAgo === undefined ? [] : [started('bft', consensusStartedAgo)]),
        ],
      },
      execution: { lastEntryAt: new Date(executionAt).toISOString() },
      logs: { trouble: { bft: [], execution } },
      reference: {
        references: compared.map(([matches, parentMatches]) => ({
          comparison: { height: '90', matches, parentMatches },
        })),
      },
    }),
  })
  expect(RUNBOOKS).toContain(advice.runbook)
  return advice
}

const started = (service: string, minutesAgo: number) => ({
  service,
  unit: `chain-${service}.service`,
  startedAt: new Date(AT - minutesAgo * 60_000).toISOString(),
  exitedAt: null,
})
