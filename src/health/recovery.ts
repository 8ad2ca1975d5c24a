import { capital, duration } from '../core/format.ts'
import type { RecoveryAction } from '../domain/health.ts'
import { isWatcher, NO_ANSWER, NO_NODE, RPC_SILENT } from './facts.ts'
import { citedIn } from '../domain/node-documentation.ts'
import * as preconditions from './recovery/preconditions.ts'
import * as running from './recovery/running.ts'
import {
  evidenceOf,
  type Path,
  readSituation,
  type RecoveryInput,
  type RecoveryPlan,
  type RecoveryRule,
  type Situation,
  timeLeft,
  type WrittenPlan,
} from './recovery/situation.ts'
import * as stopped from './recovery/stopped.ts'

export interface RecoveryAdvice extends RecoveryPlan {
  /** The documents that the plan cites, as `[id]` in its texts. */
  readonly sources: readonly { readonly id: string; readonly title: string; readonly url: string }[]
  /** 0: nothing to do but wait at most; 1: otherwise. */
  readonly exitCode: 0 | 1
  /** How long a start or restart of the services is enough, without a full stop; null if no time is running out. */
  readonly left: string | null
  /** The same for a message; null if no recovery is needed, or which one is unknown. */
  readonly next: RecoveryAction | null
}

/** There is no node on this host, or nothing is known of it. */
const noNode: RecoveryRule = ({ node, bft, systemdFailure }) => {
  if (node === 'absent') {
    return {
      ...UNKNOWN,
      summary: `unknown: ${NO_NODE}`,
      why: [`systemd does not know ${bft.unit}.`, RPC_SILENT],
      steps: ["Run it on the node's own host, as a user with access to systemd and the journal.", SEE_CHECK],
    }
  }
  if (node !== 'unanswered') return undefined
  return {
    ...UNKNOWN,
    summary: `unknown: ${NO_ANSWER}`,
    why: [`${systemdFailure}.`, RPC_SILENT],
    steps: [SEE_CHECK],
    notNow: ['Do not restart services for this: nothing shows a fault of the node.'],
  }
}

const UNKNOWN = { path: 'unknown', runbook: null } as const
const SEE_CHECK = 'See what could not be read, and why: `chain-agent check`'

/**
 * The first rule that applies determines the plan. Problems that would make a start fail come before the start, and a
 * stalled node comes before one that is only behind.
 */
const RULES: readonly RecoveryRule[] = [
  noNode,
  preconditions.lostKeys,
  preconditions.oldDatabase,
  preconditions.missedFork,
  preconditions.fullDatabase,
  preconditions.noSpace,
  preconditions.hostNotReady,
  stopped.executionEndedAfterPartialRestart,
  stopped.wrongState,
  stopped.diverged,
  stopped.down,
  running.statesync,
  running.startStalled,
  running.stalled,
  running.executionStalled,
  stopped.rpcDown,
  running.partialRestart,
  preconditions.comingFork,
  running.behind,
  running.healthy,
]

/** The documented recovery procedure that the node needs now, if any. It only advises and never acts. */
export const adviseRecovery = (evidence: RecoveryInput): RecoveryAdvice => {
  const situation = readSituation(evidence)
  const hasNode = !isWatcher(evidence.known)
  const plan: RecoveryPlan = {
    why: [],
    steps: [],
    notNow: [],
    ...(hasNode ? choosePlan(situation) : WITHOUT_NODE),
  }
  const left = START_IS_ENOUGH.includes(plan.path) ? timeLeft(situation) : null
  const hasEvidence = hasNode && !(plan.path === 'unknown' && situation.age === undefined)
  return {
    ...plan,
    why: [...plan.why, ...(hasEvidence ? evidenceOf(situation, plan.path) : [])],
    sources: citedIn([...plan.why, ...plan.steps, ...plan.notNow]).map(({ id, title, url }) => ({ id, title, url })),
    exitCode: NO_ACTION.includes(plan.path) ? 0 : 1,
    left: left === null ? null : `Time left for a restart: ${duration(left)}`,
    next: nextOf(plan, left === null ? null : evidence.at + left),
  }
}

/** On a watcher. */
const WITHOUT_NODE: WrittenPlan = {
  path: 'none',
  summary: 'there is no node on this host: run it on the host of the watched node',
  runbook: null,
}

const NO_ACTION: readonly Path[] = ['none', 'wait']
const START_IS_ENOUGH: readonly Path[] = ['wait', 'start', 'restart together']

/** The imperative of the summary, without the reason, which may contain figures. */
const nextOf = ({ path, summary }: RecoveryPlan, deadline: number | null): RecoveryAction | null => {
  const [action = ''] = summary.split(/[:;]|, which /)
  return path === 'none' || path === 'unknown' ? null : { action: capital(action), deadline }
}

const choosePlan = (situation: Situation): WrittenPlan => {
  for (const rule of RULES) {
    const plan = rule(situation)
    if (plan) return plan
  }
  const summary = 'unknown: too little is known of the node to recommend a recovery'
  return { ...UNKNOWN, summary, steps: [SEE_CHECK] }
}
