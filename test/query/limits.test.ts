import { describe, expect } from 'vitest'
import { createQueryClient } from '../../query/client/client.ts'
import { backoffMs, createLimiter } from '../../query/client/request.ts'
import { MAX_PAGE_LOGS } from '../../query/client/wire-format.ts'
import { eventually } from '../support/eventually.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import {
  fetchAll,
  fetchWhole,
  it,
  positionsIn,
  positionsOf,
  queriesTo,
  type Serve,
  steadyLogs,
} from './client-fixtures.ts'
import { always, type Fault, type Faults, inTurn } from '../support/query-server.ts'

const tooMany = (headers: Readonly<Record<string, string>>): Fault => ({
  kind: 'reply',
  status: 429,
  headers,
  body: 'too many requests',
})

/** How long the client waits after one rejection with these headers, in milliseconds. */
const waitAfter = async (serve: Serve, fault: Fault): Promise<number> => {
  const { clock, result } = await fetchWhole(await serve({ faults: inTurn(undefined, fault) }))
  expect(result?.stats).toMatchObject({ requests: 5, retries: 0 })
  expect(clock.waits).toHaveLength(1)
  return clock.waits[0] ?? 0
}

describe('429', () => {
  // The clock shows 2023-11-14T22:13:20Z, which is 1700000000.
  it.for<[string, Readonly<Record<string, string>>, number]>([
    ['x-ratelimit-reset before Retry-After', { 'x-ratelimit-reset': '2', 'retry-after': '9' }, 2000],
    ['Retry-After in seconds', { 'retry-after': '3' }, 3000],
    ['Retry-After as a date', { 'retry-after': 'Tue, 14 Nov 2023 22:13:27 GMT' }, 7000],
    ['the reset as a time', { 'x-ratelimit-reset': '1700000004' }, 4000],
    ['the reset as a time in milliseconds', { 'x-ratelimit-reset': '1700000005000' }, 5000],
    ['a reset of 0 and Retry-After', { 'x-ratelimit-reset': '0', 'retry-after': '12' }, 12_000],
    ['no hint', {}, 1000],
    ['a reset of 0', { 'x-ratelimit-reset': '0' }, 1000],
    ['an unreadable Retry-After', { 'retry-after': 'soon' }, 1000],
  ])('with %s: waits for %s', async ([, headers, ms], { serve }) => {
    const wait = await waitAfter(serve, tooMany(headers))
    expect(wait).toBeGreaterThanOrEqual(ms)
    expect(wait).toBeLessThanOrEqual(ms + 250)
  })
  it('with a reset that is always too early: waits at least 1 s, longer after the third wait, then fails', async ({
    serve,
  }) => {
    const { url, seen } = await serve({ faults: always(tooMany({ 'x-ratelimit-reset': '0.001' })) })
    const { clock, error } = await fetchAll(url, { client: { timeoutMs: 1e9 }, clock: jumpingClock(1e9) })
    expect(error).toMatchObject({ kind: 'limited' })
    expect(String(error)).toContain('429 again and again')
    for (const [at, ms] of [1000, 1000, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000].entries()) {
      expect(clock.waits[at]).toBeGreaterThanOrEqual(ms)
      expect(clock.waits[at]).toBeLessThanOrEqual(ms + 250)
    }
    expect(seen).toHaveLength(1 + 31)
  })
  it.for([429, 503])('%i with a wait of a day: fails at once, with the time', async (status, { serve }) => {
    const fault: Fault = { kind: 'reply', status, headers: { 'retry-after': '86400' }, body: '{"error":"come back"}' }
    const { url } = await serve({ faults: always(fault) })
    const { error, clock } = await fetchAll(url)
    expect(error).toMatchObject({ kind: 'limited' })
    expect(String(error)).toContain(`it answered ${status} and requests a long wait`)
    expect(String(error)).toContain('output: 1 d, until 2023-11-15T22:13:20.000Z; it reported: come back')
    expect(String(error)).toContain('retry when the service accepts requests again')
    expect(clock.waits).toEqual([])
  })
})

describe('a budget', () => {
  const signal = new AbortController().signal
  it('when spent, the client waits before the next request', async () => {
    const clock = jumpingClock()
    const limiter = createLimiter(clock)
    expect(await limiter.acquire(signal)).toBe(0)
    limiter.release({
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '25',
      'x-ratelimit-reset': '40',
      'x-ratelimit-cost': '10',
    })
    // 25 left at a cost of 10: two more requests.
    expect(await limiter.acquire(signal)).toBe(0)
    expect(await limiter.acquire(signal)).toBe(0)
    const waited = await limiter.acquire(signal)
    expect(waited).toBeGreaterThanOrEqual(40_000)
    expect(waited).toBeLessThanOrEqual(40_250)
  })
  it('without a cost counts requests', async () => {
    const clock = jumpingClock()
    const limiter = createLimiter(clock)
    await limiter.acquire(signal)
    limiter.release({ 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '5' })
    expect(await limiter.acquire(signal)).toBe(0)
    expect(await limiter.acquire(signal)).toBeGreaterThanOrEqual(5000)
  })
  it.each([
    ['a reset beyond the range of a timer', '99999999'],
    ['a reset far in the future', '17000000000'],
    ['a reset in an hour', '3600'],
  ])('%s: the client sends the request, and the service rejects it', async (_, reset) => {
    const clock = jumpingClock()
    const limiter = createLimiter(clock)
    await limiter.acquire(signal)
    limiter.release({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset })
    expect(await limiter.acquire(signal)).toBe(0)
  })
  it('a wait beyond the range of a timer is several sleeps', async () => {
    const limiter = createLimiter(jumpingClock())
    limiter.pause(2 ** 32)
    expect(await limiter.acquire(signal)).toBeGreaterThanOrEqual(2 ** 32)
  })
  it('a requested wait applies to all requests of a client', async ({ serve }) => {
    const { url } = await serve({ faults: ({ nth }) => (nth === 0 ? tooMany({ 'retry-after': '60' }) : undefined) })
    const clock = jumpingClock()
    const client = createQueryClient({ url, apiKey: null, clock })
    const refused = client.height(signal)
    await eventually(() => clock.waits.length, 1, { every: 1 })
    await client.height(signal)
    expect(clock.elapsed()).toBeGreaterThanOrEqual(60_000)
    await refused
  })
})

