import { type Collector, follow, metadataOf } from '../../core/collector.ts'
import { inSeconds, minute } from '../../core/units.ts'
import { CHUNK_LISTS } from '../storage/definition.ts'
import { sampleIfKnown } from '../../core/metric.ts'
import { EXECUTION_LOG_PATTERN } from '../../parsers/execution-log.ts'
import {
  createFilteredMatch,
  createJournalFollower,
  type FollowerReading,
  followerSamples,
} from '../shared/journal-follower.ts'
import { createExecutionCounters, type ExecutionLogReading } from './counters.ts'
import type { UnitSetting, Uses } from '../dependencies.ts'
import { definition } from './definition.ts'

type Reading = FollowerReading & ExecutionLogReading

const SERVICE = 'execution'

const UNKNOWN: Partial<ExecutionLogReading> = {
  usedRatio: null,
  chunks: null,
  residentBytes: null,
}

type ExecutionUses = Uses<'journalDependencies' | 'exec' | 'clock' | 'unitNames', UnitSetting>

/** The blocks that the node executes, from the execution log in the journal. */
export const execution = (uses: ExecutionUses): Collector<Reading> => {
  const { journalDependencies, clock, unit, timing } = uses
  const counters = createExecutionCounters(journalDependencies.counts.recorder)
  const match = createFilteredMatch(uses, EXECUTION_LOG_PATTERN)

  const open = createJournalFollower(journalDependencies, {
    timing,
    consumer: {
      service: SERVICE,
      match: async (signal) => match([unit], signal),
      newest: 1000,
      ...counters,
      onEntry: counters.on,
    },
  })

  /**
   * While nothing is executed, the heights stay valid. The memory usage does not, and the database may have been
   * rewritten by statesync, a snapshot or a reset while execution was down. After the clock of the host went back, the
   * newest entry seems to be of the future, until the next one.
   */
  const isCurrent = ({ lastEntryAt }: FollowerReading): boolean =>
    lastEntryAt !== null && Math.abs(clock.now() - lastEntryAt) <= minute

  const read = (following: FollowerReading): Reading => {
    const values = counters.read()
    return { ...following, ...values, ...(isCurrent(following) ? {} : UNKNOWN) }
  }

  return {
    ...metadataOf(definition, timing),
    run: follow(open, read),
    samples,
    states: ({ unparsed }) => (unparsed === null ? {} : { 'execution log, unparsed': unparsed }),
  }
}

const samples: Collector<Reading>['samples'] = (reading) => {
  const { block, chunks } = reading
  return [
    ...followerSamples(SERVICE, reading),
    ...sampleIfKnown('chain_execution_block_number', block?.number),
    ...sampleIfKnown('chain_execution_block_started_timestamp_seconds', inSeconds(block?.at)),
    ...sampleIfKnown('chain_execution_finalized_block_number', reading.finalized),
    ...sampleIfKnown('chain_execution_storage_used_ratio', reading.usedRatio),
    ...sampleIfKnown('chain_execution_memory_bytes', reading.residentBytes),
    ...CHUNK_LISTS.flatMap((list) => sampleIfKnown('chain_execution_storage_chunks', chunks?.[list], { list })),
  ]
}
