import { enabled, serviceUnit, timed } from '../../core/settings.ts'
import { gauge, histogram, counter } from '../../core/metric.ts'
import { CHUNK_LISTS, TIMELINES } from '../storage/definition.ts'
import { objectOf, objectOrNull, orNull } from '../shared/reading-schema.ts'

/** The phases of the execution of a block. */
export const EXECUTION_PHASES = ['sender_recovery', 'execution', 'commit'] as const

export const definition = {
  name: 'execution',
  help: 'executed blocks, their duration, and the usage of the database',
  introduction: 'The journal of execution: one line per block, and one per write to the database for each timeline.',
  settings: timed('5s', '10s', {
    enabled,
    unit: serviceUnit.default('{prefix}-execution.service').describe('the unit whose journal is the execution log'),
  }),
  reading: objectOf({
    lastEntryAt: orNull.time,
    block: objectOrNull({ number: orNull.integer, at: orNull.time }),
    finalized: orNull.integer,
    usedRatio: orNull.number,
    chunks: objectOrNull({ fast: orNull.integer, slow: orNull.integer, free: orNull.integer }),
    residentBytes: orNull.number,
  }),
  metrics: {
    chain_execution_block_number: gauge('Highest block executed since execution was started.'),
    chain_execution_block_started_timestamp_seconds: gauge(
      "When execution of the highest block started, by the host's clock; not the age of the block, as a node that catches up executes old blocks now.",
    ),
    chain_execution_finalized_block_number: gauge('Highest block that was reported to execution as finalized.'),
    chain_execution_blocks_total: counter('Executed blocks; a block that is executed again is counted again.'),
    chain_execution_reexecutions_total: counter(
      'Blocks executed at a height at which another block had been executed.',
    ),
    chain_execution_transactions_total: counter('Transactions of executed blocks.'),
    chain_execution_retried_transactions_total: counter(
      'Transactions that were executed again because of a conflict with others of their block.',
    ),
    chain_execution_gas_total: counter('Gas of executed blocks.'),
    chain_execution_block_duration_seconds: histogram(
      'Duration of the execution of a block in seconds, all phases together.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.4],
    ),
    chain_execution_phase_duration_seconds: histogram(
      'Duration of a phase of the execution of a block in seconds.',
      [],
      { phase: EXECUTION_PHASES },
    ),
    chain_execution_upsert_duration_seconds: histogram(
      'Time to write the state of a block into the database, in seconds.',
      [],
      { timeline: TIMELINES },
    ),
    chain_execution_storage_used_ratio: gauge('Used ratio of the database, from the log of execution.'),
    chain_execution_storage_chunks: gauge('Chunks of the database, from the log of execution.', { list: CHUNK_LISTS }),
    chain_execution_memory_bytes: gauge(
      'Resident memory of execution, from its log; absent after a minute without a log line.',
    ),
  },
} as const
