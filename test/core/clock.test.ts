import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { linkAbort, watchEventLoop } from '../../src/core/clock.ts'
import { manualClock } from '../support/manual-clock.ts'

test('a linked signal aborts with its parent, with the same reason, or is aborted from the start', () => {
  const parent = new AbortController()
  const { signal } = linkAbort(parent.signal)
  expect(signal.aborted).toBe(false)
  parent.abort('stopped')
  expect([signal.aborted, signal.reason]).toEqual([true, 'stopped'])
  expect(linkAbort(parent.signal).signal.aborted).toBe(true)
})

test('the delay of the event loop is how late a timer of 500 ms fires', async () => {
  const clock = manualClock()
  const stop = new AbortController()
  const delays: number[] = []
  const watching = watchEventLoop(stop.signal, (seconds) => delays.push(seconds), clock)
  await clock.advance(500)
  await clock.advance(750)
  await clock.advance(499)
  stop.abort()
  await watching
  expect(delays).toEqual([0, 0.25])
})

test.each([-1, Number.NaN, 2 ** 31])(
  'a virtual clock rejects a sleep of %d ms, at which a timer would fire at once',
  (ms) => {
    expect(() => manualClock().sleep(ms, new AbortController().signal)).toThrow(`a sleep of ${ms} ms`)
  },
)

test('after abort it no longer listens to its parent, which may live as long as the process', () => {
  const parent = new AbortController()
  const { signal, abort } = linkAbort(parent.signal)
  expect(getEventListeners(parent.signal, 'abort')).toHaveLength(1)
  abort()
  expect(signal.aborted).toBe(true)
  expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0)
})

test('any number of reads may listen to it: Node.js prints no warning', async () => {
  const warnings: string[] = []
  const collect = ({ name }: Error): void => {
    warnings.push(name)
  }
  process.on('warning', collect)
  try {
    const { signal } = linkAbort(new AbortController().signal)
    for (let reads = 0; reads < 20; reads += 1) signal.addEventListener('abort', () => undefined)
    // A warning is an event of the next tick.
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  } finally {
    process.off('warning', collect)
  }
})
