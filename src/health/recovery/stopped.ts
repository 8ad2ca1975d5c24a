import { minute } from '../../core/units.ts'
import { figure, list } from '../words.ts'
import type { Situation } from './situation.ts'
import {
  type Finder,
  hardReset,
  NEVER_ALONE,
  NO_REBOOT,
  restartAll,
  SNAPSHOT_FROM,
  startAll,
  stopAll,
  type Way,
} from './way.ts'

/** Execution met blocks that it had run already, beside a consensus that was started alone. */
export const endedBesideConsensus: Finder = (situation) =>
  situation.isPartial && situation.execution.isDown && !isTooFar(situation)
    ? {
        path: 'restart together',
        says: 'restart consensus and execution together: consensus was started alone, and execution has ended',
        why: ['Consensus was started anew beside an execution that was not, and that has ended.'],
        steps: [
          keepLog(situation),
          `Restart the services together: \`${restartAll(situation)}\``,
          'See within two minutes that blocks come: `chain-agent status chain --watch`',
        ],
        notNow: [NEVER_ALONE, 'Do not delete core dumps: whoever maintains the node wants them.'],
        runbook: 'ChainPartialRestart',
      }
    : undefined

/** The state of this node is not the network's. A start does not mend it, and the log of it must be kept. */
export const wrongState: Finder = (situation) => {
  const name = ['result_mismatch', 'block_failed'].find((one) => situation.trouble.has(one))
  // Beside a consensus that was started alone, execution says so of blocks that it cannot place.
  if (name === undefined || situation.isPartial || mayBeOver(situation)) return undefined
  return {
    path: 'hard reset',
    says: 'a hard reset: execution came to another result than the network',
    why: [],
    steps: [
      keepLog(situation),
      "Compare the version with the one that the network runs: where it is older, the way is an upgrade, by the maker's notes.",
      ...hardReset(situation),
    ],
    notNow: [
      'Do not restart in the hope that it goes away: a wrong state stays wrong.',
      'Do not serve applications from this node until it is mended.',
    ],
    runbook: 'ChainBadStateRoot',
  }
}

/** Consensus or execution does not run: how far behind decides what a start leads to. */
export const down: Finder = (situation) => {
  const { bft, execution, rpc, gap, window, trouble } = situation
  const stopped = [bft, execution, rpc].filter(({ isDown }) => isDown)
  if (!bft.isDown && !execution.isDown) return undefined
  const names = list(stopped.map(({ unit }) => unit))
  const why = [
    `${names} ${stopped.length === 1 ? 'does' : 'do'} not run.`,
    ...(trouble.has('high_qc_too_far')
      ? ['Consensus said that the network is further ahead than peers serve blocks for.']
      : []),
  ]
  if (isTooFar(situation)) return fromSnapshot(situation, why)
  // What runs still must not go on beside what is started anew.
  const both = bft.isDown && execution.isDown
  const command = both ? startAll(situation) : restartAll(situation)
  const verb = both ? 'start' : 'restart'
  const steps = [
    `Read the last lines of what ended, half a minute and no more: \`journalctl ${stopped.map(({ unit }) => `-u ${unit}`).join(' ')} -n 20 --no-pager\``,
    `${verb === 'start' ? 'Start' : 'Restart'} the services together: \`${command}\``,
  ]
  const notNow = [NEVER_ALONE, NO_REBOOT, 'Where it ends again at once, do not loop: keep the log.']
  if (gap === undefined) {
    return {
      path: 'start',
      says: `${verb} the services together; how far behind the node is cannot be told`,
      why,
      steps: [...steps, 'See whether it catches up or begins a statesync: `chain-agent recover`'],
      notNow,
      runbook: 'ChainServiceDown',
    }
  }
  if (gap.blocks < window && !trouble.has('high_qc_too_far')) {
    return {
      path: 'start',
      says: `${verb} the services together, now: peers still serve what the node missed`,
      why,
      steps: [...steps, 'See within two minutes that it catches up: `chain-agent recover`'],
      notNow,
      runbook: 'ChainServiceDown',
    }
  }
  return softReset(situation, { why, steps, notNow })
}

