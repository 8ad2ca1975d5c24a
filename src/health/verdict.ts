import { blocks, blocksyncWindow, forks, rpc, statesync, versions } from './checks/chain.ts'
import { consensusLog, duty, logTrouble, oddities, peers } from './checks/consensus.ts'
import { clock, directories, disks, drives, kernel, openFiles, storage, tuning } from './checks/host.ts'
import { collectors, keys, node, ports, services, timers } from './checks/services.ts'
import { maintenanceWindow, type MaintenanceWindow } from './facts.ts'
import type { Check, Finding, HealthInput, Severity } from './finding.ts'

export type HealthStatus = 'OK' | 'WARNING' | 'CRITICAL' | 'UNKNOWN' | 'MAINTENANCE'

/** The health verdict of a node: a status, a sentence, and the findings behind them. */
export interface HealthVerdict {
  readonly word: HealthStatus
  /** The reason for the status, with its full stop. */
  readonly sentence: string
  /** Most severe first; findings of the same severity in the order of the checks. */
  readonly findings: readonly Finding[]
  /** 0: healthy; 1: something needs attention; 2: the node does not do its work, or its state is unknown. */
  readonly exitCode: 0 | 1 | 2
}

/** All checks: causes come before their consequences. */
const CHECKS: readonly Check[] = [
  services,
  storage,
  disks,
  statesync,
  blocks,
  rpc,
  forks,
  blocksyncWindow,
  peers,
  clock,
  logTrouble,
  consensusLog,
  duty,
  oddities,
  drives,
  kernel,
  openFiles,
  keys,
  ports,
  collectors,
  timers,
  tuning,
  directories,
  versions,
]

const SEVERITIES: readonly Severity[] = ['critical', 'unknown', 'warning', 'info']
const STATUSES = {
  critical: ['CRITICAL', 2],
  unknown: ['UNKNOWN', 2],
  warning: ['WARNING', 1],
} as const

/** The health verdict: that of the most severe finding, or OK. `more` are findings of the caller's own checks. */
export const evaluateHealth = (input: HealthInput, more: readonly Finding[] = []): HealthVerdict => {
  const absent = node(input)
  // Without a node, no other check means anything.
  const found = absent.length > 0 ? absent : CHECKS.flatMap((check) => check(input))
  const findings = [...found, ...more].toSorted(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity),
  )
  const maintenance = maintenanceWindow(input)
  const counted = maintenance ? findings.filter(({ subject }) => subject === 'security') : findings
  const [worst] = counted
  if (worst && worst.severity !== 'info') {
    const [word, exitCode] = STATUSES[worst.severity]
    return { word, sentence: `${worst.says}.`, findings, exitCode }
  }
  return maintenance
    ? {
        word: 'MAINTENANCE',
        sentence: maintenanceSentence(maintenance, findings),
        findings,
        exitCode: 0,
      }
    : { word: 'OK', sentence: 'the node keeps up with the chain.', findings, exitCode: 0 }
}

/** `STATUS: sentence`, the first line of every output that has a health verdict. */
export const firstLine = ({ word, sentence }: Pick<HealthVerdict, 'word' | 'sentence'>): string =>
  `${word}: ${sentence}`

const maintenanceSentence = (maintenance: MaintenanceWindow, findings: readonly Finding[]): string => {
  const worst = findings.find(({ severity }) => severity !== 'info')
  return `${maintenance.reason}, ${maintenance.left} left${worst ? `; ${worst.says}` : ''}.`
}
