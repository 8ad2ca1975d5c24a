import { describe, expect } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { backoff } from '../../src/query/client/backoff.ts'
import { createLimiter } from '../../src/query/client/limiter.ts'
import { eventually } from '../support/eventually.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import { fetchAll, it, placesIn, placesOf, queriesTo, steadyLogs } from './client-fixtures.ts'
import { always, type Fault, type Faults, inTurn } from '../support/query-server.ts'

const tooMany = (headers: Readonly<Record<string, string>>): Fault => ({
  kind: 'reply',
  status: 429,
  headers,
})

describe('a budget that is spent', () => {
  it.each([
    ['for longer than a timer runs', '99999999'],
    ['until a moment far away', '17000000000'],
    ['for an hour', '3600'],
  ])('%s: is not waited for, the service may refuse', async (_, reset) => {
    const clock = jumpingClock()
    const limiter = createLimiter(clock)
    const { signal } = new AbortController()
    await limiter.ready(signal)
    limiter.heard({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset })
    expect(await limiter.ready(signal)).toBe(0)
  })
  it('until a moment in milliseconds: until then', async () => {
    // The clock stands at 1700000000000.
    const limiter = createLimiter(jumpingClock())
    const { signal } = new AbortController()
    await limiter.ready(signal)
    limiter.heard({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1700000005000' })
    const waited = await limiter.ready(signal)
    expect(waited).toBeGreaterThanOrEqual(5000)
    expect(waited).toBeLessThanOrEqual(5250)
  })
  it('and a pause that is longer than a timer runs: on the real clock it is slept through', async () => {
    for (const spend of ['budget', 'pause'] as const) {
      let sleeps = 0
      const limiter = createLimiter({
        ...systemClock,
        sleep: async (ms, signal) => {
          sleeps += 1
          await systemClock.sleep(ms, signal)
        },
      })
      const ending = new AbortController()
      await limiter.ready(ending.signal)
      limiter.heard(
        spend === 'budget'
          ? { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '800' }
          : { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '99999999' },
      )
      if (spend === 'pause') limiter.pause(2 ** 32)
      setTimeout(() => {
        ending.abort()
      }, 50)
      await limiter.ready(ending.signal)
      expect(sleeps).toBe(1)
    }
  })
})

describe('429', () => {
  it('with a reset of now and a Retry-After: the later one', async ({ serve }) => {
    const hint = tooMany({ 'x-ratelimit-reset': '0', 'retry-after': '30' })
    const { url } = await serve({ faults: inTurn(hint) })
    const { clock } = await fetchAll(url, {
      client: { timeoutMs: 60_000 },
      clock: jumpingClock(60_000),
    })
    expect(clock.waits).toHaveLength(1)
    expect(clock.waits[0]).toBeGreaterThanOrEqual(30_000)
  })
  it('with a hint that is always too short: a second at least, and longer after the third', async ({
    serve,
  }) => {
    const hint = tooMany({ 'x-ratelimit-reset': '0.001' })
    const { url, seen } = await serve({ faults: always(hint) })
    const { clock, error } = await fetchAll(url, {
      client: { timeoutMs: 1e9 },
      clock: jumpingClock(1e9),
    })
    expect(error).toMatchObject({ kind: 'unreachable' })
    const least = [1000, 1000, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]
    least.forEach((ms, at) => {
      expect(clock.waits[at]).toBeGreaterThanOrEqual(ms)
      expect(clock.waits[at]).toBeLessThanOrEqual(ms + 250)
    })
    expect(seen).toHaveLength(1 + 31)
  })
})

describe('no answer', () => {
  it('is never followed by the next try at once', () => {
    for (let times = 0; times < 200; times += 1) {
      expect(backoff(1)).toBeGreaterThanOrEqual(50)
      expect(backoff(3)).toBeGreaterThanOrEqual(200)
      expect(backoff(20)).toBeLessThanOrEqual(5000)
    }
  })
  it('in time, twice: less is asked for', async ({ serve }) => {
    const clock = jumpingClock()
    const large: Faults = ({ path, from, to }) =>
      path === '/query' && (to ?? 0) - from > 10 ? { kind: 'hang' } : undefined
    const server = await serve({ faults: large })
    const running = fetchAll(server.url, { clock })
    for (const times of [1, 2, 3, 4]) {
      await eventually(
        () => queriesTo(server),
        (count) => count >= times,
        { every: 1 },
      )
      clock.expire()
    }
    const { result, logs } = await running
    expect(placesOf(logs())).toEqual(placesIn(server.chain.logs()))
    expect(result?.complete).toBe(true)
    expect(server.seen.slice(1, 6).map(({ from, to }) => (to ?? 0) - from)).toEqual([
      31, 31, 15, 15, 7,
    ])
  })
  it('in time, ever: the same number of tries as before', async ({ serve }) => {
    const clock = jumpingClock()
    const server = await serve({ faults: always({ kind: 'hang' }) })
    let isOver = false
    const running = fetchAll(server.url, { clock }).finally(() => {
      isOver = true
    })
    for (let times = 1; !isOver && times <= 20; times += 1) {
      await eventually(() => isOver || queriesTo(server) >= times, Boolean, { every: 1 })
      clock.expire()
    }
    expect((await running).error).toMatchObject({ kind: 'unreachable' })
    expect(server.seen).toHaveLength(1 + 9)
  })
})

describe('413 of a single block', () => {
  const two: Faults = ({ path, from, to }) =>
    path === '/query' && (to ?? 0) > from ? { kind: 'reply', status: 413 } : undefined
  it('that is small enough without the one after it, which an inclusive service sends along', async ({
    serve,
  }) => {
    const { url, chain } = await serve({ dialect: 'spec', logs: steadyLogs(0, 3), faults: two })
    const { result, logs } = await fetchAll(url)
    expect(placesOf(logs())).toEqual(placesIn(chain.logs()))
    expect(result).toMatchObject({ complete: true, through: 3 })
  })
  it('is not taken for empty where nothing shows that it was looked at', async ({ serve }) => {
    const { url } = await serve({ dialect: 'spec', faults: two })
    const { error, pages } = await fetchAll(url)
    expect(error).toMatchObject({ kind: 'fatal' })
    expect(pages).toEqual([])
  })
})

it('a concurrency that is no number is one at a time', async ({ serve }) => {
  const { url, chain } = await serve({ logs: steadyLogs(1, 1000), pageLogs: 100 })
  const { logs } = await fetchAll(url, { concurrency: Number.NaN })
  expect(placesOf(logs())).toEqual(placesIn(chain.logs()))
})

it('what was asked for is told beside the end that could be reached', async ({ serve }) => {
  const { url } = await serve()
  const { result } = await fetchAll(url, { query: { toBlock: 1_000_000 } })
  expect(result).toMatchObject({ complete: true, asked: 1_000_000, target: 30 })
  expect((await fetchAll(url)).result?.asked).toBeNull()
})
