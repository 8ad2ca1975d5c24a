import { second } from '../../core/units.ts'
import { roughly } from '../words.ts'
import type { Situation } from './situation.ts'
import { announce, type Finder, NEVER_ALONE, restartAll, startAll, stopAll } from './way.ts'

/** Execution itself said that it cannot open the database as it is. */
export const oldDatabase: Finder = (situation) => {
  const { trouble, execution } = situation
  const name = ['timeline_missing', 'db_old_format'].find((one) => trouble.has(one))
  if (name === undefined || !execution.isDown) return undefined
  return {
    path: 'migrate',
    says:
      name === 'timeline_missing'
        ? 'migrate the database: execution does not start without the page-encoded timeline'
        : 'bring the database to the new format: execution does not open the old one',
    why: [],
    steps: migration(situation),
    notNow: [
      'Do not start it again before that: it ends in the same way each time.',
      'Do not run other options of the database tool than the release names: some cut the database.',
      NEVER_ALONE,
    ],
    runbook: 'ChainTimelineMissing',
  }
}

const migration = (situation: Situation): readonly string[] => [
  announce('4h', 'upgrade'),
  `Stop the services together: \`${stopAll(situation)}\``,
  "Migrate the database as the maker's notes on this release describe it: it takes hours and space. Where time is short and a page-encoded snapshot is offered, a hard reset is the faster way.",
  `Start the services together: \`${startAll(situation)}\``,
  'The window of blocksync has closed by then: let the node statesync.',
]

const DAY_S = 86_400
const soon = 7 * DAY_S

/** A fork that the node lacks something for; what has begun first, then what is a week away. */
const unreadyFork = (
  { known, at }: Situation,
  matters: (secondsLeft: number) => boolean,
): { readonly fork: string; readonly check: string; readonly left: number } | undefined => {
  const found = known
    .series('chain_fork_ready')
    .filter(({ value }) => value === 0)
    .flatMap(({ labels: { fork = '', check = '' } }) => {
      const activation = known.value('chain_fork_activation_timestamp_seconds', { fork })
      const left = activation === undefined ? undefined : activation - at / second
      return left === undefined || !matters(left) ? [] : [{ fork, check, left }]
    })
  return found.toSorted((a, b) => a.left - b.left)[0]
}

/** The fork has come, and the node has not what it asks for: nothing else helps. */
export const missedFork: Finder = (situation) => {
  const missed = unreadyFork(situation, (left) => left <= 0)
  if (!missed) return undefined
  const { fork, check } = missed
  const isVersion = check === 'version'
  return {
    path: isVersion ? 'upgrade' : 'migrate',
    says: `${isVersion ? 'upgrade the node' : 'migrate the database'}: the fork ${fork} has come, and the node is not ready for it`,
    why: [
      `The fork ${fork} took effect ${roughly(-missed.left * second)} ago.`,
      ...installed(situation),
    ],
    steps: isVersion ? upgrade(situation) : migration(situation),
    notNow: ['Do not restart the old version: it cannot follow the chain from the fork on.'],
    runbook: 'ChainForkNotReady',
  }
}

const installed = ({ known }: Situation): readonly string[] =>
  known.value('chain_version_mismatch') === 1
    ? ['A newer version is installed than the one that runs.']
    : []

const upgrade = (situation: Situation): readonly string[] => [
  'See that the backups of the keys are there: `sudo chain-agent check`',
  announce('1h', 'upgrade'),
  ...(situation.known.value('chain_version_mismatch') === 1
    ? []
    : ["Install the release that the network asks for, as the maker's notes on it describe."]),
  `Restart the services together: \`${restartAll(situation)}\``,
]

/** While there is time: nothing is broken yet. */
export const comingFork: Finder = (situation) => {
  const coming = unreadyFork(situation, (left) => left > 0 && left <= soon)
  if (!coming) return undefined
  const { fork, check } = coming
  const isVersion = check === 'version'
  return {
    path: isVersion ? 'upgrade' : 'migrate',
    says: `${isVersion ? 'upgrade the node' : 'migrate the database'} before the fork ${fork}, which is ${roughly(coming.left * second)} away`,
    why: ['The node does its work until then.', ...(isVersion ? installed(situation) : [])],
    steps: isVersion ? upgrade(situation) : migration(situation),
    notNow: ['Do not leave it for the last hour: where it fails, the node is out.'],
    runbook: 'ChainForkNotReady',
  }
}
