import { FINDINGS } from './findings.ts'
import { type Collector, follow } from '../../core/collector.ts'
import { minute } from '../../core/units.ts'
import { CONSENSUS_KINDS, definition } from './definition.ts'
import { sampleIfKnown } from '../../core/metric.ts'
import { CONSENSUS_LOG_PATTERN } from '../../parsers/consensus-log.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { type ConsensusLogReading, createConsensusCounters, SERVICE } from './counters.ts'
import type { Journal } from '../../sources/journal.ts'
import {
  createGrepSupport,
  createJournalFollower,
  type FollowerReading,
  followerSamples,
} from '../shared/journal-follower.ts'
import type { OfferCollector, UnitSetting, Uses } from '../dependencies.ts'

/** Called for events of the follower that change what the window covers. */
interface JournalObserver {
  /** journalctl was started: the first entries may be a backlog. */
  opened(): void
  /** Entries may be missing before the next batch. */
  gap(): void
}

const withObserver = (journal: Journal<JournalEntry>, { opened, gap }: JournalObserver): Journal<JournalEntry> => ({
  async *follow(following, context) {
    opened()
    for await (const batch of journal.follow(following, context)) {
      if (batch.gap) gap()
      yield batch
    }
  },
})

type Reading = FollowerReading & ConsensusLogReading

/** The last 60 seconds of the consensus log, and the findings in them. */
export const consensus = ({
  journalDependencies,
  exec,
  clock,
  unitNames,
  unit,
  roundLog,
  timing,
}: Uses<'journalDependencies' | 'exec' | 'clock' | 'unitNames' | 'roundLog', UnitSetting>): Collector<Reading> => {
  const counters = createConsensusCounters(journalDependencies.counts.recorder, roundLog)
  const canGrep = createGrepSupport(exec)
  let entries = 0
  /** The number of entries, and since when it is the same. */
  let quiet: { readonly entries: number; readonly since: number } | undefined

  const journal = withObserver(journalDependencies.journal, {
    opened: () => {
      quiet = undefined
    },
    gap: counters.resetWindow,
  })

  const open = createJournalFollower(
    { ...journalDependencies, journal },
    {
      timing,
      consumer: {
        service: SERVICE,
        match: async (signal) => [
          ...(await unitNames.match([unit], signal)),
          ...((await canGrep(signal)) ? [`--grep=${CONSENSUS_LOG_PATTERN}`] : []),
        ],
        // journalctl applies this limit before it filters: some seconds of a log with DEBUG lines.
        newest: 10_000,
        lookBack: 1.25 * minute,
        initialize: counters.initialize,
        onEntry: (entry, isOld) => {
          entries += 1
          counters.on(entry, isOld)
        },
        snapshot: counters.snapshot,
        restore: counters.restore,
      },
    },
  )

  /** The window ends with the newest entry, and moves with the clock while there are no new entries. */
  const moveWindow = (): void => {
    const now = clock.now()
    counters.resetIfAheadOf(now)
    if (quiet?.entries !== entries) quiet = { entries, since: clock.elapsed() }
    else if (counters.hasLine() && clock.elapsed() - quiet.since >= timing.interval) counters.advanceTo(now)
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: follow<FollowerReading, Reading>(open, { lastEntryAt: null, ...counters.read() }, (_, following) => {
      moveWindow()
      return { ...following, ...counters.read() }
    }),
    samples,
    states,
  }
}

const samples: Collector<Reading>['samples'] = (reading) => [
  ...followerSamples(SERVICE, reading),
  ...sampleIfKnown('chain_consensus_round', reading.round),
  ...sampleIfKnown('chain_consensus_epoch', reading.epoch),
  ...sampleIfKnown('chain_consensus_block_number', reading.block),
  ...sampleIfKnown('chain_consensus_committing', reading.committing),
  ...sampleIfKnown('chain_consensus_start_active', reading.startActive),
  ...sampleIfKnown('chain_consensus_statesync_active', reading.statesyncActive),
  ...sampleIfKnown('chain_consensus_blocksync_active', reading.blocksyncActive),
  ...sampleIfKnown('chain_consensus_network_error_peers', reading.networkErrorPeers),
  ...CONSENSUS_KINDS.flatMap((kind) =>
    sampleIfKnown('chain_consensus_window_messages', reading.messages[kind], { kind }),
  ),
  ...FINDINGS.flatMap(({ finding, when }) => sampleIfKnown('chain_consensus_finding', when(reading), { finding })),
]

/** Findings by name, without values: a value would make each reading a change of state. */
const states: Collector<Reading>['states'] = (reading) => {
  const found = FINDINGS.filter(({ severity, when }) => severity !== 'info' && when(reading))
  return {
    ...(reading.isCovered || found.length > 0
      ? { 'consensus log': found.map(({ finding }) => finding).join(', ') || 'no findings' }
      : {}),
    ...(reading.unparsed === null ? {} : { 'consensus log, unparsed': reading.unparsed }),
  }
}

export const offer: OfferCollector<typeof definition> = { create: consensus }
