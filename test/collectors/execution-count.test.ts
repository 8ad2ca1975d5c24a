import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createExecutionCount } from '../../src/collectors/execution/count.ts'
import { toJson } from '../../src/core/json.ts'
import { entry, executed, finalized, ran, T0, upserted } from './execution-log.ts'
import { recording } from './recording.ts'

const start = () => {
  const record = recording()
  const count = createExecutionCount(record.recorder)
  count.begin()
  const hear = (...messages: readonly string[]): void => {
    for (const message of messages) count.on(entry(message), false)
  }
  return { ...record, count, hear }
}

const BLOCKS = 'chain_execution_blocks_total'
const AGAIN = 'chain_execution_reexecutions_total'
const line = (result: string): string =>
  `chain_agent_lines_total{format=execution-log,result=${result}}`

describe('counting', () => {
  test('begins with 0, but for what only a block id can tell', () => {
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
    const { hear, totals } = start()
    hear(
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
    const { hear, observed } = start()
    hear(
      upserted(7, { timeline: 0, us: 1841 }),
      upserted(7, { timeline: 1, us: 2207 }),
      executed(7, { microseconds: [57, 127, 520, 760] }),
      upserted(8, { us: 100 }), // without timelines: the one there is
    )
    const seconds = (phase: string): readonly number[] =>
      observed(`chain_execution_block_duration_seconds{phase=${phase}}`)
    expect(['sender_recovery', 'execution', 'commit', 'total'].map(seconds)).toEqual([
      [0.000057],
      [0.000127],
      [0.00052],
      [0.00076],
    ])
    const upserts = 'chain_execution_upsert_duration_seconds'
    expect(observed(`${upserts}{timeline=primary}`)).toEqual([0.001841, 0.0001])
    expect(observed(`${upserts}{timeline=secondary}`)).toEqual([0.002207])
  })

  test('what is from before the agent explains the present and is not counted', () => {
    const { count, hear, total, observed } = start()
    count.on(entry(executed(5, { id: 'a', tx: 3, gas: 9 })), true)
    count.on(entry(executed(5, { id: 'c' })), true)
    count.on(entry(upserted(5)), true)
    count.on(entry('Run to block= x'), true)
    expect(total(BLOCKS)).toBe(0)
    expect(total('chain_execution_gas_total')).toBe(0)
    expect(total(AGAIN)).toBe(0)
    expect(total(line('parsed'))).toBe(0)
    expect(total(line('unparsed'))).toBe(0)
    expect(observed('chain_execution_block_duration_seconds{phase=total}')).toEqual([])
    expect(observed('chain_execution_upsert_duration_seconds{timeline=primary}')).toEqual([])
    expect(count.read().block).toEqual({ number: 5n, at: T0 + 5000 })
    hear(executed(5, { id: 'b' }))
    expect(total(AGAIN)).toBe(1)
  })

  test('what systemd and journald say of the unit is none of its lines', () => {
    const { count, total } = start()
    count.on({ ...entry('Run to block= x'), fields: { _PID: '1' } }, false)
    count.on({ ...entry('Run to block= x'), fields: { OBJECT_SYSTEMD_UNIT: 'u' } }, false)
    count.on({ ...entry(''), message: null }, false)
    expect(total(line('unparsed'))).toBe(0)
    expect(total(line('ignored'))).toBe(0)
  })

  test('a line that is not understood is counted and told', () => {
    const { count, hear, total } = start()
    hear('Run to block= x', 'something else', executed(1))
    expect([total(line('parsed')), total(line('ignored')), total(line('unparsed'))]).toEqual([
      1, 1, 1,
    ])
    expect(count.read().unparsed).toContain('a block and "rss = … MB"')
    expect(total(BLOCKS)).toBe(1)
  })
})

describe('executions of another block of the same height', () => {
  const again = (...blocks: readonly (readonly [height: number, id: string | null])[]) => {
    const { hear, total } = start()
    hear(...blocks.map(([height, id]) => executed(height, { id })))
    return { again: total(AGAIN), blocks: total(BLOCKS) }
  }
  test('none where each height has its block', () => {
    expect(again([1, 'a'], [2, 'b'], [3, 'c'])).toEqual({ again: 0, blocks: 3 })
  })
  test('the same block again is executed again, and is no other block', () => {
    expect(again([1, 'a'], [2, 'b'], [1, 'a'], [2, 'b'])).toEqual({ again: 0, blocks: 4 })
  })
  test('each other block once', () => {
    // 1: b and c beside a; 2: none. The third a is known.
    expect(again([1, 'a'], [2, 'd'], [1, 'b'], [1, 'c'], [1, 'a'])).toEqual({ again: 2, blocks: 5 })
  })
  test('unknown where the log does not tell ids', () => {
    expect(again([1, null], [1, null])).toEqual({ again: undefined, blocks: 2 })
  })
  test('heights of long ago are forgotten', () => {
    const many = Array.from({ length: 128 }, (_, at) => [at + 2, 'a'] as const)
    expect(again([1, 'a'], ...many, [1, 'b']).again).toBe(0)
    expect(again([1, 'a'], ...many.slice(1), [1, 'b']).again).toBe(1)
  })
})

describe('the newest', () => {
  test('is the highest of its kind, whatever the order', () => {
    const { count, hear } = start()
    hear(executed(8), finalized(6), executed(7), finalized(5), ran(8, 600), ran(8, 601))
    expect(count.read()).toMatchObject({
      block: { number: 8n, at: T0 + 8000 },
      finalized: 6n,
      residentBytes: 601 * 1_048_576,
    })
  })

  test('of another process is what that one says, higher or lower', () => {
    const { count, hear } = start()
    hear(executed(800), finalized(798), ran(800, 600), upserted(800))
    count.on(entry(executed(700), { process: 'b' }), false)
    expect(count.read()).toMatchObject({
      block: { number: 700n },
      finalized: null,
      residentBytes: null,
      usedRatio: null,
      chunks: null,
      history: { primary: null, secondary: null },
    })
  })

  test('of the database comes with each timeline, and ends with it', () => {
    const { count, hear } = start()
    hear(
      upserted(50, { timeline: 0, earliest: 10, used: 0.7, free: 9 }),
      upserted(50, { timeline: 1, earliest: 20, used: 0.71, free: 8 }),
    )
    expect(count.read()).toMatchObject({
      usedRatio: 0.71,
      chunks: { fast: 20n, slow: 5n, free: 8n },
      history: {
        primary: { version: 50n, earliest: 10n },
        secondary: { version: 50n, earliest: 20n },
      },
    })
    hear(upserted(66, { timeline: 0, earliest: 11 }))
    expect(count.read().history.secondary?.earliest).toBe(20n)
    hear(upserted(67, { timeline: 0, earliest: 12 }))
    expect(count.read().history).toEqual({
      primary: { version: 67n, earliest: 12n },
      secondary: null,
    })
  })
})

test('what was remembered goes on: no block is another one twice, gauges at once', () => {
  const before = start()
  before.hear(executed(7, { id: 'a' }), executed(7, { id: 'b' }), finalized(5), upserted(700))
  before.hear(ran(7, 5))
  const memory = before.count.memory()
  const read = before.count.read()
  before.hear(executed(7, { id: 'c' })) // after the memory was taken, before it is written
  const kept: unknown = JSON.parse(JSON.stringify(toJson(memory)))
  const after = start()
  after.count.restore(kept)
  expect(after.count.read()).toEqual(read)
  after.hear(executed(7, { id: 'b' }))
  expect(after.total(AGAIN)).toBe(0)
  after.hear(executed(7, { id: 'c' }))
  expect(after.total(AGAIN)).toBe(1)
  after.count.restore({ nonsense: true }) // a memory that is not one changes nothing
  expect(after.count.read().finalized).toBe(5n)
})

test('against a brute-force count over any order of any blocks', () => {
  const block = fc.tuple(fc.integer({ min: 1, max: 20 }), fc.constantFrom('a', 'b', 'c'))
  fc.assert(
    fc.property(fc.array(block, { maxLength: 80 }), (blocks) => {
      const { hear, total } = start()
      hear(...blocks.map(([height, id]) => executed(height, { id, tx: height })))
      const pairs = new Set(blocks.map(([height, id]) => `${height} ${id}`)).size
      const heights = new Set(blocks.map(([height]) => height)).size
      expect(total(BLOCKS)).toBe(blocks.length)
      expect(total(AGAIN) ?? 0).toBe(pairs - heights)
      expect(total('chain_execution_transactions_total')).toBe(
        blocks.reduce((sum, [height]) => sum + height, 0),
      )
    }),
    { numRuns: 200, seed: 2 },
  )
})
