import { second } from '../../core/units.ts'
import { shortDuration } from '../format.ts'
import type { Situation } from './situation.ts'
import { setMaintenance, type RecoveryRule, NEVER_ALONE, restartAll, startAll, stopAll } from './recovery-plan.ts'

/** Execution logged that it cannot open the database in its current format. */
export const oldDatabase: RecoveryRule = (situation) => {
  const { trouble, execution } = situation
  const name = ['timeline_missing', 'db_old_format'].find((one) => trouble.has(one))
  if (name === undefined || !execution.isDown) return undefined
  return {
    path: 'migrate',
    says:
      name === 'timeline_missing'
        ? 'migrate the database: execution does not start without the page-encoded timeline'
        : 'migrate the database to the new format: execution does not open the old one',
    why: [],
    steps: migration(situation),
    notNow: [
      'Do not start it again before that: it fails the same way each time.',
      'Use only the options of the database tool that the release notes name: some truncate the database.',
      NEVER_ALONE,
    ],
    runbook: 'ChainTimelineMissing',
  }
}

const migration = (situation: Situation): readonly string[] => [
  setMaintenance('4h', 'upgrade'),
  `Stop the services together: \`${stopAll(situation)}\``,
  "Migrate the database as described in the vendor's release notes: it takes hours and disk space. If time is short and a page-encoded snapshot is available, a hard reset is faster.",
  `Start the services together: \`${startAll(situation)}\``,
  'The blocksync window has closed by then: let the node statesync.',
]

const DAY_S = 86_400
const SOON_S = 7 * DAY_S

/** The earliest fork that the node is not ready for, of those whose remaining seconds match. */
const findUnreadyFork = (
  { known, at }: Situation,
  isRelevant: (secondsLeft: number) => boolean,
): { readonly fork: string; readonly check: string; readonly left: number } | undefined => {
  const found = known
    .series('chain_fork_ready')
    .filter(({ value }) => value === 0)
    .flatMap(({ labels: { fork = '', check = '' } }) => {
      const activation = known.value('chain_fork_activation_timestamp_seconds', { fork })
      const left = activation === undefined ? undefined : activation - at / second
      return left === undefined || !isRelevant(left) ? [] : [{ fork, check, left }]
    })
  return found.toSorted((a, b) => a.left - b.left)[0]
}

/** The fork is active and the node does not meet its requirements: nothing else helps. */
export const missedFork: RecoveryRule = (situation) => {
  const missed = findUnreadyFork(situation, (left) => left <= 0)
  if (!missed) return undefined
  const { fork, check } = missed
  const isVersion = check === 'version'
  return {
    path: isVersion ? 'upgrade' : 'migrate',
    says: `${isVersion ? 'upgrade the node' : 'migrate the database'}: the fork ${fork} is active, and the node is not ready for it`,
    why: [`The fork ${fork} took effect ${shortDuration(-missed.left * second)} ago.`, ...installed(situation)],
    steps: isVersion ? upgrade(situation) : migration(situation),
    notNow: ['Do not restart the old version: it cannot follow the chain from the fork on.'],
    runbook: 'ChainForkNotReady',
  }
}

const installed = ({ known }: Situation): readonly string[] =>
  known.value('chain_version_mismatch') === 1 ? ['The installed version is newer than the running one.'] : []

const upgrade = (situation: Situation): readonly string[] => [
  'Check that the backups of the keys exist: `sudo chain-agent check`',
  setMaintenance('1h', 'upgrade'),
  ...(situation.known.value('chain_version_mismatch') === 1
    ? []
    : ["Install the release that the network requires, as described in the vendor's release notes."]),
  `Restart the services together: \`${restartAll(situation)}\``,
]

/** A fork within a week that the node is not ready for. */
export const comingFork: RecoveryRule = (situation) => {
  const coming = findUnreadyFork(situation, (left) => left > 0 && left <= SOON_S)
  if (!coming) return undefined
  const { fork, check } = coming
  const isVersion = check === 'version'
  return {
    path: isVersion ? 'upgrade' : 'migrate',
    says: `${isVersion ? 'upgrade the node' : 'migrate the database'} before the fork ${fork}, which is ${shortDuration(coming.left * second)} away`,
    why: ['The node works until then.', ...(isVersion ? installed(situation) : [])],
    steps: isVersion ? upgrade(situation) : migration(situation),
    notNow: ['Do not leave it to the last hour: if it fails, the node falls out of the network.'],
    runbook: 'ChainForkNotReady',
  }
}
