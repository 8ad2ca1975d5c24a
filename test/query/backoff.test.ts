import { describe, expect } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { backoffMs, createLimiter } from '../../query/client/request.ts'
import { eventually } from '../support/eventually.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import { fetchAll, it, positionsIn, positionsOf, queriesTo, steadyLogs } from './client-fixtures.ts'
import { always, type Fault, type Faults, inTurn } from '../support/query-server.ts'

const tooMany = (headers: Readonly<Record<string, string>>): Fault => ({ kind: 'reply', status: 429, headers })

describe('a rate limit without budget left', () => {
  it.each([
    ['a reset beyond the range of a timer', '99999999'],
    ['a reset far in the future', '17000000000'],
    ['a reset in an hour', '3600'],
  ])('%s: the client sends the request, and the service rejects it', async (_, reset) => {
    const clock = jumpingClock()
    const limiter = createLimiter(clock)
    const { signal } = new AbortController()
    await limiter.acquire(signal)
    limiter.release({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset })
    expect(await limiter.acquire(signal)).toBe(0)
  })
  it('a reset as a time in milliseconds', async () => {
    // The clock shows 1700000000000.
    const limiter = createLimiter(jumpingClock())
    const { signal } = new AbortController()
    await limiter.acquire(signal)
    limiter.release({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1700000005000' })
    const waited = await limiter.acquire(signal)
    expect(waited).toBeGreaterThanOrEqual(5000)
    expect(waited).toBeLessThanOrEqual(5250)
  })
  it('a wait beyond the range of a timer is slept on the real clock', async () => {
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
      await limiter.acquire(ending.signal)
      limiter.release(
        spend === 'budget'
          ? { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '800' }
          : { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '99999999' },
      )
      if (spend === 'pause') limiter.pause(2 ** 32)
      setTimeout(() => {
        ending.abort()
      }, 50)
      await limiter.acquire(ending.signal)
      expect(sleeps).toBe(1)
    }
  })
})

describe('429', () => {
  it('with a reset of 0 and a Retry-After: waits for Retry-After', async ({ serve }) => {
    const hint = tooMany({ 'x-ratelimit-reset': '0', 'retry-after': '30' })
    const { url } = await serve({ faults: inTurn(hint) })
    const { clock } = await fetchAll(url, { client: { timeoutMs: 60_000 }, clock: jumpingClock(60_000) })
    expect(clock.waits).toHaveLength(1)
    expect(clock.waits[0]).toBeGreaterThanOrEqual(30_000)
  })
  it('with a reset that is always too early: waits at least 1 s, and longer after the third wait', async ({
    serve,
  }) => {
    const hint = tooMany({ 'x-ratelimit-reset': '0.001' })
    const { url, seen } = await serve({ faults: always(hint) })
    const { clock, error } = await fetchAll(url, { client: { timeoutMs: 1e9 }, clock: jumpingClock(1e9) })
    expect(error).toMatchObject({ kind: 'limited' })
    const least = [1000, 1000, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]
    least.forEach((ms, at) => {
      expect(clock.waits[at]).toBeGreaterThanOrEqual(ms)
      expect(clock.waits[at]).toBeLessThanOrEqual(ms + 250)
    })
    expect(seen).toHaveLength(1 + 31)
  })
})

describe('no response', () => {
  it('backoff has a lower and an upper bound', () => {
    for (let times = 0; times < 200; times += 1) {
      expect(backoffMs(1)).toBeGreaterThanOrEqual(50)
      expect(backoffMs(3)).toBeGreaterThanOrEqual(200)
      expect(backoffMs(20)).toBeLessThanOrEqual(5000)
    }
  })
  it('two timeouts: the client requests fewer blocks', async ({ serve }) => {
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
    expect(positionsOf(logs())).toEqual(positionsIn(server.chain.logs()))
    expect(result?.complete).toBe(true)
    expect(server.seen.slice(1, 6).map(({ from, to }) => (to ?? 0) - from)).toEqual([31, 31, 15, 15, 7])
  })
  it('only timeouts: the number of attempts stays the same', async ({ serve }) => {
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
  it('is requested without the next block, which an inclusive service returns too', async ({ serve }) => {
    const { url, chain } = await serve({ dialect: 'spec', logs: steadyLogs(0, 3), faults: two })
    const { result, logs } = await fetchAll(url)
    expect(positionsOf(logs())).toEqual(positionsIn(chain.logs()))
    expect(result).toMatchObject({ complete: true, through: 3 })
  })
  it('is not taken for empty without proof', async ({ serve }) => {
    const { url } = await serve({ dialect: 'spec', faults: two })
    const { error, pages } = await fetchAll(url)
    expect(error).toMatchObject({ kind: 'fatal' })
    expect(pages).toEqual([])
  })
})

it('a concurrency of NaN means one request at a time', async ({ serve }) => {
  const { url, chain } = await serve({ logs: steadyLogs(1, 1000), pageLogs: 100 })
  const { logs } = await fetchAll(url, { concurrency: Number.NaN })
  expect(positionsOf(logs())).toEqual(positionsIn(chain.logs()))
})

it('the result has the requested and the reached end', async ({ serve }) => {
  const { url } = await serve()
  const { result } = await fetchAll(url, { query: { toBlock: 1_000_000 } })
  expect(result).toMatchObject({ complete: true, toBlock: 1_000_000, target: 30 })
  expect((await fetchAll(url)).result?.toBlock).toBeNull()
})
