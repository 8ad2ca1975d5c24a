import type { Clock } from '../../core/clock.ts'
import { type Collector, follow, type Timing } from '../../core/collector.ts'
import { minute } from '../../core/units.ts'
import { CHUNK_LISTS, TIMELINES } from '../storage/definition.ts'
import { sample, sampleIfKnown } from '../../core/metric.ts'
import { EXECUTION_LOG_PATTERN } from '../../parsers/execution-log.ts'
import type { Exec } from '../../sources/exec.ts'
import { createGrepSupport } from '../shared/grep-support.ts'
import { createExecutionCount, type ExecutionFound } from './count.ts'
import {
  createJournalFollower,
  type Heard,
  heardSamples,
  type JournalDependencies,
} from '../shared/journal-follower.ts'
import type { Names } from '../shared/names.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'

interface Parts {
  readonly listening: JournalDependencies
  readonly exec: Exec
  readonly clock: Clock
  readonly names: Names
  /** The unit, with `{prefix}` for the maker's word. */
  readonly unit: string
  readonly timing: Timing
}

type Reading = Heard & ExecutionFound

const SERVICE = 'execution'

const UNKNOWN: Partial<ExecutionFound> = {
  usedRatio: null,
  chunks: null,
  history: { primary: null, secondary: null },
  residentBytes: null,
}

/** Each block that the node executes, as the log of execution tells it in the journal. */
export const execution = (parts: Parts): Collector<Reading> => {
  const { listening, exec, clock, names, unit, timing } = parts
  const count = createExecutionCount(listening.recorder)
  const canGrep = createGrepSupport(exec)

  const open = createJournalFollower(listening, {
    timing,
    listener: {
      service: SERVICE,
      match: async (signal) => [
        '-u',
        await names.one(unit, signal),
        ...((await canGrep(signal)) ? [`--grep=${EXECUTION_LOG_PATTERN}`] : []),
      ],
      newest: 1000,
      begin: count.begin,
      on: count.on,
      memory: count.memory,
      restore: count.restore,
    },
  })

  /**
   * Heights stay where they were while nothing is executed. The memory is another then, and the database
   * may be: it is rewritten by statesync, a snapshot or a reset while execution is down.
   */
  const isCurrent = ({ lastEntryAt }: Heard): boolean =>
    lastEntryAt !== null && clock.now() - lastEntryAt <= minute

  const read = (heard: Heard): Reading => {
    const found = count.read()
    return { ...heard, ...found, ...(isCurrent(heard) ? {} : UNKNOWN) }
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: follow<Heard, Reading>(open, read({ lastEntryAt: null }), (_, heard) => read(heard)),
    samples,
    states: ({ unparsed }) => (unparsed === null ? {} : { 'execution log, unparsed': unparsed }),
  }
}

const samples: Collector<Reading>['samples'] = (reading) => {
  const { block, chunks, history } = reading
  return [
    ...heardSamples(SERVICE, reading),
    ...sampleIfKnown('chain_execution_block_number', block?.number),
    ...sampleIfKnown('chain_execution_block_timestamp_seconds', block && block.at / 1000),
    ...sampleIfKnown('chain_execution_finalized_block_number', reading.finalized),
    ...sampleIfKnown('chain_execution_storage_used_ratio', reading.usedRatio),
    ...sampleIfKnown('chain_execution_memory_bytes', reading.residentBytes),
    ...CHUNK_LISTS.flatMap((list) =>
      chunks ? [sample('chain_execution_storage_chunks', chunks[list], { list })] : [],
    ),
    ...TIMELINES.flatMap((timeline) =>
      sampleIfKnown('chain_execution_history_earliest_block', history[timeline]?.earliest, {
        timeline,
      }),
    ),
  ]
}

export const offer: OfferCollector = ({ config, exec, clock, names, follower }) => ({
  uses: [names],
  create: (timing) =>
    execution({
      listening: follower('execution'),
      exec,
      clock,
      names,
      unit: config.execution.unit,
      timing,
    }),
})
