import type { Collector } from '../../core/collector.ts'
import { inSeconds, minute } from '../../core/units.ts'
import { CHUNK_LISTS } from '../storage/definition.ts'
import { sampleIfKnown } from '../../core/metric.ts'
import { EXECUTION_LOG_PATTERN } from '../../parsers/execution-log.ts'
import { createFilteredMatch, followJournal, type FollowerReading } from '../shared/journal-follower.ts'
import { createExecutionCounters, type ExecutionLogReading } from './counters.ts'
import type { UnitSetting, Uses } from '../dependencies.ts'
import { definition } from './definition.ts'

type Reading = FollowerReading & ExecutionLogReading

const UNKNOWN: Partial<ExecutionLogReading> = {
  usedRatio: null,
  chunks: null,
  residentBytes: null,
}

type ExecutionUses = Uses<'journalDependencies' | 'exec' | 'clock' | 'unitNames', UnitSetting>

/** The blocks that the node executes, from the execution log in the journal. */
export const execution = (uses: ExecutionUses): Collector<Reading> => {
  const { journalDependencies, clock, unit } = uses
  const counters = createExecutionCounters(journalDependencies.counts.recorder)

  /**
   * While nothing is executed, the heights stay valid. The memory usage does not, and the database may have been
   * rewritten by statesync, a snapshot or a reset while execution was down. After the clock of the host went back, the
   * newest entry seems to be of the future, until the next one.
   */
  const isCurrent = ({ lastEntryAt }: FollowerReading): boolean =>
    lastEntryAt !== null && Math.abs(clock.now() - lastEntryAt) <= minute

  return followJournal<Reading>(definition, uses, {
    consumer: {
      service: 'execution',
      match: createFilteredMatch(uses, [unit], EXECUTION_LOG_PATTERN),
      newest: 1000,
      ...counters,
      onEntry: counters.on,
    },
    read: (following) => ({ ...following, ...counters.read(), ...(isCurrent(following) ? {} : UNKNOWN) }),
    samples,
    states: ({ unparsed }) => (unparsed === null ? {} : { 'execution log, unparsed': unparsed }),
  })
}

const samples: Collector<Reading>['samples'] = (reading) => {
  const { block, chunks } = reading
  return [
    ...sampleIfKnown('chain_execution_block_number', block?.number),
    ...sampleIfKnown('chain_execution_block_started_timestamp_seconds', inSeconds(block?.at)),
    ...sampleIfKnown('chain_execution_finalized_block_number', reading.finalized),
    ...sampleIfKnown('chain_execution_storage_used_ratio', reading.usedRatio),
    ...sampleIfKnown('chain_execution_memory_bytes', reading.residentBytes),
    ...CHUNK_LISTS.flatMap((list) => sampleIfKnown('chain_execution_storage_chunks', chunks?.[list], { list })),
  ]
}
