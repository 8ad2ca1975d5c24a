import { figure, joinList } from '../../core/format.ts'
import { minute } from '../../core/units.ts'
import { cite } from '../../domain/node-documentation.ts'
import { hardReset, HARD_RESET_CAUTIONS } from './preconditions.ts'
import {
  NEVER_ALONE,
  NO_REBOOT,
  type RecoveryPlan,
  type RecoveryRule,
  restartAll,
  type Situation,
  SNAPSHOT_FROM,
  startAll,
  startOutlook,
  stopAll,
} from './situation.ts'

/** Consensus was restarted alone and sent blocks that execution had already executed; execution aborted. */
export const executionEndedAfterPartialRestart: RecoveryRule = (situation) =>
  situation.isPartial && situation.execution.isDown && !isTooFar(situation)
    ? {
        path: 'restart together',
        summary: 'restart consensus and execution together: consensus was restarted alone, and execution has ended',
        why: ['Consensus was restarted without execution, and execution has ended since.'],
        steps: [
          keepLog(situation),
          `Restart the services together: \`${restartAll(situation)}\``,
          'Check within two minutes that blocks arrive: `chain-agent status chain --watch`',
        ],
        notNow: [NEVER_ALONE, 'Do not delete core dumps: the maintainers of the node software need them.'],
        runbook: 'ChainPartialRestart',
      }
    : undefined

/** The state of this node differs from the network's. A restart does not fix it, and the log must be kept. */
export const wrongState: RecoveryRule = (situation) => {
  const name = ['result_mismatch', 'block_failed'].find((one) => situation.trouble.has(one))
  // After a partial restart execution logs the same for blocks that it cannot place.
  if (name === undefined || situation.isPartial || mayBeEarlierRun(situation)) return undefined
  const compare =
    "Compare the version with the one that the network runs. If it is older, upgrade as in the node's release notes."
  const cautions = ['Do not serve applications from this node until it is fixed.', ...HARD_RESET_CAUTIONS]
  if (name === 'block_failed') {
    return {
      path: 'restart together',
      summary: 'compare the version, then start the services together once: execution cannot execute a block',
      why: [`A block that fails is not committed: the state may be right${cite('execution-result')}.`],
      steps: [
        keepLog(situation),
        compare,
        `Restart the services together, once: \`${restartAll(situation)}\``,
        `If the same line comes again with the right version, send the log to the developers of the node, then see the hard reset${cite('hard-reset')}: \`chain-agent runbook ChainStateDiverged.bad-state-root\``,
      ],
      notNow: [...cautions, NEVER_ALONE],
      runbook: 'ChainStateDiverged.bad-state-root',
    }
  }
  return {
    path: 'hard reset',
    summary: 'do a hard reset: execution computed a different result than the network',
    why: [`The state with this result is committed already${cite('execution-result')}.`],
    steps: [keepLog(situation), compare, ...hardReset(situation)],
    notNow: ['Do not restart: it does not fix a wrong state.', ...cautions],
    runbook: 'ChainStateDiverged.bad-state-root',
  }
}

/**
 * The blocks of this node differ from those of a majority of the references, two at least, at two heights in a row. The
 * counter of consensus and a single reference are no proof: others may be wrong.
 */
