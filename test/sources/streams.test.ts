import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineSplitter, merge, ticks } from '../../src/sources/streams.ts'
import { manualClock } from '../support/manual-clock.ts'

test('are the same for any split of the bytes', () => {
  const text = 'first\n\nthïrd µ\nlast without end'
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), (sizes) => {
      const split = createLineSplitter()
      const bytes = Buffer.from(text)
      const lines: (string | undefined)[] = []
      for (let from = 0, turn = 0; from < bytes.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1
        lines.push(...split(bytes.subarray(from, from + size)))
        from += size
      }
      expect(lines).toEqual(['first', '', 'thïrd µ'])
    }),
    { seed: 4 },
  )
})
test('one that is too long is undefined, and the next is complete', () => {
  const split = createLineSplitter(10)
  expect(split(Buffer.from('0123456789\n0123456789'))).toEqual(['0123456789'])
  expect(split(Buffer.from('x\nnext\n'))).toEqual([undefined, 'next'])
})

async function* of<T>(...items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) {
    await Promise.resolve()
    yield item
  }
  await new Promise(() => undefined)
}

test('brings the items of all, each in its order', async () => {
  const all: string[] = []
  for await (const item of merge(of('a1', 'a2', 'a3'), of('b1', 'b2'))) {
    if (all.push(item) === 5) break
  }
  expect(all.filter((item) => item.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
  expect(all.filter((item) => item.startsWith('b'))).toEqual(['b1', 'b2'])
})

test('takes no more than it is asked for', async () => {
  let given = 0
  async function* endless(): AsyncGenerator<number> {
    for (;;) {
      given += 1
      yield given
      await Promise.resolve()
    }
  }
  for await (const item of merge(endless())) if (item === 3) break
  expect(given).toBeLessThanOrEqual(4)
})

test('ends with the first that ends, and throws what one throws', async () => {
  async function* short(): AsyncGenerator<string> {
    yield 'only'
    await Promise.resolve()
  }
  const items: string[] = []
  for await (const item of merge(short(), of<string>())) items.push(item)
  expect(items).toEqual(['only'])

  async function* broken(): AsyncGenerator<string> {
    yield 'last'
    await Promise.resolve()
    throw new Error('broken')
  }
  await expect(async () => {
    for await (const item of merge(broken(), of<string>())) expect(item).toBe('last')
  }).rejects.toThrow('broken')
})

test('ticks until the signal aborts', async () => {
  const clock = manualClock()
  const stop = new AbortController()
  let count = 0
  const ended = (async () => {
    for await (const _ of ticks(100, 'tick', { clock, signal: stop.signal })) count += 1
  })()
  for (const ms of [99, 1, 100, 100]) await clock.advance(ms)
  expect(count).toBe(3)
  stop.abort()
  await ended
})
