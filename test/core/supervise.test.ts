import { expect, test } from 'vitest'
import { Board } from '../../src/core/board.ts'
import type { Collector } from '../../src/core/collector.ts'
import { SourceError } from '../../src/core/errors.ts'
import { supervise } from '../../src/core/supervise.ts'

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

test('opens a stream that ends anew, waiting longer each time, up to two intervals', async () => {
  const { context, slept } = sleeper(6)
  const seen: string[] = []
  const board = new Board(context.clock, ({ to }) => seen.push(to))
  await supervise(
    collector(() => Promise.resolve()),
    board,
    context,
  )
  expect(slept).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000])
  expect(seen).toEqual(['failing: could not go on following (stream): the stream ended'])
})

test('after work that lasted the waiting begins from the start', async () => {
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
