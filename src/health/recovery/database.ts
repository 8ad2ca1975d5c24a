import { percent } from '../../core/format.ts'
import { cite } from '../../domain/node-documentation.ts'
import { second } from '../../core/units.ts'
import { freeChunks } from '../facts.ts'
import { limitOf } from '../rules/index.ts'
import {
  NEVER_ALONE,
  type RecoveryPlan,
  type RecoveryRule,
  setMaintenance,
  type Situation,
  startAll,
  stopAll,
} from './situation.ts'

/** The kind of a slot-encoded timeline; the page-encoded kind is named by the name prefix. */
const SLOT_KIND = 'ethereum'

/** Whether a fork that requires a page-encoded timeline is active; undefined if none is known on this network. */
const isPageForkActive = ({ known, at }: Situation): boolean | undefined => {
  const requiring = known.series('chain_fork_ready').flatMap(({ labels: { fork, check } }) => {
    return check === 'timeline' && fork !== undefined ? [fork] : []
  })
  const times = known
    .series('chain_fork_activation_timestamp_seconds')
    .filter(({ labels: { fork = '' } }) => fork === PAGE_FORK || requiring.includes(fork))
    .map(({ value }) => value)
  return times.length === 0 ? undefined : Math.min(...times) <= at / second
}

/** Its name in networks/forks.yaml. */
const PAGE_FORK = 'mip-8'

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

/** What an empty database must be so that execution starts with it. */
const newDatabase = (situation: Situation): readonly string[] => {
  const isActive = isPageForkActive(situation)
  const { prefix } = situation
  if (isActive === false) {
    return [
      `Before the fork a new database needs both timelines, each loaded from the snapshot${cite('migration-runbook')}. Check both before the start: \`${storageTool(situation)}\``,
    ]
  }
  const since = isActive === undefined ? 'Since the fork MIP-8' : 'Since the fork'
  return [
    `${since} the new database must be page-encoded: created with \`--state-machine ${prefix}\`, into which an older snapshot can be loaded, too${cite('migration-runbook')}. Without the option it is slot-encoded, and execution does not start${cite('storage-tool', 'v0.16.1')}.`,
    `Check before the start that the report has \`State machine kind: ${prefix}\`: the reset script assumes slot encoding if the storage tool printed nothing${cite('reset-workspace')}: \`${storageTool(situation)}\``,
  ]
}

/** What not to do with a hard reset. */
export const hardResetCautions = (situation: Situation): readonly string[] => [
  `Do not reset a node whose history is needed, such as an RPC or archive node: it has no logs, receipts and traces from before the snapshot afterwards. A full replay keeps them${cite('node-recovery')}.`,
  ...noDowngrade(situation),
]

/** After the fork every recovery leads forward. */
const noDowngrade = (situation: Situation): readonly string[] =>
  isPageForkActive(situation) === false
    ? []
    : [`Do not install a release older than v0.16.1: it leaves the chain at the fork MIP-8${cite('v0.16.2')}.`]

/** The page-encoded timeline next to the slot-encoded one; after the fork in its place. */
export const migration = (situation: Situation): readonly string[] => [
  setMaintenance('1h', 'upgrade'),
  `Stop the services together: \`${stopAll(situation)}\``,
  `Migrate the database as in the node's documentation: activate the page-encoded timeline, dump a snapshot of the database, load it into that timeline${cite('page-migration')}. It takes about 8 minutes${cite('v0.15.2')}.`,
  ...(isPageForkActive(situation) === true
    ? [`After the fork promote that timeline, too${cite('migration-runbook')}: \`${promote(situation)}\``]
    : []),
  `Start the services together: \`${startAll(situation)}\``,
  'If the blocksync window has closed by then, the node needs a newer forkpoint: `chain-agent recover`',
]

const promote = (situation: Situation): string => storageTool(situation, '--promote-secondary')

export const migrationCautions = (situation: Situation): readonly string[] => [
  `Do not empty the database to save time: a hard reset is hardly faster, and costs its history${cite('hard-reset', 'node-recovery')}.`,
  ...(isPageForkActive(situation) === true
    ? noDowngrade(situation)
    : [
        `Do not promote the page-encoded timeline before the fork: execution would end at its next commit${cite('migration-runbook')}.`,
      ]),
]

type DatabasePlan = Omit<RecoveryPlan, 'path' | 'why'>

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
    notNow: migrationCautions(situation),
    runbook: 'ChainLogTrouble.timeline-missing',
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
    why: [],
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
  runbook: 'ChainLogTrouble.timeline-missing',
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
  notNow: noDowngrade(situation),
  runbook: 'ChainLogTrouble.timeline-missing',
})

/** Since the fork the primary timeline must be page-encoded, before it slot-encoded. */
const otherEncoding = (situation: Situation): DatabasePlan => {
  const { primary, secondary } = timelinesOf(situation)
  const isActive = isPageForkActive(situation)
  if (isActive === false || primary === situation.prefix) return unknownEncoding(situation)
  const isPromotable = primary === SLOT_KIND && secondary === situation.prefix
  if (primary !== undefined && !isPromotable) {
    return {
      summary: `migrate the database: ${OTHER_ENCODING}`,
      steps: migration(situation),
      notNow: migrationCautions(situation),
      runbook: 'ChainLogTrouble.timeline-missing',
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
      `Do not promote if the primary timeline is of kind ${situation.prefix} already, or before the fork MIP-8 is active on your network: the storage tool does not check the fork, and execution would end at its next commit${cite('migration-runbook')}.`,
      ...noDowngrade(situation),
    ],
    runbook: 'ChainLogTrouble.timeline-missing',
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
  notNow: migrationCautions(situation),
  runbook: 'ChainLogTrouble.timeline-missing',
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
      ...hardResetCautions(situation),
    ],
    runbook: 'ChainStorageFull.free-chunks',
  }
}

/** Whether the fork is active and the slot-encoded timeline still takes space. */
const isSlotTimelineLeft = (situation: Situation): boolean => {
  const { primary, secondary } = timelinesOf(situation)
  const kinds = [primary, secondary]
  return isPageForkActive(situation) === true && kinds.includes(SLOT_KIND) && kinds.includes(situation.prefix)
}

const dropSlotTimeline = (situation: Situation): readonly string[] => [
  ...(timelinesOf(situation).primary === SLOT_KIND
    ? [`Promote the page-encoded timeline${cite('page-migration')}: \`${promote(situation)}\``]
    : []),
  `Drop the slot-encoded timeline, which only an archive node still needs: that frees its space${cite('migration-runbook')}. The report must show it as the secondary one: \`${storageTool(situation)}\``,
  `Then deactivate it${cite('migration-runbook')}: \`${storageTool(situation, '--deactivate-secondary')}\``,
]