/** Only what serves applications is gone. */
export const rpcDown: Finder = ({ rpc, known, isAdvancing, isSyncing, isRpcLate }) => {
  const isMute = known.value('chain_rpc_up') === 0 && isAdvancing && !isSyncing
  if (!rpc.isDown && !isMute) return undefined
  if (!rpc.isDown && isRpcLate) {
    return {
      path: 'wait',
      says: 'wait, and ask again: blocks come, and the RPC did not answer in time',
      why: ['One question that was answered late is no RPC that is down.'],
      steps: ['Ask again in a few seconds: `chain-agent recover`'],
      notNow: ['Do not restart consensus or execution for the sake of the RPC.'],
      runbook: 'ChainRpcDown',
    }
  }
  return {
    path: 'restart rpc',
    says: `restart the RPC alone${isAdvancing ? ': consensus and execution do their work' : ''}`,
    why: [
      rpc.isDown
        ? `${rpc.unit} does not run; consensus and execution do.`
        : 'The RPC does not answer, and blocks come.',
    ],
    steps: [
      `See why: \`journalctl -u ${rpc.unit} -n 40 --no-pager\``,
      `Restart it; this is the one service that may be alone: \`sudo systemctl restart ${rpc.unit}\``,
    ],
    notNow: ['Do not restart consensus or execution for the sake of the RPC.'],
    runbook: 'ChainRpcDown',
  }
}

/** The line may be of an earlier run of execution, and that is why it was started anew. */
const mayBeOver = ({ at, execution }: Situation): boolean =>
  !execution.isDown && execution.startedAt !== undefined && at - execution.startedAt < REMEMBERED_MS

/** So long a line of the log is remembered. */
const REMEMBERED_MS = 10 * minute

const isTooFar = ({ gap }: Situation): boolean => gap !== undefined && gap.blocks > SNAPSHOT_FROM

export const fromSnapshot = (situation: Situation, why: readonly string[]): Way => ({
  path: 'hard reset',
  says: 'a hard reset: the node is more than 30,000 blocks behind, so restore a snapshot',
  why,
  steps: hardReset(situation),
  notNow: [
    'Do not wait for statesync from there: it takes far longer than a snapshot.',
    NEVER_ALONE,
  ],
  runbook: 'ChainBlocksyncWindow',
})

export const softReset = (
  situation: Situation,
  { why, steps, notNow }: Pick<Way, 'why' | 'steps' | 'notNow'>,
): Way => ({
  path: 'soft reset',
  says: 'a soft reset: start the services together with a new forkpoint, and let the node statesync',
  why,
  steps: [
    ...fetchedFiles(situation),
    ...steps,
    `See that consensus took the new files: \`journalctl -u ${situation.bft.unit} --since -5m --no-pager -g 'replaced local configs with remote configs'\``,
    'Let statesync run, and see that it moves: `chain-agent status statesync --watch`',
  ],
  notNow: [
    ...notNow,
    `Do not restore a snapshot yet: the node advises that from ${figure(SNAPSHOT_FROM)} blocks on${situation.gap?.isAtLeast === true ? ', and how far it is cannot be told exactly' : ''}.`,
  ],
  runbook: 'ChainBlocksyncWindow',
})

/** From v0.12.1 on, consensus fetches both files when it starts, if its environment names their addresses. */
const fetchedFiles = (situation: Situation): readonly string[] => [
  `See whether consensus fetches a new forkpoint and validators file when it starts; then both addresses are set: \`sudo grep -oE '^REMOTE_(FORKPOINT|VALIDATORS)_URL=' /home/${situation.word}/.env\``,
  `If one of them is not set: stop the services, and fetch forkpoint/forkpoint.toml and validators/validators.toml into /home/${situation.word}/${situation.word}-bft/config, as the soft reset page in the documentation of your network describes it. The addresses differ by network, and the agent has none: \`${stopAll(situation)}\``,
]

const keepLog = ({ bft, execution }: Situation): string =>
  `Keep the log before anything else: \`journalctl -u ${bft.unit} -u ${execution.unit} --since -30m --no-pager > /var/tmp/chain-crash.log\``
