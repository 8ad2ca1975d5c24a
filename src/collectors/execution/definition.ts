import { z } from 'zod'
import { FOLLOW, serviceUnit, timing } from '../../config/values.ts'
import { gauge, histogram, counter } from '../../core/metric.ts'
import { CHUNK_LISTS, TIMELINES } from '../storage/definition.ts'

/** What the time of a block in execution is made of. */
export const EXECUTION_PHASES = ['sender_recovery', 'execution', 'commit', 'total'] as const

export const definition = {
  name: 'execution',
  help: 'blocks as they are executed, how long they take, and the use of the database',
  introduction:
    'The journal of execution, as it is followed: one line a block, and one a write into the database for each timeline.',
  settings: z
    .strictObject({
      ...timing('5s', '10s', FOLLOW),
      unit: serviceUnit
        .default('{prefix}-execution.service')
        .describe('the unit whose journal is the log of execution'),
    })
    .prefault({}),
  metrics: {
    chain_execution_block_number: gauge(
      'Highest block that was executed since execution was started.',
    ),
    chain_execution_block_timestamp_seconds: gauge('Time that the highest block itself carries.'),
    chain_execution_finalized_block_number: gauge(
      'Highest block that execution was told to be final.',
    ),
    chain_execution_blocks_total: counter(
      'Executions of blocks; one that is executed again counts again.',
    ),
    chain_execution_reexecutions_total: counter(
      'Blocks that were executed at a height at which another one had been.',
    ),
    chain_execution_transactions_total: counter('Transactions of executed blocks.'),
    chain_execution_retried_transactions_total: counter(
      'Transactions that had to be executed again, in conflict with others of their block.',
    ),
    chain_execution_gas_total: counter('Gas of executed blocks.'),
    chain_execution_block_duration_seconds: histogram(
      'Time that a block took, by phase.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.4],
      { phase: EXECUTION_PHASES },
    ),
    chain_execution_upsert_duration_seconds: histogram(
      'Time to write the state of a block into the database.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.4],
      { timeline: TIMELINES },
    ),
    chain_execution_storage_used_ratio: gauge('Used share of the database as execution logs it.'),
    chain_execution_storage_chunks: gauge('Chunks of the database as execution logs them.', {
      list: CHUNK_LISTS,
    }),
    chain_execution_history_earliest_block: gauge(
      'Earliest block whose state is retained, as execution logs it.',
      { timeline: TIMELINES },
    ),
    chain_execution_memory_bytes: gauge(
      'Resident memory as execution logs it; absent where it has been silent for a minute.',
    ),
  },
} as const
