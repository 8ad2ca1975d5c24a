import { joinList, shortDuration } from '../../core/format.ts'
import { keyFilesOf } from '../facts.ts'
import { cite } from '../../domain/node-documentation.ts'
import { migration, migrationCautions } from './database.ts'
import {
  areKeyFilesElsewhere,
  NEVER_ALONE,
  type RecoveryRule,
  restartAll,
  setMaintenance,
  type Situation,
  startAll,
} from './situation.ts'
import { second } from '../../core/units.ts'

/** A keystore is missing or invalid: every start would fail. */
export const lostKeys: RecoveryRule = (situation) => {
  const files = keyFilesOf(situation.known)
  const lost = files.filter(({ kind, state }) => kind === 'keystore' && (state === 'missing' || state === 'invalid'))
  // If all files are missing, the configured directory is probably wrong.
  if (lost.length === 0 || areKeyFilesElsewhere(situation)) return undefined
  const keys = lost.map(({ key }) => key).filter((key) => key !== 'password')
  const what = joinList([
    ...(keys.length === 0 ? [] : [`the ${keys.length === 1 ? 'keystore' : 'keystores'} of ${joinList(keys)}`]),
    ...(keys.length === lost.length ? [] : ['the password of the keystores']),
  ])
  const runs = !situation.bft.isDown
  return {
    path: 'restore keys',
    summary: `restore ${what} from the backup: the node does not start without`,
    why: lost.map(({ key, state }) => `The file of ${key} is ${state}.`),
    steps: [
      'See which backups exist, on this host and in the vault: `sudo chain-agent check`',
      ...(keys.length === lost.length ? [] : [PASSWORD]),
      ...(keys.length === 0 ? [] : restoreKeystores(runs)),
      runs
        ? 'Check that its state is ok before you restart anything: `sudo chain-agent check`'
        : `Then start the services together: \`${startAll(situation)}\``,
    ],
    notNow: [
      ...(runs ? ['Do not restart the node: it uses the keys in its memory, and would not start again.'] : []),
      'Do not create new keys: the stake of the node is bound to these.',
    ],
    runbook: lost.some(({ state }) => state === 'missing') ? 'ChainKeyFile.missing' : 'ChainKeyFile.invalid',
  }
}

/** The agent's own command verifies the key before it replaces a file, and keeps the owner. */
const restoreKeystores = (runs: boolean): readonly string[] => [
  `See which key a restore would write; nothing is replaced${cite('keystore')}: \`sudo chain-agent keys restore --dry-run\``,
  runs
    ? `If it is the key of this node, restore it while the node runs${cite('keystore')}: \`sudo chain-agent keys restore --while-running\``
    : `Restore it from the backup${cite('keystore')}: \`sudo chain-agent keys restore\``,
]

const PASSWORD =
  'Write the password back from its backup into the environment file, as in docs/how-to/keys.md: keystores cannot be opened without it.'

/** A file system is full: a start would fail like the last run. */
export const noSpace: RecoveryRule = (situation) => {
  const { trouble, bft, execution } = situation
  const name = ['disk_full', 'wal_push_failed'].find((one) => trouble.has(one))
  if (name === undefined || !(bft.isDown || execution.isDown)) return undefined
  return {
    path: 'make room',
    summary: 'make room on the disk first, then start the services together',
    why: [],
    steps: [
      'See which file system is full: `df -h && df -i`',
      'Delete what is not needed, old logs first: `sudo journalctl --vacuum-size=1G`',
      `Start the services together: \`${startAll(situation)}\``,
    ],
    notNow: ['Do not delete keys, configuration or database files.', NEVER_ALONE],
    runbook: 'ChainDiskFull',
  }
}

/** A kernel feature that execution needs to start is missing. */
export const hostNotReady: RecoveryRule = (situation) => {
  const { trouble, execution } = situation
  const name = ['event_ring', 'io_uring'].find((one) => trouble.has(one))
  if (name === undefined || !execution.isDown) return undefined
  return {
    path: 'fix host',
    summary:
      name === 'event_ring'
        ? 'fix the huge pages of the host first: execution cannot start without them'
        : 'fix the kernel of the host first: it does not provide the io_uring queue that execution needs',
    why: [],
    steps: [
      'See what is missing on the host: `chain-agent check`',
      `Then start the services together: \`${restartAll(situation)}\``,
    ],
    notNow: ['Do not start it again before that: it fails the same way each time.', NEVER_ALONE],
    runbook: name === 'event_ring' ? 'ChainHostSetUp.huge-pages' : 'ChainHostSetUp.kernel',
  }
}

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
    summary: `${isVersion ? 'upgrade the node' : 'migrate the database'}: the fork ${fork} is active, and the node is not ready for it`,
    why: [`The fork ${fork} took effect ${shortDuration(-missed.left * second)} ago.`, ...installed(situation)],
    steps: isVersion ? upgrade(situation) : migration(situation),
    notNow: [
      'Do not restart the old version: it cannot follow the chain from the fork on.',
      ...(isVersion ? [] : migrationCautions(situation)),
    ],
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
    : ["Install the release that the network requires, as in the node's upgrade instructions."]),
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
    summary: `${isVersion ? 'upgrade the node' : 'migrate the database'} before the fork ${fork}, which is ${shortDuration(coming.left * second)} away`,
    why: ['The node works until then.', ...(isVersion ? installed(situation) : [])],
    steps: isVersion ? upgrade(situation) : migration(situation),
    notNow: [
      'Do not leave it to the last hour: if it fails, the node falls out of the network.',
      ...(isVersion ? [] : migrationCautions(situation)),
    ],
    runbook: 'ChainForkNotReady',
  }
}
