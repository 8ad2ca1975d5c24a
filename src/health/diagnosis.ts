import type { HealthState, HealthStatus } from '../domain/health.ts'
import { isWatcher, maintenanceWindow, NO_ANSWER, NO_NODE, RPC_SILENT, systemdFailure, watchedText } from './facts.ts'
import { findingsOf, type HealthFinding, RULES_FAILED, underCauses, weightOf } from './finding.ts'
import { OUTSIDE_MAINTENANCE } from './monitor.ts'
import { adviseRecovery, type RecoveryAdvice } from './recovery.ts'
import type { Path } from './recovery/situation.ts'
import { RESTART_MS, restartWindow, type RestartWindow } from './restart-window.ts'
import { isMeant, splitAddress } from './rules/rule.ts'
import type { NodeSnapshot } from './snapshot.ts'

/**
 * What is known of a node at one moment, and what to do. Every output with the state of the node renders this value or a
 * part of it: page, API, `status`, `check`, `recover`, bundle.
 */
export interface Diagnosis {
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number
  readonly word: HealthStatus
  /** When the state began, in milliseconds since the epoch. */
  readonly since: number
  /** The reason for the status, with its full stop: the first cause. */
  readonly sentence: string
  /** The most severe first, by themselves or by what follows from them. */
  readonly causes: readonly HealthFinding[]
  readonly recovery: RecoveryAdvice
  /** The incident with the evidence of the time at which the first of its alerts fired; null if none is kept. */
  readonly incident: string | null
  /** 0: healthy; 1: something needs attention; 2: the node does not do its work, or its state is unknown. */
  readonly exitCode: 0 | 1 | 2
}

type DiagnosisInput = Omit<NodeSnapshot, 'version' | 'export' | 'outbound'>

const STATUSES = {
  critical: ['CRITICAL', 2],
  unknown: ['UNKNOWN', 2],
  warning: ['WARNING', 1],
  maintenance: ['MAINTENANCE', 0],
  healthy: ['OK', 0],
} as const satisfies Record<HealthState, readonly [HealthStatus, number]>

export const diagnose = (snapshot: DiagnosisInput): Diagnosis => {
  const { at, health } = snapshot
  const { state, since, unknownBecause, findings: ofRules, failures } = health
  // Without a node, nothing that the rules find means anything.
  const recovery = adviseRecovery(snapshot)
  // Without a runbook, the first step of an unknown recovery is `chain-agent check`.
  const isRecovering = recovery.path === 'unknown' ? recovery.runbook !== null : recovery.path !== 'none'
  const context = { snapshot, isRecovering }
  const found =
    unknownBecause === 'no node'
      ? [noNode(snapshot)]
      : [...(unknownBecause === 'no answer' ? [noAnswer(snapshot)] : []), ...findingsOf(ofRules, context)]
  const all = underCauses([...found, ...(failures.length === 0 ? [] : [unevaluated(failures)])])
  const ordered = withRecoveryFirst(all, recovery)
  const causes = isRecovering ? ordered.map((cause, index) => (index === 0 ? recoveredFirst(cause) : cause)) : ordered
  const [word, exitCode] = STATUSES[state]
  // In a maintenance window only these decide about a word other than MAINTENANCE.
  const outside = ofRules.filter(({ component }) => OUTSIDE_MAINTENANCE.includes(component))
  const isOutside = maintenanceWindow(snapshot) !== undefined && word !== 'MAINTENANCE'
  const deciding = isOutside ? underCauses(findingsOf(outside, context)) : causes
  const sentence = sentenceOf(word, deciding, snapshot)
  const incident = ofRules.find((one) => one.incident !== undefined)?.incident ?? null
  return { at, word, since, exitCode, causes, sentence: `${sentence}.`, recovery, incident }
}

/** Of the causes that weigh most, that of the recovery is the first. */
const withRecoveryFirst = (
  causes: readonly HealthFinding[],
  { runbook }: Pick<RecoveryAdvice, 'runbook'>,
): readonly HealthFinding[] => {
  const [first] = causes
  const recovered = causes.find(({ name, consequences }) =>
    [name, ...consequences.map((one) => one.name)].some(
      (one) => runbook !== null && isMeant(runbook, splitAddress(one)),
    ),
  )
  if (!first || !recovered || weightOf(recovered) !== weightOf(first)) return causes
  return [recovered, ...causes.filter((one) => one !== recovered)]
}

/** The recovery has the steps in their order and the time that is left; analyses come after it. */
const recoveredFirst = (cause: HealthFinding): HealthFinding => ({
  ...cause,
  advice: [
    'See the steps of the recovery: `chain-agent recover`.',
    ...cause.advice.filter((step) => !step.includes('`chain-agent recover`')),
  ],
})

