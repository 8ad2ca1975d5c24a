import type { HealthState } from '../core/health.ts'
import { maintenanceWindow, type MaintenanceWindow } from './facts.ts'
import { type Finding, findingsOf, rank } from './finding.ts'
import { OUTSIDE_MAINTENANCE } from './monitor.ts'
import type { NodeSnapshot } from './snapshot.ts'

export type HealthStatus = 'OK' | 'WARNING' | 'CRITICAL' | 'UNKNOWN' | 'MAINTENANCE'

/** The health verdict of a node: a status, a sentence, and the findings behind them. */
export interface HealthVerdict {
  readonly word: HealthStatus
  /** The reason for the status, with its full stop. */
  readonly sentence: string
  /** Most severe first, causes before consequences. */
  readonly findings: readonly Finding[]
  /** 0: healthy; 1: something needs attention; 2: the node does not do its work, or its state is unknown. */
  readonly exitCode: 0 | 1 | 2
}

const STATUSES = {
  critical: ['CRITICAL', 2],
  unknown: ['UNKNOWN', 2],
  warning: ['WARNING', 1],
  maintenance: ['MAINTENANCE', 0],
  healthy: ['OK', 0],
} as const satisfies Record<HealthState, readonly [HealthStatus, number]>

/** The health verdict: the state by the rules. `more` are findings of the caller's own checks. */
export const evaluateHealth = (
  snapshot: Pick<NodeSnapshot, 'at' | 'health' | 'readings' | 'collectors' | 'prefix'>,
  more: readonly Finding[] = [],
): HealthVerdict => {
  const { state, unknownBecause, findings: ofRules, failures } = snapshot.health
  // Without a node, nothing that the rules find means anything.
  const found = unknownBecause === 'no node' ? [noNode(snapshot)] : findingsOf(ofRules, snapshot)
  const findings = [...found, ...unevaluated(failures), ...more].toSorted((a, b) => rank(a.severity) - rank(b.severity))
  const isRaised = state === 'healthy' && more.some(({ severity }) => severity === 'warning')
  const [word, exitCode] = STATUSES[isRaised ? 'warning' : state]
  const maintenance = maintenanceWindow(snapshot)
  // In a maintenance window only these decide about a word other than MAINTENANCE.
  const outside = ofRules.filter(({ component }) => OUTSIDE_MAINTENANCE.includes(component))
  const deciding = maintenance && word !== 'MAINTENANCE' ? findingsOf(outside, snapshot) : findings
  return { word, exitCode, findings, sentence: `${sentenceOf({ word, deciding, maintenance, unknownBecause })}.` }
}

interface Parts {
  readonly word: HealthStatus
  /** The findings that decide about the word, worst first. */
  readonly deciding: readonly Finding[]
  readonly maintenance: MaintenanceWindow | undefined
  readonly unknownBecause: NodeSnapshot['health']['unknownBecause']
}

const sentenceOf = ({ word, deciding, maintenance, unknownBecause }: Parts): string => {
  const worst = deciding.find(({ severity }) => severity !== 'info')
  if (word === 'OK') return 'the node keeps up with the chain'
  if (word === 'MAINTENANCE') {
    const window = maintenance ? `${maintenance.reason}, ${maintenance.left} left` : 'a maintenance window is set'
    return worst ? `${window}; ${worst.summary}` : window
  }
  if (unknownBecause === 'no block') return 'whether the chain advances is unknown: no source reports a block'
  if (unknownBecause === 'no evaluation') return 'the agent has not evaluated its rules yet, or could not: see its log'
  return worst?.summary ?? 'see the findings'
}

/** `STATUS: sentence`, the first line of every output that has a health verdict. */
export const firstLine = ({ word, sentence }: Pick<HealthVerdict, 'word' | 'sentence'>): string =>
  `${word}: ${sentence}`

const unevaluated = (failures: readonly string[]): readonly Finding[] =>
  failures.length === 0
    ? []
    : [
        {
          name: 'rules',
          severity: 'warning',
          summary: 'some health rules could not be evaluated: their conditions are unknown',
          evidence: failures,
          advice: ['Report it with the output of `chain-agent bundle`.'],
        },
      ]

const noNode = ({ prefix }: Pick<NodeSnapshot, 'prefix'>): Finding => ({
  name: 'ChainServiceMissing',
  severity: 'unknown',
  summary: 'there is no node on this host, or none that this user can see',
  evidence: [
    `systemd reports none of the units ${['bft', 'execution', 'rpc'].map((one) => `${prefix ?? 'chain'}-${one}`).join(', ')}.`,
    "The address of the node's RPC does not answer.",
  ],
  advice: [
    "Run it on the node's own host, where systemd is process 1.",
    'If the names of the units have another prefix, set it: `--prefix PREFIX`.',
  ],
})
