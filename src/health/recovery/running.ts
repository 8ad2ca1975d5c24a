import { minute, second } from '../../core/units.ts'
import { LIMITS } from '../limits.ts'
import { roughly } from '../words.ts'
import type { Situation } from './situation.ts'
import { fromSnapshot, softReset } from './stopped.ts'
import {
  announce,
  type Finder,
  NEVER_ALONE,
  NO_REBOOT,
  restartAll,
  SNAPSHOT_FROM,
  type Way,
} from './way.ts'

/** A start needs so long before it can be judged. */
const PATIENCE_MS = 3 * minute
/** The network is ahead, and not by what passes between two questions. */
const AHEAD = 15

/** Everything runs, and no block comes. */
export const stalled: Finder = (situation) => {
  const { age, isAdvancing, bft, at, gap, window, known } = situation
  if (isAdvancing || age === undefined || age <= LIMITS.blockAge.warning) return undefined
  const stalledFor = roughly(age * second)
  const startedAgo = bft.startedAt === undefined ? undefined : at - bft.startedAt
  const isFresh = startedAgo !== undefined && startedAgo < PATIENCE_MS
  // Waiting costs blocks of the window: near its end there is none to be had.
  const isUrgent = gap !== undefined && window - gap.blocks < LIMITS.windowBlocks.critical
  if (age <= LIMITS.blockAge.critical || (isFresh && !isUrgent)) {
    return {
      path: 'wait',
      says: `wait, and look again: no block for ${stalledFor}`,
      why: startedAgo === undefined ? [] : [`Consensus was started ${roughly(startedAgo)} ago.`],
      steps: ['Look again in half a minute: `chain-agent recover`'],
      notNow: [NEVER_ALONE],
      runbook: 'ChainBlockStalled',
    }
  }
  const why = [
    `No block for ${stalledFor}${situation.hasServices ? ', and consensus and execution run' : ''}.`,
    ...(known.value('chain_native_upstream_validators') === 0
      ? ['No validator feeds this node.']
      : []),
    ...(known.value('chain_consensus_finding', { finding: 'timeout_deadlock' }) === 1
      ? ['Consensus gives up rounds by its own clock, and commits nothing.']
      : []),
  ]
  if (gap === undefined || gap.by === 'age') return unknownNetwork(situation, { stalledFor, why })
  if (gap.blocks <= AHEAD) return networkStalled({ stalledFor, why })
  if (gap.blocks > SNAPSHOT_FROM) return fromSnapshot(situation, why)
  const steps = [
    'See that others reach the node and that its clock is right: behind a closed port a restart ends in the same place.',
    announce('30m', 'other'),
    `Restart the services together: \`${restartAll(situation)}\``,
    'See within two minutes that blocks come, or that statesync begins: `chain-agent recover`',
  ]
  const notNow = [NEVER_ALONE, 'Do not wait for it to recover: it does not.', NO_REBOOT]
  if (gap.blocks >= window) return softReset(situation, { why, steps, notNow })
  return {
    path: 'restart together',
    says: `restart the services together, now: no block for ${stalledFor}, and the network goes on`,
    why,
    steps,
    notNow,
    runbook: 'ChainConsensusDeadlock',
  }
}

interface Standstill {
  readonly stalledFor: string
  readonly why: readonly string[]
}

const unknownNetwork = (situation: Situation, { stalledFor, why }: Standstill): Way => ({
  path: 'unknown',
  says: `unknown: no block for ${stalledFor}, and whether the network goes on cannot be told`,
  why: [...why, 'No majority of references tells the height of the network.'],
  steps: [
    'Compare the height with a public explorer of the chain, or with another operator.',
    `The network produces blocks: restart the services together: \`${restartAll(situation)}\``,
    'The network has stopped producing blocks, too: restart nothing, and ask the other operators.',
  ],
  notNow: [NEVER_ALONE],
  runbook: 'ChainBlockStalled',
})

const networkStalled = ({ stalledFor, why }: Standstill): Way => ({
  path: 'wait',
  says: `wait: no block for ${stalledFor}, and the network has none either`,
  why: [...why, 'The references are where this node is.'],
  steps: ['Ask the other operators; leave the node as it is.'],
  notNow: ['Do not restart: a node that waits for the network is where it should be.'],
  runbook: 'ChainBlockStalled',
})

/** Consensus advances and execution does not: the state is stalled, whatever is agreed on. */
export const executionStalled: Finder = (situation) => {
  const { isAdvancing, executionSilent, execution, at, known } = situation
  const isRpcMoving =
    at / second - (known.value('chain_rpc_last_advance_timestamp_seconds') ?? 0) < SILENT_S
  if (!isAdvancing || isRpcMoving) return undefined
  if (executionSilent === undefined || executionSilent < SILENT_S) return undefined
  if (execution.startedAt !== undefined && at - execution.startedAt < PATIENCE_MS) return undefined
  return {
    path: 'restart together',
    says: `restart the services together: execution has executed nothing for ${roughly(executionSilent * second)}`,
    why: ['Consensus goes on, and execution says nothing of any block.'],
    steps: [
      announce('30m', 'other'),
      `See what execution said last: \`journalctl -u ${execution.unit} -n 20 --no-pager\``,
      `Restart the services together: \`${restartAll(situation)}\``,
    ],
    notNow: [NEVER_ALONE, NO_REBOOT],
    runbook: 'ChainExecutionLagging',
  }
}

/** It executes a block three times a second, and says so of each. */
const SILENT_S = 60

/** Blocks come, and the danger is not over. */
export const calmRestart: Finder = (situation) =>
  situation.isPartial
    ? {
        path: 'restart together',
        says: 'restart consensus and execution together at a calm moment: consensus was started alone',
        why: ['Consensus was started anew, and the execution beside it was not; blocks come.'],
        steps: [
          announce('10m', 'other'),
          `Restart the services together: \`${restartAll(situation)}\``,
        ],
        notNow: ['Not within minutes of the turn of an epoch.', NEVER_ALONE],
        runbook: 'ChainPartialRestart',
      }
    : undefined

/** It moves, and is not where the network is. */
export const behind: Finder = ({ gap, isAdvancing }) =>
  isAdvancing && gap !== undefined && gap.by !== 'age' && gap.blocks > AHEAD
    ? {
        path: 'wait',
        says: 'wait: the node is behind, and blocks come',
        why: [],
        steps: [
          'See whether the difference becomes less: `chain-agent status chain --watch`',
          'Where it does not, a restart does not help either; see what holds the node up: `chain-agent check`',
        ],
        notNow: [NEVER_ALONE],
        runbook: 'ChainBehind',
      }
    : undefined

/** Nothing to recover from. */
export const well: Finder = ({ isAdvancing, age, gap }) => {
  if (!isAdvancing && (age === undefined || age > LIMITS.blockAge.warning)) return undefined
  return {
    path: 'none',
    says:
      gap === undefined || gap.by !== 'references'
        ? 'none is needed: blocks come'
        : 'none is needed: the node keeps up with the chain',
    why: [],
    steps: [],
    notNow: [],
    runbook: null,
  }
}