/** `deciding`: the findings that decide about the word, worst first. */
const sentenceOf = (word: HealthStatus, deciding: readonly HealthFinding[], snapshot: DiagnosisInput): string => {
  const { known, health } = snapshot
  const worst = deciding.find((finding) => weightOf(finding) !== 'info')
  if (health.unknownBecause === 'no heartbeat' || (word === 'OK' && isWatcher(known))) return watchedText(snapshot)
  if (word === 'OK') {
    return known.value('chain_block_difference') === undefined
      ? 'the node has new blocks; how far the network is, is unknown'
      : 'the node keeps up with the chain'
  }
  if (word === 'MAINTENANCE') {
    const maintenance = maintenanceWindow(snapshot)
    const window = maintenance ? `${maintenance.reason}, ${maintenance.left} left` : 'a maintenance window is set'
    return worst ? `${window}; ${worst.summary}` : window
  }
  if (health.unknownBecause === 'no answer') return NO_ANSWER
  if (health.unknownBecause === 'no block') return 'whether the chain advances is unknown: no source reports a block'
  if (health.unknownBecause === 'no evaluation') {
    return 'the agent has not evaluated its rules yet, or could not: see its log'
  }
  return worst?.summary ?? 'see the findings'
}

/** The sentences of the causes that are warnings or worse, by themselves or by what follows from them. */
export const countedCauses = ({ causes }: Diagnosis): readonly string[] =>
  causes.filter((cause) => weightOf(cause) !== 'info').map(({ summary }) => summary)

/** Recoveries whose time the operator chooses. */
const PLANNED: readonly Path[] = ['none', 'upgrade', 'migrate']

/** Whether the node does not do its work, or needs a recovery that does not wait for a convenient time. */
const isFault = ({ word, recovery: { path, runbook } }: Pick<Diagnosis, 'word' | 'recovery'>): boolean =>
  word === 'CRITICAL' || word === 'UNKNOWN' || !(PLANNED.includes(path) || runbook === 'ChainPartialRestart')

/** In the place of a window for a restart, during a fault. */
export const NO_WINDOW_IN_FAULT =
  'not evaluated during a fault: a planned restart has a window when no recovery is needed'

/** The window for a planned restart; null without a node, and during a fault: then the recovery has what to restart. */
export const plannedRestart = (
  diagnosis: Pick<Diagnosis, 'word' | 'recovery'>,
  snapshot: NodeSnapshot,
  span = RESTART_MS,
): RestartWindow | null =>
  isFault(diagnosis) || isWatcher(snapshot.known) ? null : restartWindow({ ...snapshot, span })

/** `STATUS: sentence`, the first line of every output that has a diagnosis. */
export const firstLine = ({ word, sentence }: Pick<Diagnosis, 'word' | 'sentence'>): string => `${word}: ${sentence}`

/** `RECOVERY: …`, the second line of an output with a diagnosis, unless none is needed. */
export const recoveryLine = ({ summary, left }: Pick<RecoveryAdvice, 'summary' | 'left'>): string =>
  `RECOVERY: ${summary}.${left === null ? '' : ` ${left}.`}`

/** `EVIDENCE: chain-agent incident ID`, if any is kept. */
export const evidenceLines = ({ incident }: Pick<Diagnosis, 'incident'>): readonly string[] =>
  incident === null ? [] : [`EVIDENCE: chain-agent incident ${incident}`]

const OF_NO_RULE = { timing: null, explainedBy: [], consequences: [] } as const

const unevaluated = (failures: readonly string[]): HealthFinding => ({
  ...OF_NO_RULE,
  name: RULES_FAILED,
  severity: 'warning',
  summary: 'some health rules could not be evaluated: their conditions are unknown',
  evidence: failures,
  advice: ['Report it with the output of `chain-agent bundle`.'],
})

const noAnswer = (snapshot: DiagnosisInput): HealthFinding => ({
  ...OF_NO_RULE,
  name: 'ChainBlind',
  severity: 'unknown',
  summary: NO_ANSWER,
  evidence: [`${systemdFailure(snapshot)}.`, RPC_SILENT],
  advice: [
    'See whether systemd answers: `systemctl is-system-running`.',
    'If the host is overloaded, see what uses it: `chain-agent status host`.',
    "On another host, run it on the node's own host, where systemd is process 1.",
  ],
})

const noNode = ({ prefix }: Pick<NodeSnapshot, 'prefix'>): HealthFinding => ({
  ...OF_NO_RULE,
  name: 'ChainServiceDown.missing',
  severity: 'unknown',
  summary: NO_NODE,
  evidence: [
    `systemd reports none of the units ${['bft', 'execution', 'rpc'].map((one) => `${prefix ?? 'chain'}-${one}`).join(', ')}.`,
    RPC_SILENT,
  ],
  advice: [
    "Run it on the node's own host, where systemd is process 1.",
    'If the names of the units have another prefix, set it: `--prefix PREFIX`.',
  ],
})
