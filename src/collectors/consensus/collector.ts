import { FINDINGS } from './findings.ts'
import type { Collector } from '../../core/collector.ts'
import { minute } from '../../core/units.ts'
import { CONSENSUS_KINDS, definition } from './definition.ts'
import { sampleIfKnown } from '../../core/metric.ts'
import { CONSENSUS_LOG_PATTERN } from '../../parsers/consensus-log.ts'
import { type ConsensusLogReading, createConsensusCounters, SERVICE } from './counters.ts'
import { createFilteredMatch, followJournal, type FollowerReading } from '../shared/journal-follower.ts'
import type { UnitSetting, Uses } from '../dependencies.ts'

type ConsensusUses = Uses<'journalDependencies' | 'exec' | 'clock' | 'unitNames' | 'roundLog', UnitSetting>

type Reading = FollowerReading & ConsensusLogReading

/** The last 60 seconds of the consensus log, and the findings in them. */
export const consensus = (uses: ConsensusUses): Collector<Reading> => {
  const { journalDependencies, clock, unit, roundLog, timing } = uses
  const counters = createConsensusCounters(journalDependencies.counts.recorder, roundLog)
  let entries = 0
  /** The number of entries, and since when it is the same. */
  let quiet: { readonly entries: number; readonly since: number } | undefined

  /** The window ends with the newest entry, and moves with the clock while there are no new entries. */
  const moveWindow = (): void => {
    const now = clock.now()
    counters.resetIfAheadOf(now)
    if (quiet?.entries !== entries) quiet = { entries, since: clock.elapsed() }
    else if (counters.hasLine() && clock.elapsed() - quiet.since >= timing.interval) counters.advanceTo(now)
  }

  return followJournal(definition, uses, {
    consumer: {
      service: SERVICE,
      match: createFilteredMatch(uses, [unit], CONSENSUS_LOG_PATTERN),
      // journalctl applies this limit before it filters: some seconds of a log with DEBUG lines.
      newest: 10_000,
      lookBack: 1.25 * minute,
      ...counters,
      onOpen: () => {
        quiet = undefined
      },
      onGap: counters.resetWindow,
      onEntry: (entry, isOld) => {
        entries += 1
        counters.on(entry, isOld)
      },
    },
    read: (following) => {
      moveWindow()
      return { ...following, ...counters.read() }
    },
    samples,
    states,
  })
}

const samples: Collector<Reading>['samples'] = (reading) => [
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
    ...((reading.isCovered || found.length > 0) && {
      'consensus log': found.map(({ finding }) => finding).join(', ') || 'no findings',
    }),
    ...(reading.unparsed !== null && { 'consensus log, unparsed': reading.unparsed }),
  }
}
