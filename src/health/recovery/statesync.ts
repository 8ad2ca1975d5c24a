import { second } from '../../core/units.ts'
import { LIMITS } from '../limits.ts'
import { figure, roughly } from '../words.ts'
import type { Situation } from './situation.ts'
import { type Finder, hardReset, NEVER_ALONE, restartAll } from './way.ts'

/** The node fetches state: that takes its time, unless nothing moves any more. */
export const statesync: Finder = (situation) => {
  const { known, at, isSyncing } = situation
  if (!isSyncing) return undefined
  const movedAt = known.value('chain_statesync_last_progress_timestamp_seconds')
  const stalledFor = movedAt === undefined ? undefined : at / second - movedAt
  const eta = known.value('chain_statesync_eta_seconds')
  const isAdvised = situation.trouble.has('snapshot_advised')
  const why = [
    ...progress(situation),
    stalledFor === undefined || !situation.isWatched
      ? 'Whether it moves is not known: ask again in a minute.'
      : `It last moved ${roughly(stalledFor * second)} ago, as far as the agent has watched it.`,
    ...(eta === undefined ? [] : [`At its pace it takes another ${roughly(eta * second)}.`]),
    ...(isAdvised ? ['The node itself advises a snapshot: its blocks are too old, or none.'] : []),
  ]
  if (stalledFor !== undefined && stalledFor > LIMITS.statesyncStalled.critical) {
    return {
      path: 'hard reset',
      says: 'a hard reset, unless one restart of all services together moves statesync',
      why,
      steps: [
        'See whether others reach the node (firewall, UDP, clock): without peers no statesync moves.',
        `Once, restart the services together, and give it ten minutes: \`${restartAll(situation)}\``,
        ...hardReset(situation),
      ],
      notNow: ['Do not restart again and again: each start looks for peers anew.', NEVER_ALONE],
      runbook: 'ChainStatesyncFrozen',
    }
  }
  return {
    path: 'wait',
    says: 'wait: statesync is under way',
    why,
    steps: [
      `See that it moves: \`chain-agent status statesync --watch\``,
      ...(isAdvised ? ['Where that takes too long, a hard reset (a snapshot) is faster.'] : []),
    ],
    notNow: ['Do not restart anything: statesync would begin anew.'],
    runbook: 'ChainStatesync',
  }
}

const progress = ({ known }: Situation): readonly string[] => {
  const block =
    known.value('chain_native_statesync_progress_block') ??
    known.value('chain_status_statesync_progress_block')
  const target =
    known.value('chain_native_statesync_target_block') ??
    known.value('chain_status_statesync_target_block')
  return block === undefined || target === undefined
    ? ['How far it is, is not known.']
    : [`It has reached block ${figure(block)} of ${figure(target)}.`]
}