export const diverged: RecoveryRule = (situation) => {
  const { comparisons, isAdvancing } = situation
  const others = comparisons.filter(({ matches, parentMatches }) => matches === false && parentMatches === false)
  const isProven = others.length >= 2 && others.length * 2 > comparisons.length
  const isSuspected = others.length > 0 && others.length * 2 >= comparisons.length && !isAdvancing
  if (!isProven && !isSuspected) return undefined
  const height = figure(Number(others[0]?.height))
  const why = [
    `${others.length} of ${comparisons.length} references that answered ${others.length === 1 ? 'has' : 'have'} another hash than this node at finalized block ${height}, and at the one before.`,
  ]
  const notNow = ['Do not restart: it does not fix a wrong state.', 'Do not serve applications from this node.']
  if (!isProven) {
    return {
      path: 'unknown',
      summary: 'unknown: this node has stopped, and it or a reference has the wrong blocks',
      why: [...why, 'One reference proves nothing: it may be wrong, or of another chain.'],
      steps: [
        keepLog(situation),
        `Compare block ${height} with a third source, as in the runbook: \`chain-agent runbook ChainStateDiverged\``,
      ],
      notNow: [...notNow, 'Do not restore a database before a second source shows that it is wrong.'],
      runbook: 'ChainStateDiverged',
    }
  }
  return {
    path: 'hard reset',
    summary: 'do a hard reset: the blocks of this node differ from those of the network, so its database is wrong',
    why: [...why, 'The hash of a block covers its state and its parent: every later block differs, too.'],
    steps: [
      keepLog(situation),
      'Check again in a minute, at another height, before you reset anything: `chain-agent recover`',
      "Compare the version with the one that the network runs. If it is older, upgrade as in the node's release notes.",
      ...hardReset(situation),
    ],
    notNow: [...notNow, ...HARD_RESET_CAUTIONS],
    runbook: 'ChainStateDiverged',
  }
}

/** Consensus or execution does not run: how far the node is behind decides how to start it. */
export const down: RecoveryRule = (situation) => {
  const { bft, execution, rpc, gap, trouble } = situation
  const stopped = [bft, execution, rpc].filter(({ isDown }) => isDown)
  if (!bft.isDown && !execution.isDown) return undefined
  const names = joinList(stopped.map(({ unit }) => unit))
  const why = [
    `${names} ${stopped.length === 1 ? 'does' : 'do'} not run.`,
    ...(trouble.has('high_qc_too_far') ? ['Consensus logged that the network is too far ahead of its root.'] : []),
  ]
  if (isTooFar(situation)) return fromSnapshot(situation, why)
  // A service that still runs must be restarted too: it must not continue with one that is started later.
  const both = bft.isDown && execution.isDown
  const command = both ? startAll(situation) : restartAll(situation)
  const verb = both ? 'start' : 'restart'
  const before = [
    `Read the last log lines, for at most 30 s: \`journalctl ${stopped.map(({ unit }) => `-u ${unit}`).join(' ')} -n 20 --no-pager\``,
  ]
  const start = `${verb === 'start' ? 'Start' : 'Restart'} the services together: \`${command}\``
  const steps = [...before, start]
  const notNow = [NEVER_ALONE, NO_REBOOT, 'If it ends again at once, do not repeat the start: keep the log.']
  if (gap === undefined) {
    return {
      path: 'start',
      summary: `${verb} the services together; how far the node is behind is unknown`,
      why,
      steps: [
        ...steps,
        'Check whether it catches up. If it ends again with "high qc too far ahead", it needs a newer forkpoint: `chain-agent runbook ChainBlocksyncWindow`',
      ],
      notNow,
      runbook: 'ChainServiceDown',
    }
  }
  const outlook = startOutlook(situation)
  if (outlook?.catchesUp === true && !trouble.has('high_qc_too_far')) {
    return {
      path: 'start',
      summary: `${verb} the services together, now: peers still serve the blocks that the node missed`,
      why: [
        ...why,
        ...(outlook.statesyncsFromRemote
          ? [
              `If both REMOTE URLs are set, consensus takes the remote forkpoint and statesyncs instead${cite('start-forkpoint')}.`,
            ]
          : []),
      ],
      steps: [...steps, 'Check within two minutes that it catches up: `chain-agent recover`'],
      notNow,
      runbook: 'ChainServiceDown',
    }
  }
  return softReset(situation, { why, before, start, notNow })
}

