import { describe, expect, test } from 'vitest'
import { Board, type Change } from '../../src/core/board.ts'
import type { Collector } from '../../src/core/collector.ts'
import { ParseError, SourceError } from '../../src/core/errors.ts'
import { sample } from '../../src/metrics.ts'

const thing: Collector<number> = {
  name: 'thing',
  help: 'a thing',
  timing: { interval: 10_000, timeout: 5000 }, // stale after 25 s
  run: () => Promise.resolve(),
  samples: (value) => [sample('chain_block_difference', value)],
  states: (value) => ({ level: value > 5 ? 'high' : 'low' }),
}

const values = (board: Board, now: number): Record<string, number> =>
  Object.fromEntries(
    [...board.samples(now)]
      .filter(({ name }) => !name.includes('failures'))
      .map(({ name, value }) => [name.replace('chain_agent_collector_', ''), value]),
  )

describe('what is known', () => {
  test('nothing, before the first attempt has ended', () => {
    const board = new Board()
    board.admit(thing)
    expect(values(board, 0)).toEqual({ enabled: 1 })
    expect(board.settled).toBe(false)
  })

  test('a reading, up to the moment when it is stale', () => {
    const board = new Board()
    const report = board.admit(thing)
    report({ ok: true, value: 3, at: 1000, took: 250 })
    const known = { enabled: 1, up: 1, duration_seconds: 0.25, last_success_timestamp_seconds: 1 }
    expect(values(board, 26_000)).toEqual({ ...known, chain_block_difference: 3 })
    expect(values(board, 26_001)).toEqual({ ...known, up: 0 })
    expect(board.settled).toBe(true)
  })

  test('after a failure the last reading goes on until it is stale; up is 0 at once', () => {
    const board = new Board()
    const report = board.admit(thing)
    report({ ok: true, value: 3, at: 1000, took: 1 })
    report({ ok: false, error: new ParseError('a', 'b', 'c'), at: 11_000, took: 1 })
    expect(values(board, 11_000)).toMatchObject({ up: 0, chain_block_difference: 3 })
    expect(values(board, 27_000)).not.toHaveProperty('chain_block_difference')
  })

  test('failures by kind, from 0', () => {
    const board = new Board()
    const report = board.admit(thing)
    const timeout = new SourceError({ doing: 'a', happened: 'b' }, { timeout: true })
    for (const error of [timeout, timeout, new Error('bug')]) report({ ok: false, error, at: 0 })
    const failures = [...board.samples(0)].filter(({ name }) => name.includes('failures'))
    expect(
      Object.fromEntries(failures.map(({ labels, value }) => [labels['kind'], value])),
    ).toEqual({
      source: 0,
      parse: 0,
      timeout: 2,
      internal: 1,
    })
  })

  test('off is not broken', () => {
    const board = new Board()
    board.dismiss(thing)
    expect(values(board, 0)).toEqual({ enabled: 0 })
    expect([...board.standings(0)]).toMatchObject([
      { name: 'thing', enabled: false, up: undefined },
    ])
  })
})

describe('each change is told once', () => {
  const told = (): { readonly board: Board; readonly changes: string[] } => {
    const changes: string[] = []
    const board = new Board(({ subject, from, to }: Change) => {
      changes.push(`${subject ?? 'itself'}: ${from ?? '?'} → ${to}`)
    })
    return { board, changes }
  }

  test('of the collector and of its subjects', () => {
    const { board, changes } = told()
    const report = board.admit(thing)
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

  test('of falling silent', () => {
    const { board, changes } = told()
    const report = board.admit(thing)
    report({ ok: true, value: 1, at: 0 })
    for (const now of [25_000, 25_001, 30_000]) board.noticeSilence(now)
    report({ ok: true, value: 1, at: 31_000 })
    expect(changes.slice(2)).toEqual([
      'itself: working → silent: no reading in the time one is due',
      'itself: silent: no reading in the time one is due → working',
    ])
  })
})
