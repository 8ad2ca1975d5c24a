import { joinList, percent, shortDuration } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { cite } from '../../domain/node-documentation.ts'
import { freeChunks, keyFilesOf } from '../facts.ts'
import { limitOf } from '../rules/index.ts'
import {
  areKeyFilesElsewhere,
  NEVER_ALONE,
  type RecoveryPlan,
  type RecoveryRule,
  restartAll,
  setMaintenance,
  type Situation,
  startAll,
  stopAll,
} from './situation.ts'

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

/** The plan for the earliest fork that the node is not ready for, of those whose remaining seconds match. */
const forkPlan = (situation: Situation, isRelevant: (secondsLeft: number) => boolean): RecoveryPlan | undefined => {
  const { known, at } = situation
  const [unready] = known
    .series('chain_fork_ready')
    .filter(({ value }) => value === 0)
    .flatMap(({ labels: { fork = '', check = '' } }) => {
      const activation = known.value('chain_fork_activation_timestamp_seconds', { fork })
      const left = activation === undefined ? undefined : activation - at / second
      return left === undefined || !isRelevant(left) ? [] : [{ fork, check, left }]
    })
    .toSorted((a, b) => a.left - b.left)
  if (!unready) return undefined
  const { fork, check, left } = unready
  const [isUpgrade, isInForce] = [check === 'version', left <= 0]
  const time = shortDuration(Math.abs(left) * second)
  return {
    path: isUpgrade ? 'upgrade' : 'migrate',
    summary: `${isUpgrade ? 'upgrade the node' : 'migrate the database'}${isInForce ? `: the fork ${fork} is active, and the node is not ready for it` : ` before the fork ${fork}, which is ${time} away`}`,
    why: [
      isInForce ? `The fork ${fork} took effect ${time} ago.` : 'The node works until then.',
      ...(isVersionPending(situation) ? ['The installed version is newer than the running one.'] : []),
    ],
    steps: isUpgrade ? upgrade(situation) : migration(situation, isInForce),
    notNow: [
      isInForce
        ? 'Do not restart the old version: it cannot follow the chain from the fork on.'
        : 'Do not leave it to the last hour: if it fails, the node falls out of the network.',
      ...(isUpgrade ? [] : MIGRATION_CAUTIONS),
    ],
    runbook: 'ChainForkNotReady',
  }
}

/** The fork is active and the node does not meet its requirements: nothing else helps. */
export const missedFork: RecoveryRule = (situation) => forkPlan(situation, (left) => left <= 0)

/** A fork within a week that the node is not ready for. */
export const comingFork: RecoveryRule = (situation) => forkPlan(situation, (left) => left > 0 && left <= SOON_S)

const isVersionPending = ({ known }: Situation): boolean => known.value('chain_version_mismatch') === 1

const upgrade = (situation: Situation): readonly string[] => [
  'Check that the backups of the keys exist: `sudo chain-agent check`',
  setMaintenance('1h', 'upgrade'),
  ...(isVersionPending(situation)
    ? []
    : ["Install the release that the network requires, as in the node's upgrade instructions."]),
  `Restart the services together: \`${restartAll(situation)}\``,
]

/** The kind of a slot-encoded timeline; the page-encoded kind is named by the name prefix. */
const SLOT_KIND = 'ethereum'

/** The kind of each timeline of the database; both undefined without a report. */
const timelinesOf = ({ known }: Situation): { readonly primary?: string; readonly secondary?: string } =>
  Object.fromEntries(
    known.series('chain_storage_timeline_info').map(({ labels: { timeline = '', kind = '' } }) => [timeline, kind]),
  )

/** The storage tool on the devices of this node. */
export const storageTool = ({ prefix, devices }: Situation, option = ''): string =>
  `sudo ${prefix}-mpt ${devices.map((device) => `--storage ${device}`).join(' ')}${option === '' ? '' : ` ${option}`}`

/** The commands of a hard reset are those of the node's documentation: they differ by network and release, and one of them empties the database. */
export const hardReset = (situation: Situation): readonly string[] => [
  setMaintenance('2h', 'other'),
  `Stop the services together: \`${stopAll(situation)}\``,
  `Reset the workspace, restore the newest snapshot of your network and take a new forkpoint, exactly as in the node's documentation: this takes minutes, at most an hour${cite('hard-reset')}. Keep the keys and their backups.`,
  ...newDatabase(situation),
  `Start the services together: \`${startAll(situation)}\``,
  'Check that statesync and blocksync catch up with the network: `chain-agent status statesync --watch`',
]

