import { figure } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { LIMITS } from '../limits.ts'
import { shortDuration } from '../format.ts'
import type { Situation } from './situation.ts'
import { type RecoveryRule, hardReset, NEVER_ALONE, restartAll } from './recovery-plan.ts'

/** The node fetches state: wait, unless statesync makes no progress. */
export const statesync: RecoveryRule = (situation) => {
  const { known, at, isSyncing } = situation
  if (!isSyncing) return undefined
  const movedAt = known.value('chain_statesync_last_progress_timestamp_seconds')
  const stalledFor = movedAt === undefined ? undefined : at / second - movedAt
  const eta = known.value('chain_statesync_eta_seconds')
  const isAdvised = situation.trouble.has('snapshot_advised')
  const why = [
    ...progress(situation),
    stalledFor === undefined || !situation.isMonitored
      ? 'Whether it progresses is not known: run the command again in a minute.'
      : `Its last progress was ${shortDuration(stalledFor * second)} ago, as far as the agent has monitored it.`,
    ...(eta === undefined ? [] : [`Time left at this rate: ${shortDuration(eta * second)}.`]),
    ...(isAdvised ? ['The node itself advises a snapshot: its blocks are too old, or missing.'] : []),
  ]
  if (stalledFor !== undefined && stalledFor > LIMITS.statesyncStalled.critical) {
    return {
      path: 'hard reset',
      says: 'a hard reset, unless statesync progresses after one restart of all services together',
      why,
      steps: [
        'Check that peers can reach the node (firewall, UDP, clock): statesync needs peers.',
        `Restart the services together once, and wait ten minutes: \`${restartAll(situation)}\``,
        ...hardReset(situation),
      ],
      notNow: ['Do not restart repeatedly: each start has to find peers again.', NEVER_ALONE],
      runbook: 'ChainStatesyncFrozen',
    }
  }
  return {
    path: 'wait',
    says: 'wait: statesync is under way',
    why,
    steps: [
      `Check that it progresses: \`chain-agent status statesync --watch\``,
      ...(isAdvised ? ['If that takes too long, a hard reset (a snapshot) is faster.'] : []),
    ],
    notNow: ['Do not restart anything: statesync would start from the beginning.'],
    runbook: 'ChainStatesync',
  }
}

const progress = ({ known }: Situation): readonly string[] => {
  const block =
    known.value('chain_native_statesync_progress_block') ?? known.value('chain_status_statesync_progress_block')
  const target =
    known.value('chain_native_statesync_target_block') ?? known.value('chain_status_statesync_target_block')
  return block === undefined || target === undefined
    ? ['Its progress is not known.']
    : [`It has reached block ${figure(block)} of ${figure(target)}.`]
}