describe('no response', () => {
  it('the wait is random, at most twice as long each time, and at most 5 s', () => {
    for (const [at, most] of [200, 400, 800, 1600, 3200, 5000, 5000].entries()) {
      const waits = Array.from({ length: 200 }, () => backoffMs(at + 1))
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(most / 4)
      expect(Math.max(...waits)).toBeLessThanOrEqual(most)
    }
  })
  it('two timeouts: the client requests fewer blocks', async ({ serve }) => {
    const clock = jumpingClock()
    const large: Faults = ({ path, from, to }) =>
      path === '/query' && (to ?? 0) - from > 10 ? { kind: 'hang' } : undefined
    const server = await serve({ faults: large })
    const running = fetchAll(server.url, { clock })
    for (const times of [1, 2, 3, 4]) {
      await eventually(() => queriesTo(server) >= times, Boolean, { every: 1 })
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
    const { result } = await fetchWhole(await serve({ dialect: 'spec', logs: steadyLogs(0, 3), faults: two }))
    expect(result).toMatchObject({ complete: true, through: 3 })
  })
  it('is not taken for empty without proof', async ({ serve }) => {
    const { url } = await serve({ dialect: 'spec', faults: two })
    const { error, pages } = await fetchAll(url)
    expect(error).toMatchObject({ kind: 'fatal' })
    expect(pages).toEqual([])
  })
})

describe('413', () => {
  const largerThan =
    (blocks: number): Faults =>
    ({ path, from, to }) =>
      path === '/query' && (to ?? 0) - from > blocks ? { kind: 'reply', status: 413 } : undefined
  it('halves the range without a wait and keeps the limit', async ({ serve }) => {
    const server = await serve({ faults: largerThan(9) })
    const { result, clock } = await fetchWhole(server)
    expect(clock.waits).toEqual([])
    expect(result).toMatchObject({ complete: true })
    // 31 blocks, 15, 7, and 7 from then on.
    expect(server.seen.slice(1).map(({ from, to }) => [from, (to ?? 0) - from])).toEqual([
      [0, 31],
      [0, 15],
      [0, 7],
      [7, 7],
      [14, 7],
      [21, 7],
      [28, 3],
    ])
  })
  it('raises the limit after several full ranges', async ({ serve }) => {
    const server = await serve({
      logs: steadyLogs(1, 100),
      pageLogs: 1000,
      faults: (one) => (one.from < 5 ? largerThan(2)(one) : undefined),
    })
    await fetchWhole(server)
    const spans = server.seen.slice(1).map(({ from, to }) => (to ?? 0) - from)
    // 101, 50, 25, 12, 6, 3, 1; eight of one block, then twos, fours …
    expect(spans.slice(0, 17)).toEqual([101, 50, 25, 12, 6, 3, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2])
    expect(Math.max(...spans.slice(17))).toBeGreaterThan(4)
  })
  it('of a single block is an error', async ({ serve }) => {
    const { url, seen } = await serve({ faults: largerThan(0) })
    const { error } = await fetchAll(url)
    expect(error).toMatchObject({ kind: 'fatal' })
    // Once more for that block without the next one.
    expect(seen).toHaveLength(1 + 5 + 1)
  })
  it('a page with more logs than are parsed at once is handled in the same way', async ({ serve }) => {
    const log = (index: number): string => `{"block_number":3,"log_index":${index}}`
    const logs = Array.from({ length: MAX_PAGE_LOGS + 1 }, (_, index) => log(index)).join()
    const body = `{"data":[{"logs":[${logs}]}],"next_block":31}`
    const { url, seen } = await serve({
      faults: ({ path, from, to }) =>
        path === '/query' && (to ?? 0) - from > 7 ? { kind: 'reply', status: 200, body } : undefined,
    })
    const fetched = await fetchAll(url)
    expect(fetched.error).toBeUndefined()
    // 31, 15 and 7 blocks from block 0 on.
    expect(seen.slice(1, 4).map(({ from, to }) => [from, (to ?? 0) - from])).toEqual([
      [0, 31],
      [0, 15],
      [0, 7],
    ])
    expect(positionsOf(fetched.logs())).toEqual(positionsIn(steadyLogs(1, 30)))
  })
})
