import { expect, test } from 'vitest'
import { Board } from '../../src/core/board.ts'
import type { Collector } from '../../src/core/collector.ts'
import { SourceError } from '../../src/core/errors.ts'
import { createSupervisor, supervise } from '../../src/core/supervise.ts'
import { sample } from '../../src/core/metric.ts'
import { manualClock } from '../support/manual-clock.ts'

const collector = (run: () => Promise<void>): Collector<number> => ({
  name: 'stream',
  help: 'a stream that keeps ending',
  timing: { interval: 5000, timeout: 1000 },
  run,
  samples: () => [],
  states: () => ({}),
})

const sleeper = (until: number, elapsed: () => number = () => 0) => {
  const stop = new AbortController()
  const slept: number[] = []
  const clock = {
    now: () => 0,
    elapsed,
    sleep: (ms: number) => {
      if (slept.push(ms) === until) stop.abort()
      return Promise.resolve()
    },
  }
  return { context: { clock, signal: stop.signal }, slept }
}

test('reopens a stream that ends, with increasing delays, up to two intervals', async () => {
  const { context, slept } = sleeper(6)
  const seen: string[] = []
  const board = new Board(context.clock, ({ to }) => seen.push(to))
  const ending = collector(() => Promise.resolve())
  await supervise(ending, board, context)
  expect(slept).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000])
  expect(seen).toEqual(['failing: could not continue following (stream): the stream ended'])
})

test('after a long run the delay starts again at the minimum', async () => {
  const lasts = [1, 1, 10_001, 1]
  let time = 0
  const { context, slept } = sleeper(4, () => time)
  const run = (): Promise<void> => {
    time += lasts.shift() ?? 0
    return Promise.reject(new SourceError({ doing: 'x', happened: 'y' }))
  }
  await supervise(collector(run), new Board(context.clock), context)
  expect(slept).toEqual([1000, 2000, 1000, 2000])
})

/** A collector that runs until it is stopped, and logs both. */
const lasting = (name: string, seen: string[]): Collector<number> => ({
  ...collector(() => Promise.resolve()),
  name,
  run: async ({ signal }) => {
    seen.push(`${name} starts`)
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true })
    })
    await Promise.resolve()
    seen.push(`${name} has stopped`)
  },
})

test('another selection replaces what has changed, one after the other, and leaves the rest running', async () => {
  const clock = manualClock()
  const seen: string[] = []
  const board = new Board(clock)
  const supervisor = createSupervisor(board, clock)
  const of = (name: string, enabled = true) => ({ collector: lasting(name, seen), enabled })
  const [same, before, off] = [of('same'), of('changed'), of('off', false)]
  expect(await supervisor.run([same, before, off])).toEqual(['same', 'changed'])
  expect(seen.splice(0)).toEqual(['same starts', 'changed starts'])

  expect(await supervisor.run([same, of('changed'), of('off', false)])).toEqual(['changed'])
  expect(seen.splice(0)).toEqual(['changed has stopped', 'changed starts'])

  expect(await supervisor.run([same, of('changed', false), of('off')])).toEqual(['changed', 'off'])
  expect(seen.splice(0)).toEqual(['off starts', 'changed has stopped'])
  const enabled = [...board.statuses()].map((one) => [one.name, one.enabled])
  expect(Object.fromEntries(enabled)).toEqual({ same: true, changed: false, off: true })

  await supervisor.stop()
  expect(seen.splice(0)).toEqual(['same has stopped', 'off has stopped'])
  await supervisor.run([same, of('changed')])
  expect(seen).toEqual([])
})

test('a collector that is started again keeps its failures, and none of its readings', () => {
  const changes: string[] = []
  const board = new Board(manualClock(), ({ to }) => changes.push(to))
  const one = { ...collector(() => Promise.resolve()), samples: () => [sample('chain_rpc_up', 1)] }
  const report = board.register(one)
  report({ ok: false, error: new SourceError({ doing: 'x', happened: 'y' }), at: 0 })
  report({ ok: true, value: 1, at: 0 })
  board.register(one)({ ok: true, value: 1, at: 0 })
  // The third reading is no change.
  expect(changes).toEqual(['failing: could not x: y', 'working'])
  board.register(one)
  const samples = [...board.samples()]
  expect(samples.map(({ name }) => name)).not.toContain('chain_rpc_up')
  const failures = samples.filter(({ name }) => name === 'chain_agent_collector_failures_total')
  expect(failures.map(({ value }) => value)).toEqual([1])
})