/** What an empty database must be so that execution starts with it, since the fork MIP-8. */
const newDatabase = (situation: Situation): readonly string[] => {
  const { prefix } = situation
  return [
    `Since the fork MIP-8 the new database must be page-encoded: created with \`--state-machine ${prefix}\`, into which an older snapshot can be loaded, too${cite('migration-runbook')}. Without the option it is slot-encoded, and execution does not start${cite('storage-tool', 'v0.16.1')}.`,
    `Check before the start that the report has \`State machine kind: ${prefix}\`: the reset script assumes slot encoding if the storage tool printed nothing${cite('reset-workspace')}: \`${storageTool(situation)}\``,
  ]
}

/** After the fork every recovery leads forward. */
const NO_DOWNGRADE = `Do not install a release older than v0.16.1: it leaves the chain at the fork MIP-8${cite('v0.16.2')}.`

/** What not to do with a hard reset. */
export const HARD_RESET_CAUTIONS: readonly string[] = [
  `Do not reset a node whose history is needed, such as an RPC or archive node: it has no logs, receipts and traces from before the snapshot afterwards. A full replay keeps them${cite('node-recovery')}.`,
  NO_DOWNGRADE,
]

/** The page-encoded timeline in the place of the slot-encoded one; next to it before a fork that will require it. */
const migration = (situation: Situation, isInForce = true): readonly string[] => [
  setMaintenance('1h', 'upgrade'),
  `Stop the services together: \`${stopAll(situation)}\``,
  `Migrate the database as in the node's documentation: activate the page-encoded timeline, dump a snapshot of the database, load it into that timeline${cite('page-migration')}. It takes about 8 minutes${cite('v0.15.2')}.`,
  ...(isInForce ? [`Promote that timeline, too${cite('migration-runbook')}: \`${promote(situation)}\``] : []),
  `Start the services together: \`${startAll(situation)}\``,
  'If the blocksync window has closed by then, the node needs a newer forkpoint: `chain-agent recover`',
]

const promote = (situation: Situation): string => storageTool(situation, '--promote-secondary')

const MIGRATION_CAUTIONS: readonly string[] = [
  `Do not empty the database to save time: a hard reset is hardly faster, and costs its history${cite('hard-reset', 'node-recovery')}.`,
  `Do not promote the page-encoded timeline before the fork that requires it: execution would end at its next commit${cite('migration-runbook')}.`,
  NO_DOWNGRADE,
]

type DatabasePlan = Pick<RecoveryPlan, 'summary' | 'steps' | 'notNow'>

/** What execution logged, and the plan for it; the first that applies. */
const OLD_DATABASE: Readonly<Record<string, (situation: Situation) => DatabasePlan>> = {
  db_old_format: (situation) =>
    // The same pattern has the message for a database of a version that the program does not know.
    situation.trouble.get('db_old_format')?.includes('generated with version') === true
      ? otherRelease(situation)
      : metadataUpgrade(situation),
  primary_encoding: (situation) => otherEncoding(situation),
  db_encoding: (situation) => otherEncoding(situation),
  timeline_missing: (situation) => ({
    summary: 'migrate the database: execution does not start without the page-encoded timeline',
    steps: migration(situation),
    notNow: MIGRATION_CAUTIONS,
  }),
}

/** Execution logged that it cannot use the database as it is. */
export const oldDatabase: RecoveryRule = (situation) => {
  const { trouble, execution } = situation
  const name = Object.keys(OLD_DATABASE).find((one) => trouble.has(one))
  const plan = name === undefined ? undefined : OLD_DATABASE[name]?.(situation)
  if (plan === undefined || !execution.isDown) return undefined
  return {
    ...plan,
    path: 'migrate',
    runbook: 'ChainLogTrouble.timeline-missing',
    notNow: [
      'Do not start it again before that: it fails the same way each time.',
      `Use only the options of the storage tool that are named here or in the node's documentation: \`--truncate\`, \`--create-empty\` and \`--restore\` destroy the database${cite('storage-tool')}.`,
      ...plan.notNow,
      NEVER_ALONE,
    ],
  }
}

const metadataUpgrade = (situation: Situation): DatabasePlan => ({
  summary: 'upgrade the metadata of the database, which takes a second: execution does not open the old format',
  steps: [
    setMaintenance('30m', 'upgrade'),
    `Stop the services together: \`${stopAll(situation)}\``,
    `Upgrade the metadata with the storage tool of the installed release${cite('v0.15.0', 'mpt-upgrade')}: \`${storageTool(situation, '--upgrade')}\``,
    `Start the services together: \`${startAll(situation)}\``,
    'If execution then requires a page-encoded timeline, see the next step: `chain-agent recover`',
  ],
  notNow: [`Do not reset the database: a start without the upgrade damages nothing${cite('v0.15.0')}.`],
})

