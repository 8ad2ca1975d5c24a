import { isStarting, statesyncProgress } from '../../domain/agreement.ts'
import { BEHIND_BLOCKS, isolationOf, peersText, progressText, servicesOf } from '../facts.ts'
import { minute, second } from '../../core/units.ts'
import { limitOf } from '../rules/index.ts'
import { shortDuration } from '../../core/format.ts'
import { cite } from '../../domain/node-documentation.ts'
import { hardReset, HARD_RESET_CAUTIONS, storageTool } from './preconditions.ts'
import {
  NEVER_ALONE,
  NO_REBOOT,
  type RecoveryPlan,
  type RecoveryRule,
  restartAll,
  setMaintenance,
  type Situation,
  SNAPSHOT_FROM,
  startOutlook,
} from './situation.ts'
import { fetchFiles, fromSnapshot, softReset } from './stopped.ts'

/** Time that services need after a start before their state is meaningful. */
const STARTUP_MS = 3 * minute

/** All services run, but no block arrives. */
export const stalled: RecoveryRule = (situation) => {
  const { age, isAdvancing, bft, at, gap, window, known } = situation
  if (isAdvancing || age === undefined || age <= limitOf('ChainBlockStalled', 'warning')) return undefined
  const stalledFor = shortDuration(age * second)
  const startedAgo = bft.startedAt === undefined ? undefined : at - bft.startedAt
  const isFresh = startedAgo !== undefined && startedAgo < STARTUP_MS
  // Waiting uses up the blocksync window: near its end there is no time to wait.
  const isUrgent = gap !== undefined && window - gap.blocks < limitOf('ChainBlocksyncWindow', 'critical')
  if (age <= limitOf('ChainBlockStalled', 'critical') || (isFresh && !isUrgent)) {
    return {
      path: 'wait',
      summary: `wait, and check again: no block for ${stalledFor}`,
      why: startedAgo === undefined ? [] : [`Consensus was started ${shortDuration(startedAgo)} ago.`],
      steps: ['Check again in 30 s: `chain-agent recover`'],
      notNow: [NEVER_ALONE],
      runbook: 'ChainBlockStalled',
    }
  }
  const why = [
    `No block for ${stalledFor}${servicesOf(known).length > 0 ? ', and consensus and execution run' : ''}.`,
    ...isolationOf(known),
    ...(known.value('chain_consensus_finding', { finding: 'timeout_deadlock' }) === 1
      ? ['Consensus times out its rounds and commits nothing.']
      : []),
  ]
  if (gap === undefined || gap.by === 'age') return unknownNetwork(situation, { stalledFor, why })
  if (gap.blocks <= BEHIND_BLOCKS) return networkStalled({ stalledFor, why })
  if (gap.blocks > SNAPSHOT_FROM) return fromSnapshot(situation, why)
  const before = [
    `See within 30 s whether peers reach the node (${peersText(known)}); without them, or with a clock that was set back, a restart does not help: \`chain-agent status peers\``,
    setMaintenance('30m', 'other'),
  ]
  const start = `Restart the services together: \`${restartAll(situation)}\``
  const notNow = [NEVER_ALONE, 'Do not wait for it to recover: it does not.', NO_REBOOT]
  if (startOutlook(situation)?.catchesUp !== true) {
    return softReset(situation, { why, before, start, notNow })
  }
  return {
    path: 'restart together',
    summary: `restart the services together, now: no block for ${stalledFor}, and the network still produces blocks`,
    why,
    steps: [...before, start, 'Check within two minutes that blocks arrive: `chain-agent recover`'],
    notNow,
    runbook: 'ChainBlockStalled.deadlock',
  }
}

