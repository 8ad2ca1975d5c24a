import { expect, test } from 'vitest'
import { follow, type Outcome, poll } from '../../src/core/collector.ts'
import { manualClock } from '../support/manual-clock.ts'

const timing = { interval: 1000, timeout: 300 }

test('aborts a read at its deadline, stops waiting for one that ignores it, and reads again', async () => {
  const clock = manualClock()
  const stop = new AbortController()
  const outcomes: Outcome<number>[] = []
  const answers = [new Promise<number>(() => undefined), Promise.resolve(7)]
  const signals: AbortSignal[] = []
  const run = poll(timing, ({ signal }) => {
    signals.push(signal)
    return answers.shift() ?? Promise.resolve(8)
  })
  void run({ clock, signal: stop.signal }, (outcome) => outcomes.push(outcome))
  await clock.advance(299)
  expect(outcomes).toEqual([])
  expect(signals[0]?.aborted).toBe(false)
  await clock.advance(1)
  expect(signals[0]?.aborted).toBe(true)
  expect(outcomes).toMatchObject([
    {
      ok: false,
      error: { summary: 'could not get a response in time: none within 300ms', timeout: true },
    },
  ])
  await clock.advance(1000)
  expect(outcomes[1]).toMatchObject({ ok: true, value: 7 })
  stop.abort()
})

test('stopping in the middle of a read reports nothing', async () => {
  const clock = manualClock()
  const stop = new AbortController()
  const outcomes: unknown[] = []
  const run = poll(
    timing,
    ({ signal }) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('stopped'))
        })
      }),
  )
  const ended = run({ clock, signal: stop.signal }, (outcome) => outcomes.push(outcome))
  await clock.advance(10)
  stop.abort()
  await ended
  expect(outcomes).toEqual([])
})

test('a follower reports the reading after each event', async () => {
  async function* open(): AsyncGenerator<string> {
    yield* ['a', 'b']
    await Promise.resolve()
  }
  const outcomes: Outcome<string>[] = []
  const clock = manualClock()
  const { signal } = new AbortController()
  await follow(open, (event) => `after ${event}`)({ clock, signal }, (outcome) => outcomes.push(outcome))
  expect(outcomes).toEqual(['after a', 'after b'].map((value) => ({ ok: true, value, at: clock.now() })))
})
