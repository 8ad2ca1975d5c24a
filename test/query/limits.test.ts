import { describe, expect } from 'vitest'
import { createQueryClient } from '../../query/client/client.ts'
import { QueryError } from '../../query/client/errors.ts'
import { createLimiter, sharedLimiter } from '../../query/client/request.ts'
import { MAX_PAGE_LOGS } from '../../query/client/wire-format.ts'
import { eventually } from '../support/eventually.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import { fetchAll, it, positionsIn, positionsOf, type Serve, steadyLogs } from './client-fixtures.ts'
import { always, type Fault, type Faults, inTurn } from '../support/query-server.ts'

const tooMany = (headers: Readonly<Record<string, string>>): Fault => ({
  kind: 'reply',
  status: 429,
  headers,
  body: 'too many requests',
})

/** How long the client waits after one rejection with these headers, in milliseconds. */
const waitAfter = async (serve: Serve, fault: Fault): Promise<number> => {
  const { url, chain } = await serve({ faults: inTurn(undefined, fault) })
  const { clock, result, logs } = await fetchAll(url)
  expect(positionsOf(logs())).toEqual(positionsIn(chain.logs()))
  expect(result?.stats).toMatchObject({ requests: 5, retries: 0 })
  expect(clock.waits).toHaveLength(1)
  return clock.waits[0] ?? 0
}

describe('429', () => {
  it('with x-ratelimit-reset: waits at least that long', async ({ serve }) => {
    const wait = await waitAfter(serve, tooMany({ 'x-ratelimit-reset': '2', 'retry-after': '9' }))
    expect(wait).toBeGreaterThanOrEqual(2000)
    expect(wait).toBeLessThanOrEqual(2250)
  })
  it('with Retry-After in seconds', async ({ serve }) => {
    const wait = await waitAfter(serve, tooMany({ 'retry-after': '3' }))
    expect(wait).toBeGreaterThanOrEqual(3000)
    expect(wait).toBeLessThanOrEqual(3250)
  })
  it('with Retry-After as a date', async ({ serve }) => {
    // The clock shows 2023-11-14T22:13:20Z.
    const wait = await waitAfter(serve, tooMany({ 'retry-after': 'Tue, 14 Nov 2023 22:13:27 GMT' }))
    expect(wait).toBeGreaterThanOrEqual(7000)
    expect(wait).toBeLessThanOrEqual(7250)
  })
  it('with the reset as a time', async ({ serve }) => {
    const wait = await waitAfter(serve, tooMany({ 'x-ratelimit-reset': '1700000004' }))
    expect(wait).toBeGreaterThanOrEqual(4000)
    expect(wait).toBeLessThanOrEqual(4250)
  })
  it('without a hint, or with a reset of 0: 1 s', async ({ serve }) => {
    for (const headers of [{}, { 'x-ratelimit-reset': '0' }, { 'retry-after': 'soon' }]) {
      const wait = await waitAfter(serve, tooMany(headers))
      expect(wait).toBeGreaterThanOrEqual(1000)
      expect(wait).toBeLessThanOrEqual(1250)
    }
  })
  it('503 with Retry-After waits as well', async ({ serve }) => {
    const headers = { 'retry-after': '6' }
    const wait = await waitAfter(serve, { kind: 'reply', status: 503, headers })
    expect(wait).toBeGreaterThanOrEqual(6000)
    expect(wait).toBeLessThanOrEqual(6250)
  })
  it('always: fails after a number of waits', async ({ serve }) => {
    const { url, seen } = await serve({ faults: always(tooMany({ 'retry-after': '1' })) })
    const { error } = await fetchAll(url)
    expect(error).toBeInstanceOf(QueryError)
    expect(error).toMatchObject({ kind: 'limited' })
    expect(String(error)).toContain('429 again and again')
    expect(seen).toHaveLength(1 + 31)
  })
  it.for([429, 503])('%i with a wait of a day: fails at once, with the time', async (status, { serve }) => {
    const fault: Fault = { kind: 'reply', status, headers: { 'retry-after': '86400' }, body: '{"error":"come back"}' }
    const { url } = await serve({ faults: always(fault) })
    const { error, clock } = await fetchAll(url)
    expect(error).toMatchObject({ kind: 'limited' })
    expect(String(error)).toContain(`it answered ${status} and requests a long wait`)
    // The clock shows 2023-11-14T22:13:20Z.
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
  it('is shared by all clients of one key and host', async ({ serve }) => {
    const { url } = await serve({
      faults: ({ headers, nth }) =>
        headers['authorization'] === 'Bearer one' && nth === 0 ? tooMany({ 'retry-after': '60' }) : undefined,
    })
    const clock = jumpingClock()
    const clientOf = (apiKey: string) => createQueryClient({ url, apiKey, clock })
    const refused = clientOf('one').height(signal)
    await eventually(
      () => clock.waits.length,
      (waits) => waits === 1,
      { every: 1 },
    )
    await clientOf('one').height(signal)
    expect(clock.elapsed()).toBeGreaterThanOrEqual(60_000)
    await refused
    const host = new URL(url).host
    const limiter = sharedLimiter(clock, host, 'one')
    expect(sharedLimiter(clock, host, 'one')).toBe(limiter)
    expect(sharedLimiter(clock, host, 'two')).not.toBe(limiter)
    expect(sharedLimiter(clock, 'elsewhere', 'one')).not.toBe(limiter)
    expect(sharedLimiter(jumpingClock(), host, 'one')).not.toBe(limiter)
  })
})

describe('413', () => {
  const largerThan =
    (blocks: number): Faults =>
    ({ path, from, to }) =>
      path === '/query' && (to ?? 0) - from > blocks ? { kind: 'reply', status: 413 } : undefined
  it('halves the range without a wait and keeps the limit', async ({ serve }) => {
    const { url, chain, seen } = await serve({ faults: largerThan(9) })
    const { result, logs, clock } = await fetchAll(url)
    expect(positionsOf(logs())).toEqual(positionsIn(chain.logs()))
    expect(clock.waits).toEqual([])
    expect(result).toMatchObject({ complete: true })
    // 31 blocks, 15, 7, and 7 from then on.
    expect(seen.slice(1).map(({ from, to }) => [from, (to ?? 0) - from])).toEqual([
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
    const { url, chain, seen } = await serve({
      logs: steadyLogs(1, 100),
      pageLogs: 1000,
      faults: (one) => (one.from < 5 ? largerThan(2)(one) : undefined),
    })
    const { logs } = await fetchAll(url)
    expect(positionsOf(logs())).toEqual(positionsIn(chain.logs()))
    const spans = seen.slice(1).map(({ from, to }) => (to ?? 0) - from)
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
