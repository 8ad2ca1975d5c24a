import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { execution } from '../../src/collectors/execution/collector.ts'
import { createExecutionCounters } from '../../src/collectors/execution/counters.ts'
import { toJson } from '../../src/core/json.ts'
import type { JournalEntry } from '../../src/parsers/journal.ts'
import { entry, executed, finalized, ran, T0, UNIT, upserted } from './execution-log.ts'
import { recording } from './recording.ts'
import { runFollower, type Step } from './run-follower.ts'

const start = () => {
  const record = recording()
  const counters = createExecutionCounters(record.recorder)
  counters.initialize()
  const read = (...messages: readonly string[]): void => {
    for (const message of messages) counters.on(entry(message), false)
  }
  return { ...record, counters, read }
}

const BLOCKS = 'chain_execution_blocks_total'
const TOTALS = ['blocks', 'transactions', 'retried_transactions', 'gas'].map((name) => `chain_execution_${name}_total`)
const AGAIN = 'chain_execution_reexecutions_total'
const line = (result: string): string => `chain_agent_lines_total{format=execution-log,result=${result}}`

describe('counting', () => {
  test('starts with 0, except for what needs a block id; blocks, transactions, retries and gas are added up', () => {
    const { read, totals } = start()
    const zero = Object.fromEntries(
      [...TOTALS, ...['parsed', 'ignored', 'unparsed'].map(line)].map((name) => [name, 0]),
    )
    expect(totals()).toEqual(zero)
    const first = executed(1, { tx: 10, retried: 4, gas: 1_000_000 })
    read(first, executed(2, { tx: 5, retried: 1, gas: 500_000 }), executed(3))
    const sums = [3, 15, 5, 1_500_000]
    const added = Object.fromEntries(TOTALS.map((name, index) => [name, sums[index]]))
    expect(totals()).toEqual({ ...zero, ...added, [AGAIN]: 0, [line('parsed')]: 3 })
  })

  test('durations go into histograms by phase and by timeline, in seconds', () => {
    const { read, observed } = start()
    read(
      upserted(7, { timeline: 0, us: 1841 }),
      upserted(7, { timeline: 1, us: 2207 }),
      executed(7, { microseconds: [57, 127, 520, 760] }),
      upserted(8, { us: 100 }), // a version without timelines: primary
    )
    const seconds = (phase: string): readonly number[] =>
      observed(`chain_execution_phase_duration_seconds{phase=${phase}}`)
    expect(['sender_recovery', 'execution', 'commit'].map(seconds)).toEqual([[0.000057], [0.000127], [0.00052]])
    expect(observed('chain_execution_block_duration_seconds')).toEqual([0.00076])
    const upserts = 'chain_execution_upsert_duration_seconds'
    expect(observed(`${upserts}{timeline=primary}`)).toEqual([0.001841, 0.0001])
    expect(observed(`${upserts}{timeline=secondary}`)).toEqual([0.002207])
  })

  test('entries from before the agent update the values and are not counted', () => {
    const { counters, read, total, totals, observed } = start()
    counters.on(entry(executed(5, { id: 'a', tx: 3, gas: 9 })), true)
    counters.on(entry(executed(5, { id: 'c' })), true)
    counters.on(entry(upserted(5)), true)
    counters.on(entry('Run to block= x'), true)
    expect(Object.values(totals()).filter((count) => count > 0)).toEqual([])
    expect(observed('chain_execution_block_duration_seconds')).toEqual([])
    expect(observed('chain_execution_upsert_duration_seconds{timeline=primary}')).toEqual([])
    expect(counters.read().block).toEqual({ number: 5n, at: T0 + 5000 })
    read(executed(5, { id: 'b' }))
    expect(total(AGAIN)).toBe(1)
  })

  test('entries of systemd and journald about the unit are ignored', () => {
    const { counters, total } = start()
    counters.on({ ...entry('Run to block= x'), fields: { _PID: '1' } }, false)
    counters.on({ ...entry('Run to block= x'), fields: { OBJECT_SYSTEMD_UNIT: 'u' } }, false)
    counters.on({ ...entry(''), message: null }, false)
    expect(total(line('unparsed'))).toBe(0)
    expect(total(line('ignored'))).toBe(0)
  })

  test('executions of a different block at the same height are unknown without block ids, and of the last 128 heights', () => {
    const again = (...blocks: readonly (readonly [height: number, id: string | null])[]) => {
      const { read, total } = start()
      read(...blocks.map(([height, id]) => executed(height, { id })))
      return total(AGAIN)
    }
    expect(again([1, null], [1, null])).toBeUndefined()
    const many = Array.from({ length: 128 }, (_, at) => [at + 2, 'a'] as const)
    expect(again([1, 'a'], ...many, [1, 'b'])).toBe(0)
    expect(again([1, 'a'], ...many.slice(1), [1, 'b'])).toBe(1)
  })
})