const otherRelease = (situation: Situation): DatabasePlan => ({
  summary: 'install the release that the database belongs to: execution does not know its version',
  steps: [
    'Compare the installed version with the one that ran before: `grep -E " (install|upgrade) " /var/log/dpkg.log | tail -5`',
    setMaintenance('1h', 'upgrade'),
    `If the package was downgraded, install the newer release again${cite('database-metadata')}.`,
    `Start the services together: \`${startAll(situation)}\``,
    `If the database is older than the previous version of the format, it cannot be upgraded${cite('database-metadata')}: ask the developers of the node before you reset it.`,
  ],
  notNow: [NO_DOWNGRADE],
})

/** The primary timeline must be page-encoded. */
const otherEncoding = (situation: Situation): DatabasePlan => {
  const { primary, secondary } = timelinesOf(situation)
  if (primary === situation.prefix) return unknownEncoding(situation)
  const isPromotable = primary === SLOT_KIND && secondary === situation.prefix
  if (primary !== undefined && !isPromotable) {
    return {
      summary: `migrate the database: ${OTHER_ENCODING}`,
      steps: migration(situation),
      notNow: MIGRATION_CAUTIONS,
    }
  }
  return {
    summary: `promote the page-encoded timeline: ${OTHER_ENCODING}`,
    steps: [
      setMaintenance('30m', 'upgrade'),
      `Stop the services together: \`${stopAll(situation)}\``,
      `Check that the primary timeline is of kind ${SLOT_KIND} and the secondary of kind ${situation.prefix}. Without a secondary, migrate the database first, which takes about 8 minutes${cite('page-migration', 'v0.15.2')}: \`${storageTool(situation)}\``,
      `Promote it${cite('v0.16.3')}: \`${promote(situation)}\``,
      `Start the services together: \`${startAll(situation)}\``,
    ],
    notNow: [
      `Do not promote if the primary timeline is of kind ${situation.prefix} already, or before the fork that requires it: the storage tool does not check the fork, and execution would end at its next commit${cite('migration-runbook')}.`,
      NO_DOWNGRADE,
    ],
  }
}

const OTHER_ENCODING = 'the encoding of its primary timeline does not match the block or the release'

/** The encoding is right for the time, or was changed too early: the node's documentation has no procedure. */
const unknownEncoding = (situation: Situation): DatabasePlan => ({
  summary: `compare the release with the one that the network runs: ${OTHER_ENCODING}`,
  steps: [
    `See which timelines the database has: \`${storageTool(situation)}\``,
    'Compare the installed release with the one that the network requires: `chain-agent status versions`',
    'If they are the same, send the report and the log to the developers of the node: its documentation has no procedure for this.',
  ],
  notNow: MIGRATION_CAUTIONS,
})

/** The database is full: a start would fail like the last run. */
export const fullDatabase: RecoveryRule = (situation) => {
  const { known, execution } = situation
  const free = freeChunks(known)
  if (free === undefined || free >= limitOf('ChainStorageFull.free-chunks', 'critical')) return undefined
  return {
    path: 'make room',
    summary: `make room for the database: ${free === 0 ? 'it has no free chunk left' : `only ${percent(free)} of its chunks are free`}`,
    why: [
      execution.isDown
        ? 'Execution does not start again until there is space.'
        : 'Execution fails at the next block that needs a chunk.',
    ],
    steps: [
      setMaintenance('4h', 'hardware'),
      `Stop the services together: \`${stopAll(situation)}\``,
      ...(isSlotTimelineLeft(situation) ? dropSlotTimeline(situation) : []),
      `${isSlotTimelineLeft(situation) ? 'If that frees too little, grow' : 'Grow'} the device of the database${cite('v0.16.5')}, or move the database to a larger one by restoring a snapshot${cite('hard-reset')}.`,
      ...newDatabase(situation),
      `Start the services together: \`${startAll(situation)}\``,
    ],
    notNow: [
      'Do not restart to free space: a restart frees nothing.',
      `Do not remove files to free space: the database is on a device of its own.`,
      ...HARD_RESET_CAUTIONS,
    ],
    runbook: 'ChainStorageFull.free-chunks',
  }
}

/** Whether the slot-encoded timeline still takes space. */
const isSlotTimelineLeft = (situation: Situation): boolean => {
  const { primary, secondary } = timelinesOf(situation)
  const kinds = [primary, secondary]
  return kinds.includes(SLOT_KIND) && kinds.includes(situation.prefix)
}

const dropSlotTimeline = (situation: Situation): readonly string[] => [
  ...(timelinesOf(situation).primary === SLOT_KIND
    ? [
        `If the fork MIP-8 is active on your network, promote the page-encoded timeline${cite('page-migration')}: \`${promote(situation)}\``,
      ]
    : []),
  `Drop the slot-encoded timeline, which only an archive node still needs: that frees its space${cite('migration-runbook')}. The report must show it as the secondary one: \`${storageTool(situation)}\``,
  `Then deactivate it${cite('migration-runbook')}: \`${storageTool(situation, '--deactivate-secondary')}\``,
]
