import { expect, test } from 'vitest'
import { execution } from '../../src/collectors/execution/collector.ts'
import type { JournalEntry } from '../../src/parsers/journal.ts'
import { entry, executed, finalized, ran, T0, UNIT, upserted } from './execution-log.ts'
import { runFollower, type Step } from './run-follower.ts'

/** Runs the collector over these batches; a step in seconds is an empty batch. */
const run = async (steps: readonly Step[], stderr = '') =>
  runFollower((dependencies) => execution({ ...dependencies, unit: '{prefix}-execution.service' }), {
    beginsAt: T0,
    steps,
    stderr,
  })

const BLOCK: readonly JournalEntry[] = [
  entry(upserted(9, { timeline: 0, earliest: 2, used: 0.7, free: 33 })),
  entry(upserted(9, { timeline: 1, earliest: 4, used: 0.7, free: 33 })),
  entry(executed(9, { tx: 2 })),
  entry(finalized(7)),
  entry(ran(9, 6032)),
]

test('requests known lines only, and exports their values', async () => {
  const { requests, samples, states, total } = await run([BLOCK])
  const [, unit, grep = ''] = requests[0]?.match ?? []
  expect(unit).toBe(UNIT)
  const pattern = new RegExp(grep.replace('--grep=', ''))
  expect(BLOCK.every(({ message }) => pattern.test(message ?? ''))).toBe(true)
  expect(pattern.test('2026-06-01 10:00:00.0 [40] a.cpp:1 LOG_DEBUG something')).toBe(false)
  expect(samples).toEqual({
    'chain_agent_journal_last_entry_timestamp_seconds execution': T0 / 1000,
    chain_execution_block_number: 9,
    chain_execution_block_started_timestamp_seconds: T0 / 1000 + 9,
    chain_execution_finalized_block_number: 7,
    chain_execution_storage_used_ratio: 0.7,
    'chain_execution_storage_chunks fast': 20,
    'chain_execution_storage_chunks slow': 5,
    'chain_execution_storage_chunks free': 33,
    'chain_execution_history_earliest_block primary': 2,
    'chain_execution_history_earliest_block secondary': 4,
    chain_execution_memory_bytes: 6_325_010_432,
  })
  expect(states).toEqual({})
  expect(total('chain_execution_transactions_total')).toBe(2)
})

test('journalctl without PCRE2 does not filter', async () => {
  const { requests } = await run([], 'Compiled without pattern matching support')
  expect(requests[0]?.match).toEqual(['-u', UNIT])
})

test('before the first line the gauges are unknown, and the counters are 0', async () => {
  const { samples, total } = await run([])
  expect(samples).toEqual({})
  expect(total('chain_execution_blocks_total')).toBe(0)
})

test('a minute after the last line memory and database are unknown, and the heights are kept', async () => {
  const { samples: before } = await run([BLOCK, { seconds: 60 }])
  expect(before).toHaveProperty('chain_execution_memory_bytes')
  expect(before).toHaveProperty('chain_execution_storage_used_ratio')
  const { samples } = await run([BLOCK, { seconds: 61 }])
  expect(samples).toEqual({
    'chain_agent_journal_last_entry_timestamp_seconds execution': T0 / 1000,
    chain_execution_block_number: 9,
    chain_execution_block_started_timestamp_seconds: T0 / 1000 + 9,
    chain_execution_finalized_block_number: 7,
  })
})

test('an unparsed line is a separate state', async () => {
  const { states } = await run([[entry('Run to block= x')]])
  expect(states['execution log, unparsed']).toMatch(/^Could not parse a line of the execution/)
})