/** Only the RPC is down. */
export const rpcDown: RecoveryRule = ({ rpc, known, isAdvancing, isSyncing, isRpcLate }) => {
  const isUnanswered = known.value('chain_rpc_up') === 0 && isAdvancing && !isSyncing
  if (!rpc.isDown && !isUnanswered) return undefined
  if (!rpc.isDown && isRpcLate) {
    return {
      path: 'wait',
      summary: 'wait, and check again: blocks arrive, and one RPC request timed out',
      why: ['A single timeout does not show that the RPC is down.'],
      steps: ['Check again in a few seconds: `chain-agent recover`'],
      notNow: ['Do not restart consensus or execution because of the RPC.'],
      runbook: 'ChainRpcDown',
    }
  }
  return {
    path: 'restart rpc',
    summary: `restart the RPC alone${isAdvancing ? ': consensus and execution work' : ''}`,
    why: [
      rpc.isDown
        ? `${rpc.unit} does not run; consensus and execution do.`
        : 'The RPC does not answer, and blocks arrive.',
    ],
    steps: [
      `See why: \`journalctl -u ${rpc.unit} -n 40 --no-pager\``,
      `Restart it; only this service may be restarted alone: \`sudo systemctl restart ${rpc.unit}\``,
    ],
    notNow: ['Do not restart consensus or execution because of the RPC.'],
    runbook: 'ChainRpcDown',
  }
}

/** Whether the line may be from an earlier run of execution, so that the restart has already handled it. */
const mayBeEarlierRun = ({ at, execution }: Situation): boolean =>
  !execution.isDown && execution.startedAt !== undefined && at - execution.startedAt < REMEMBERED_MS

/** How long the logs collector keeps a trouble line. */
const REMEMBERED_MS = 10 * minute

const isTooFar = ({ gap }: Situation): boolean => gap !== undefined && gap.blocks > SNAPSHOT_FROM

export const fromSnapshot = (situation: Situation, why: readonly string[]): RecoveryPlan => ({
  path: 'hard reset',
  summary: 'do a hard reset: the node is more than 30,000 blocks behind, so restore a snapshot',
  why,
  steps: hardReset(situation),
  notNow: [
    `Do not start it from here without a snapshot: the node itself advises to restore one first${cite('statesync-threshold')}.`,
    ...HARD_RESET_CAUTIONS,
    NEVER_ALONE,
  ],
  runbook: 'ChainBlocksyncWindow',
})

interface SoftReset extends Pick<RecoveryPlan, 'why' | 'notNow'> {
  /** What must be seen or done while the services are as they are. */
  readonly before: readonly string[]
  /** The step that starts the services. */
  readonly start: string
}

export const softReset = (situation: Situation, { why, before, start, notNow }: SoftReset): RecoveryPlan => ({
  path: 'soft reset',
  summary: 'do a soft reset: start the services together with a new forkpoint, and let the node statesync',
  why: [
    ...why,
    `With its local forkpoint consensus does not begin a statesync: it starts from its old root and cannot catch up${cite('start-forkpoint')}.`,
  ],
  steps: [
    ...before,
    ...fetchFiles(situation),
    start,
    `Check which files consensus uses: "using remote", or "using local" after a download by hand: \`journalctl -u ${situation.bft.unit} --since -5m --no-pager -g 'using (remote|local)'\``,
    'Let statesync run, and check that it progresses: `chain-agent status statesync --watch`',
  ],
  notNow: [
    ...notNow,
    `Do not restore a snapshot yet: the node advises one from ${figure(SNAPSHOT_FROM)} blocks behind${cite('statesync-threshold')}${situation.gap?.isAtLeast === true ? ', and the exact number is unknown' : ''}.`,
  ],
  runbook: 'ChainBlocksyncWindow',
})

/** Since v0.12.1 consensus fetches both files at its start if its environment has their URLs, and uses newer ones. */
export const fetchFiles = (situation: Situation): readonly string[] => [
  `Check whether consensus fetches a new forkpoint and validators file at its start, which it does if both URLs are set: \`sudo grep -oE '^REMOTE_(FORKPOINT|VALIDATORS)_URL=' /home/${situation.prefix}/.env\``,
  `If one of them is not set, or cannot be fetched, stop the services and download forkpoint/forkpoint.toml and validators/validators.toml into /home/${situation.prefix}/${situation.prefix}-bft/config, as in the node's documentation${cite('soft-reset')}. The URLs differ by network, and the agent does not have them: \`${stopAll(situation)}\``,
]

const keepLog = ({ bft, execution }: Situation): string =>
  `Save the log first: \`journalctl -u ${bft.unit} -u ${execution.unit} --since -30m --no-pager > /var/tmp/chain-crash.log\``