/** Consensus was started and is not live: it has no root yet, so it takes no proposal and cannot statesync. */
export const startStalled: RecoveryRule = (situation) => {
  const { known, age, bft, at } = situation
  if (!isStarting(known)) return undefined
  const startedAgo = bft.startedAt === undefined ? (age ?? 0) * second : at - bft.startedAt
  const why = [`Consensus was started ${shortDuration(startedAgo)} ago and is not live.`]
  const [notNow, runbook] = [[NEVER_ALONE], 'ChainStartStalled']
  if (startedAgo < STARTUP_MS) {
    const steps = ['Check again in 30 s: `chain-agent recover`']
    return { path: 'wait', summary: 'wait, and check again: consensus is starting', why, steps, notNow, runbook }
  }
  return {
    path: 'fix host',
    summary: 'fix the connection to peers: consensus waits for the blocks of its root',
    why: [
      ...why,
      'Its ledger lacks blocks of its root, and no peer has served them. It needs them also for a statesync.',
    ],
    steps: [
      `Check that its ports are reachable from outside, its bootstrap peers (${peersText(known)}), and that its clock was not set back: \`chain-agent status peers\``,
      ...fetchFiles(situation),
      setMaintenance('30m', 'other'),
      `Restart the services together, after a fix or with a newer forkpoint; there is no progress to lose: \`${restartAll(situation)}\``,
    ],
    notNow,
    runbook,
  }
}

interface StalledNode {
  readonly stalledFor: string
  readonly why: readonly string[]
}

const unknownNetwork = (situation: Situation, { stalledFor, why }: StalledNode): RecoveryPlan => ({
  path: 'unknown',
  summary: `unknown: no block for ${stalledFor}, and whether the network produces blocks is unknown`,
  why: [...why, 'No majority of references agrees on the height of the network.'],
  steps: [
    'Compare the height with a public explorer of the chain, or with another operator.',
    `If the network produces blocks, restart the services together: \`${restartAll(situation)}\``,
    'If the network has also stopped producing blocks, restart nothing and contact the other operators.',
  ],
  notNow: [NEVER_ALONE],
  runbook: 'ChainBlockStalled',
})

const networkStalled = ({ stalledFor, why }: StalledNode): RecoveryPlan => ({
  path: 'wait',
  summary: `wait: no block for ${stalledFor}, and the network is stalled too`,
  why: [...why, 'The references are at the same height as this node.'],
  steps: ['Contact the other operators; leave the node as it is.'],
  notNow: ['Do not restart: the node is in sync and only waits for the network.'],
  runbook: 'ChainBlockStalled',
})

/** Consensus advances and execution does not: the state is stalled. */
export const executionStalled: RecoveryRule = (situation) => {
  const { isAdvancing, executionSilent, execution, at, known } = situation
  const isRpcMoving = at / second - (known.value('chain_rpc_last_advance_timestamp_seconds') ?? 0) < SILENT_S
  if (!isAdvancing || isRpcMoving) return undefined
  if (executionSilent === undefined || executionSilent < SILENT_S) return undefined
  if (execution.startedAt !== undefined && at - execution.startedAt < STARTUP_MS) return undefined
  return {
    path: 'restart together',
    summary: `restart the services together: execution has executed nothing for ${shortDuration(executionSilent * second)}`,
    why: ['Consensus advances, but execution logs no block.'],
    steps: [
      setMaintenance('30m', 'other'),
      `See the last log lines of execution: \`journalctl -u ${execution.unit} -n 20 --no-pager\``,
      `Restart the services together: \`${restartAll(situation)}\``,
    ],
    notNow: [NEVER_ALONE, NO_REBOOT],
    runbook: 'ChainExecutionSlow.lagging',
  }
}

/** Execution logs each block, about three per second. */
const SILENT_S = 60

/** Consensus was restarted alone. Blocks arrive, but execution may still abort. */
export const partialRestart: RecoveryRule = (situation) =>
  situation.isPartial
    ? {
        path: 'restart together',
        summary: 'restart consensus and execution together at a convenient time: consensus was restarted alone',
        why: ['Consensus was restarted without execution; blocks arrive.'],
        steps: [setMaintenance('10m', 'other'), `Restart the services together: \`${restartAll(situation)}\``],
        notNow: ['Do not do it within minutes of an epoch boundary.', NEVER_ALONE],
        runbook: 'ChainPartialRestart',
      }
    : undefined