describe('the latest value', () => {
  test('is the highest, in any order', () => {
    const { counters, read } = start()
    read(executed(8), finalized(6), executed(7), finalized(5), ran(8, 600), ran(8, 601))
    expect(counters.read()).toMatchObject({
      block: { number: 8n, at: T0 + 8000 },
      finalized: 6n,
      residentBytes: 601 * 1_048_576,
    })
  })

  test('of another process replaces the values, higher or lower', () => {
    const { counters, read } = start()
    read(executed(800), finalized(798), ran(800, 600), upserted(800))
    counters.on(entry(executed(700), { process: 'b' }), false)
    const unknown = { finalized: null, residentBytes: null, usedRatio: null, chunks: null }
    expect(counters.read()).toMatchObject({ block: { number: 700n }, ...unknown })
  })

  test('of the database is that of the last write, to either timeline', () => {
    const { counters, read } = start()
    read(upserted(50, { timeline: 0, used: 0.7, free: 9 }), upserted(50, { timeline: 1, used: 0.71, free: 8 }))
    expect(counters.read()).toMatchObject({ usedRatio: 0.71, chunks: { fast: 20n, slow: 5n, free: 8n } })
  })
})

test('after a restore no block is counted again, and the gauges are known at once', () => {
  const before = start()
  before.read(executed(7, { id: 'a' }), executed(7, { id: 'b' }), finalized(5), upserted(700))
  before.read(ran(7, 5))
  const snapshot = before.counters.snapshot()
  const values = before.counters.read()
  before.read(executed(7, { id: 'c' })) // after the snapshot, before it is saved
  const saved: unknown = JSON.parse(JSON.stringify(toJson(snapshot)))
  const after = start()
  after.counters.restore(saved)
  expect(after.counters.read()).toEqual(values)
  after.read(executed(7, { id: 'b' }))
  expect(after.total(AGAIN)).toBe(0)
  after.read(executed(7, { id: 'c' }))
  expect(after.total(AGAIN)).toBe(1)
  after.counters.restore({ invalid: true }) // an invalid snapshot changes nothing
  expect(after.counters.read().finalized).toBe(5n)
})

test('matches a count by brute force for any blocks in any order', () => {
  const block = fc.tuple(fc.integer({ min: 1, max: 20 }), fc.constantFrom('a', 'b', 'c'))
  fc.assert(
    fc.property(fc.array(block, { maxLength: 80 }), (blocks) => {
      const { read, total } = start()
      read(...blocks.map(([height, id]) => executed(height, { id, tx: height })))
      const pairs = new Set(blocks.map(([height, id]) => `${height} ${id}`)).size
      const heights = new Set(blocks.map(([height]) => height)).size
      expect(total(BLOCKS)).toBe(blocks.length)
      expect(total(AGAIN) ?? 0).toBe(pairs - heights)
      expect(total('chain_execution_transactions_total')).toBe(blocks.reduce((sum, [height]) => sum + height, 0))
    }),
    { numRuns: 200, seed: 2 },
  )
})

/** Runs the collector over these batches; a step in seconds is an empty batch. */
const run = async (steps: readonly Step[]) =>
  runFollower((dependencies) => execution({ ...dependencies, unit: '{prefix}-execution.service' }), {
    beginsAt: T0,
    steps,
  })

const BLOCK: readonly JournalEntry[] = [
  entry(upserted(9, { timeline: 0, used: 0.7, free: 33 })),
  entry(upserted(9, { timeline: 1, used: 0.7, free: 33 })),
  entry(executed(9, { tx: 2 })),
  entry(finalized(7)),
  entry(ran(9, 6032)),
]

const HEIGHTS = {
  'chain_agent_journal_last_entry_timestamp_seconds execution': T0 / 1000,
  chain_execution_block_number: 9,
  chain_execution_block_started_timestamp_seconds: T0 / 1000 + 9,
  chain_execution_finalized_block_number: 7,
}

test('requests known lines only, and exports their values', async () => {
  const { requests, samples, states, total } = await run([BLOCK])
  const [, unit, grep = ''] = requests[0]?.match ?? []
  expect(unit).toBe(UNIT)
  const pattern = new RegExp(grep.replace('--grep=', ''))
  expect(BLOCK.every(({ message }) => pattern.test(message ?? ''))).toBe(true)
  expect(pattern.test('2026-06-01 10:00:00.0 [40] a.cpp:1 LOG_DEBUG something')).toBe(false)
  expect(samples).toEqual({
    ...HEIGHTS,
    chain_execution_storage_used_ratio: 0.7,
    'chain_execution_storage_chunks fast': 20,
    'chain_execution_storage_chunks slow': 5,
    'chain_execution_storage_chunks free': 33,
    chain_execution_memory_bytes: 6_325_010_432,
  })
  expect(states).toEqual({})
  expect(total('chain_execution_transactions_total')).toBe(2)
})

test('a minute after the last line memory and database are unknown, and the heights are kept', async () => {
  const { samples: before } = await run([BLOCK, { seconds: 60 }])
  expect(before).toHaveProperty('chain_execution_memory_bytes')
  expect(before).toHaveProperty('chain_execution_storage_used_ratio')
  const { samples } = await run([BLOCK, { seconds: 61 }])
  expect(samples).toEqual(HEIGHTS)
})

test('an unparsed line is a separate state', async () => {
  const { states } = await run([[entry('Run to block= x')]])
  expect(states['execution log, unparsed']).toMatch(/^Could not parse a line of the execution/)
})
