import { describe, expect, test } from 'vitest'
import { Board, type Change } from '../../src/core/board.ts'
import type { Collector } from '../../src/core/collector.ts'
import { severityOf } from '../../src/domain/event.ts'
import { ParseError, SourceError } from '../../src/core/errors.ts'
import { sample } from '../../src/core/metric.ts'
import { manualClock } from '../support/manual-clock.ts'

const thing: Collector<number> = {
  name: 'thing',
  help: 'a thing',
  timing: { interval: 10_000, timeout: 5000 }, // stale after 25 s
  run: () => Promise.resolve(),
  samples: (value) => [sample('chain_block_difference', value)],
  states: (value) => ({ level: value > 5 ? 'high' : 'low' }),
}

const values = (board: Board): Record<string, number> =>
  Object.fromEntries(
    [...board.samples()]
      .filter(({ name }) => !name.includes('failures'))
      .map(({ name, value }) => [name.replace('chain_agent_collector_', ''), value]),
  )

const registered = () => {
  const changes: string[] = []
  const clock = manualClock(0)
  const board = new Board(clock, ({ subject, from, to }: Change) => {
    changes.push(`${subject ?? 'itself'}: ${from ?? '?'} → ${to}`)
  })
  return { clock, board, changes, report: board.register(thing) }
}

describe('what is known', () => {
  test('nothing, before the first attempt has ended', () => {
    const { board } = registered()
    expect(values(board)).toEqual({})
    expect([...board.statuses()]).toMatchObject([{ up: null }])
  })

  test('that it is down, when the first attempt should have ended and has not', async () => {
    const { clock, board } = registered()
    await clock.advance(25_000)
    expect(values(board)).toEqual({})
    await clock.advance(1)
    expect(values(board)).toEqual({ up: 0 })
  })

  test('a reading, up to the moment when it is stale', async () => {
    const { clock, board, report } = registered()
    await clock.advance(1000)
    report({ ok: true, value: 3, at: 1000, took: 250 })
    const of = { up: 1, duration_seconds: 0.25, last_success_timestamp_seconds: 1 }
    await clock.advance(25_000)
    expect(values(board)).toEqual({ ...of, chain_block_difference: 3 })
    expect([...board.statuses()]).toMatchObject([{ up: true, reading: 3 }])
    await clock.advance(1)
    expect(values(board)).toEqual({ ...of, up: 0 })
    expect([...board.statuses()]).toMatchObject([{ up: false, reading: undefined }])
  })

  test('after a failure the last reading remains until it is stale; up is 0 at once', async () => {
    const { clock, board, report } = registered()
    report({ ok: true, value: 3, at: 0, took: 1 })
    await clock.advance(10_000)
    report({ ok: false, error: new ParseError('a', 'b', 'c'), at: 10_000, took: 1 })
    expect(values(board)).toMatchObject({ up: 0, chain_block_difference: 3 })
    await clock.advance(15_001)
    expect(values(board)).not.toHaveProperty('chain_block_difference')
  })

  test('a clock that is set back makes nothing fresh', () => {
    let [now, elapsed] = [10_000_000, 0]
    const clock = { now: () => now, elapsed: () => elapsed, sleep: () => Promise.resolve() }
    const board = new Board(clock)
    board.register(thing)({ ok: true, value: 3, at: now })
    now -= 3_600_000
    elapsed += 25_001
    expect(values(board)).toMatchObject({ up: 0 })
    expect(values(board)).not.toHaveProperty('chain_block_difference')
  })

  test('failures, and which of them are internal, from 0', () => {
    const { board, report } = registered()
    const timeout = new SourceError({ doing: 'a', happened: 'b' }, { timeout: true })
    for (const error of [timeout, timeout, new Error('bug')]) report({ ok: false, error, at: 0 })
    const failures = [...board.samples()].filter(({ name }) => name.includes('failures'))
    expect(Object.fromEntries(failures.map(({ name, value }) => [name, value]))).toEqual({
      chain_agent_collector_failures_total: 3,
      chain_agent_internal_failures_total: 1,
    })
  })

  test('a bug in one collector does not affect others', () => {
    const board = new Board(manualClock(0))
    const samples = (): never => {
      throw new RangeError('a bug')
    }
    board.register({ ...thing, name: 'bad', samples })({ ok: true, value: 1, at: 0 })
    board.register(thing)({ ok: true, value: 3, at: 0 })
    const all = [...board.samples()]
    const up = all.filter(({ name }) => name === 'chain_agent_collector_up')
    expect(up.map(({ labels, value }) => [labels['collector'], value])).toEqual([
      ['bad', 0],
      ['thing', 1],
    ])
    expect(all).toContainEqual(sample('chain_block_difference', 3))
  })

  test('disabled is different from failing', () => {
    const board = new Board(manualClock(0))
    board.disable(thing)
    expect(values(board)).toEqual({})
    expect([...board.statuses()]).toMatchObject([{ name: 'thing', enabled: false, up: null }])
  })
})

describe('each change is reported once', () => {
  test('of the collector and of its subjects', () => {
    const { changes, report } = registered()
    const gone = new SourceError({ doing: 'read', happened: 'gone', evidence: 'attempt 1' })
    const goneStill = new SourceError({ doing: 'read', happened: 'gone', evidence: 'attempt 2' })
    for (const value of [1, 2, 9, 8]) report({ ok: true, value, at: 0 })
    report({ ok: false, error: gone, at: 0 })
    report({ ok: false, error: goneStill, at: 0 })
    report({ ok: true, value: 8, at: 0 })
    expect(changes).toEqual([
      'itself: ? → working',
      'level: ? → low',
      'level: low → high',
      'itself: working → failing: could not read: gone',
      'itself: failing: could not read: gone → working',
    ])
  })

  test('a collector that becomes silent, and one that never reported', async () => {
    const { clock, board, changes, report } = registered()
    await clock.advance(25_001)
    board.checkStaleness()
    report({ ok: true, value: 1, at: 0 })
    for (const ms of [25_000, 1, 5000]) {
      await clock.advance(ms)
      board.checkStaleness()
    }
    report({ ok: true, value: 1, at: 0 })
    const silent = 'silent: no reading in the time one is due'
    expect(changes).toEqual([
      `itself: ? → ${silent}`,
      `itself: ${silent} → working`,
      'level: ? → low',
      `itself: working → ${silent}`,
      `itself: ${silent} → working`,
    ])
  })
})

test('a state that the collector reports as a problem is a warning', () => {
  const changes: Change[] = []
  const board = new Board(manualClock(0), (change) => changes.push(change))
  const report = board.register({ ...thing, warnings: (value) => (value > 5 ? ['level'] : []) })
  for (const value of [3, 7, 8, 4]) report({ ok: true, value, at: 0 })
  expect(changes.map((change) => `${severityOf(change)} ${change.subject}: ${change.to}`)).toEqual([
    'info undefined: working',
    'info level: low',
    'warning level: high',
    'info level: low',
  ])
})
