import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createExecutionCounters } from '../../src/collectors/execution/counters.ts'
import { toJson } from '../../src/core/json.ts'
import { entry, executed, finalized, ran, T0, upserted } from './execution-log.ts'
import { recording } from './recording.ts'

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
const AGAIN = 'chain_execution_reexecutions_total'
const line = (result: string): string => `chain_agent_lines_total{format=execution-log,result=${result}}`

describe('counting', () => {
  test('starts with 0, except for what needs a block id', () => {
    expect(start().totals()).toEqual({
      [BLOCKS]: 0,
      chain_execution_transactions_total: 0,
      chain_execution_retried_transactions_total: 0,
      chain_execution_gas_total: 0,
      [line('parsed')]: 0,
      [line('ignored')]: 0,
      [line('unparsed')]: 0,
    })
  })

  test('blocks, transactions, retries and gas are added up', () => {
    const { read, totals } = start()
    read(
      executed(1, { tx: 10, retried: 4, gas: 1_000_000 }),
      executed(2, { tx: 5, retried: 1, gas: 500_000 }),
      executed(3),
    )
    expect(totals()).toEqual({
      [BLOCKS]: 3,
      chain_execution_transactions_total: 15,
      chain_execution_retried_transactions_total: 5,
      chain_execution_gas_total: 1_500_000,
      [AGAIN]: 0,
      [line('parsed')]: 3,
      [line('ignored')]: 0,
      [line('unparsed')]: 0,
    })
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
    const { counters, read, total, observed } = start()
    counters.on(entry(executed(5, { id: 'a', tx: 3, gas: 9 })), true)
    counters.on(entry(executed(5, { id: 'c' })), true)
    counters.on(entry(upserted(5)), true)
    counters.on(entry('Run to block= x'), true)
    expect(total(BLOCKS)).toBe(0)
    expect(total('chain_execution_gas_total')).toBe(0)
    expect(total(AGAIN)).toBe(0)
    expect(total(line('parsed'))).toBe(0)
    expect(total(line('unparsed'))).toBe(0)
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

  test('an unparsed line is counted and reported', () => {
    const { counters, read, total } = start()
    read('Run to block= x', 'something else', executed(1))
    expect([total(line('parsed')), total(line('ignored')), total(line('unparsed'))]).toEqual([1, 1, 1])
    expect(counters.read().unparsed).toContain('a block and "rss = … MB"')
    expect(total(BLOCKS)).toBe(1)
  })
})

describe('executions of a different block at the same height', () => {
  const again = (...blocks: readonly (readonly [height: number, id: string | null])[]) => {
    const { read, total } = start()
    read(...blocks.map(([height, id]) => executed(height, { id })))
    return { again: total(AGAIN), blocks: total(BLOCKS) }
  }
  test('none if each height has one block', () => {
    expect(again([1, 'a'], [2, 'b'], [3, 'c'])).toEqual({ again: 0, blocks: 3 })
  })
  test('the same block executed again is not a different block', () => {
    expect(again([1, 'a'], [2, 'b'], [1, 'a'], [2, 'b'])).toEqual({ again: 0, blocks: 4 })
  })
  test('each different block is counted once', () => {
    // Height 1: b and c in addition to a; height 2: none. The second a is known.
    expect(again([1, 'a'], [2, 'd'], [1, 'b'], [1, 'c'], [1, 'a'])).toEqual({ again: 2, blocks: 5 })
  })
  test('unknown if the log has no block ids', () => {
    expect(again([1, null], [1, null])).toEqual({ again: undefined, blocks: 2 })
  })
  test('old heights are removed', () => {
    const many = Array.from({ length: 128 }, (_, at) => [at + 2, 'a'] as const)
    expect(again([1, 'a'], ...many, [1, 'b']).again).toBe(0)
    expect(again([1, 'a'], ...many.slice(1), [1, 'b']).again).toBe(1)
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
    expect(counters.read()).toMatchObject({
      block: { number: 700n },
      finalized: null,
      residentBytes: null,
      usedRatio: null,
      chunks: null,
      history: { primary: null, secondary: null },
    })
  })

  test('of the database starts and ends with each timeline', () => {
    const { counters, read } = start()
    read(
      upserted(50, { timeline: 0, earliest: 10, used: 0.7, free: 9 }),
      upserted(50, { timeline: 1, earliest: 20, used: 0.71, free: 8 }),
    )
    expect(counters.read()).toMatchObject({
      usedRatio: 0.71,
      chunks: { fast: 20n, slow: 5n, free: 8n },
      history: {
        primary: { version: 50n, earliest: 10n },
        secondary: { version: 50n, earliest: 20n },
      },
    })
    read(upserted(66, { timeline: 0, earliest: 11 }))
    expect(counters.read().history.secondary?.earliest).toBe(20n)
    read(upserted(67, { timeline: 0, earliest: 12 }))
    expect(counters.read().history).toEqual({
      primary: { version: 67n, earliest: 12n },
      secondary: null,
    })
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