/** The node advances but is behind the network. */
export const behind: RecoveryRule = ({ gap, isAdvancing }) =>
  isAdvancing && gap !== undefined && gap.by !== 'age' && gap.blocks > BEHIND_BLOCKS
    ? {
        path: 'wait',
        summary: 'wait: the node is behind, and blocks arrive',
        steps: [
          'Check whether the difference decreases: `chain-agent status chain --watch`',
          'If it does not decrease, a restart does not help either. See what slows the node down: `chain-agent check`',
        ],
        notNow: [NEVER_ALONE],
        runbook: 'ChainBehind',
      }
    : undefined

/** The node is healthy: no recovery is needed. */
export const healthy: RecoveryRule = ({ isAdvancing, age, gap }) => {
  if (!isAdvancing && (age === undefined || age > limitOf('ChainBlockStalled', 'warning'))) return undefined
  return {
    path: 'none',
    summary:
      gap === undefined || gap.by !== 'references'
        ? 'none is needed: blocks arrive'
        : 'none is needed: the node keeps up with the chain',
    runbook: null,
  }
}

/** The node fetches state: wait, unless neither the estimate of statesync nor its database changes. */
export const statesync: RecoveryRule = (situation) => {
  const { known, at, isSyncing, isStatesyncFrozen } = situation
  if (!isSyncing) return undefined
  const movedAt = known.value('chain_statesync_last_progress_timestamp_seconds')
  const stalledFor = movedAt === undefined ? undefined : at / second - movedAt
  const eta = known.value('chain_statesync_eta_seconds')
  const isAdvised = situation.trouble.has('snapshot_advised')
  const isLate = stalledFor !== undefined && stalledFor > limitOf('ChainStatesyncFrozen', 'warning')
  const isDatabaseKnown = known.value('chain_native_database_used_bytes') !== undefined
  const why = [
    ...progress(situation),
    stalledFor === undefined || !situation.isMonitored
      ? 'Whether it progresses is not known: run the command again in a minute.'
      : `Its estimate last changed ${shortDuration(stalledFor * second)} ago, as far as the agent has monitored it.`,
    ...(isStatesyncFrozen && isDatabaseKnown ? ['The use of its database has not changed for 10 min.'] : []),
    ...(isLate && !isStatesyncFrozen
      ? [
          'The estimate may stay the same while data arrives: it is stalled only if the use of its database does not change either.',
        ]
      : []),
    ...(eta === undefined ? [] : [`Time left at this rate: ${shortDuration(eta * second)}.`]),
    ...(isAdvised ? ['The node itself advises a snapshot: its blocks are too old, or missing.'] : []),
  ]
  if (isStatesyncFrozen) {
    return {
      path: 'hard reset',
      summary: 'do a hard reset, unless statesync progresses after one restart of all services together',
      why,
      steps: [
        ...(isDatabaseKnown
          ? []
          : [
              `Read the use of the database twice, five minutes apart. If it grows, data arrives: restart nothing, and wait: \`${storageTool(situation)}\``,
            ]),
        'Check that peers can reach the node (firewall, UDP): statesync needs peers.',
        `Restart the services together once, and wait ten minutes: \`${restartAll(situation)}\``,
        ...hardReset(situation),
      ],
      notNow: ['Do not restart repeatedly: each start has to find peers again.', ...HARD_RESET_CAUTIONS, NEVER_ALONE],
      runbook: 'ChainStatesyncFrozen',
    }
  }
  return {
    path: 'wait',
    summary: 'wait: statesync is under way',
    why,
    steps: [
      `Check that it progresses: \`chain-agent status statesync --watch\``,
      ...(isAdvised
        ? [
            `If it makes no progress, a hard reset is the alternative: restoring the snapshot takes minutes, at most an hour${cite('hard-reset')}, and costs the history before it${cite('node-recovery')}. Its steps are in docs/how-to/hard-reset.md: \`chain-agent runbook ChainBlocksyncWindow\``,
          ]
        : []),
    ],
    notNow: [`Do not restart anything: statesync would start its current target again${cite('statesync-client')}.`],
    runbook: 'ChainStatesync',
  }
}

const progress = ({ known }: Situation): readonly string[] => {
  const found = statesyncProgress(known)
  return [found ? `It has reached ${progressText(found)}.` : 'Its progress is not known.']
}
