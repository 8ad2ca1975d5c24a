import { describe, expect } from 'vitest'
import { createAsk } from '../../src/query/client/ask.ts'
import { createBase } from '../../src/query/client/base.ts'
import { newCounters } from '../../src/query/client/counters.ts'
import { QueryError } from '../../src/query/client/errors.ts'
import type { Fault as ConnectionFault } from '../../src/query/client/fault.ts'
import { createLimiter } from '../../src/query/client/limiter.ts'
import { createTell } from '../../src/query/client/tell.ts'
import type { Reply } from '../../src/query/client/transport.ts'
import type { Retry } from '../../src/query/client/types.ts'
import { eventually } from '../support/eventually.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import {
  fetchAll,
  it as queryTest,
  placesIn,
  placesOf,
  queriesTo,
  type Serve,
  steadyLogs,
} from './client-fixtures.ts'
import { always, type Fault, inTurn } from '../support/query-server.ts'

const HTML = '<html><head><title>502 Bad Gateway</title></head></html>'
const REFUSED: ConnectionFault = { kind: 'retry', happened: 'refused', isRefused: true }
const kindOf = (error: unknown): string =>
  error instanceof QueryError ? error.kind : `not ours: ${String(error)}`

/** That the fault is gone over, once, and nothing is lost or double. */
const expectingWhole =
  (serve: Serve) =>
  async (...faults: readonly (Fault | undefined)[]) => {
    const { url, chain } = await serve({ faults: inTurn(...faults) })
    const came = await fetchAll(url)
    expect(came.error).toBeUndefined()
    expect(placesOf(came.logs())).toEqual(placesIn(chain.logs()))
    expect(came.result).toMatchObject({ complete: true, through: 30, target: 30 })
    return came
  }

/** That it ends with an error of the kind, after so many queries, and nothing was handed on. */
const expectingEnd =
  (serve: Serve) =>
  async (fault: Fault, kind: string, times: number): Promise<string> => {
    const server = await serve({ faults: always(fault) })
    const came = await fetchAll(server.url)
    expect(kindOf(came.error)).toBe(kind)
    expect(queriesTo(server)).toBe(times)
    expect(came.pages).toEqual([])
    return String(came.error)
  }

const it = queryTest
  .extend('expectWhole', ({ serve }) => expectingWhole(serve))
  .extend('expectEnd', ({ serve }) => expectingEnd(serve))

describe('what is refused is refused at once', () => {
  it('401 is the key, and is not tried twice', async ({ serve }) => {
    const { url, seen } = await serve({ apiKey: 'right-key' })
    const came = await fetchAll(url, { client: { apiKey: 'wrong-key' } })
    expect(kindOf(came.error)).toBe('auth')
    expect(seen).toHaveLength(1)
    expect(String(came.error)).toContain('it answered 401')
    expect(String(came.error)).not.toContain('wrong-key')
  })
  it.for([
    [403, 'auth'],
    [400, 'fatal'],
    [404, 'fatal'],
    [405, 'fatal'],
    [410, 'fatal'],
  ] as const)('%i is tried once: %s', async ([status, kind], { expectEnd }) => {
    const text = await expectEnd({ kind: 'reply', status, body: 'because' }, kind, 1)
    expect(text).toContain('output: because')
  })
  it('a redirect is not followed', async ({ expectEnd }) => {
    const headers = { location: 'http://elsewhere.example/query' }
    const text = await expectEnd({ kind: 'reply', status: 307, headers }, 'fatal', 1)
    expect(text).toContain('a redirect')
    expect(text).toContain('http://elsewhere.example/…')
  })
})

describe('what passes is gone over', () => {
  it.for([500, 502, 503, 504, 408])(
    '%i with a page of HTML, twice',
    async (status, { expectWhole }) => {
      const fault: Fault = { kind: 'reply', status, body: HTML }
      const came = await expectWhole(undefined, fault, fault)
      expect(came.result?.stats).toMatchObject({ requests: 6, retries: 2, pages: 3, logs: 30 })
    },
  )
  it('nine times 502 are enough', async ({ expectEnd }) => {
    const fault: Fault = { kind: 'reply', status: 502, body: HTML }
    const text = await expectEnd(fault, 'unreachable', 9)
    expect(text).toContain('it answered 502')
    expect(text).toContain('<title>502 Bad Gateway</title>')
  })
  it('waits longer each time, and never longer than five seconds', async ({ serve }) => {
    const fault: Fault = { kind: 'reply', status: 502 }
    const { url } = await serve({ faults: always(fault) })
    const { clock } = await fetchAll(url)
    const most = [200, 400, 800, 1600, 3200, 5000, 5000, 5000]
    expect(clock.waits).toHaveLength(8)
    expect(clock.waits.filter((wait, at) => wait > (most[at] ?? 0))).toEqual([])
  })
  it('a body that is cut, at any place', async ({ expectWhole }) => {
    await expectWhole({ kind: 'cut', bytes: 1 }, { kind: 'cut', bytes: 500 }, undefined, {
      kind: 'cut',
      bytes: 900,
    })
  })
  it('a connection that is closed without a word', async ({ expectWhole }) => {
    await expectWhole({ kind: 'close' }, { kind: 'close' })
  })
  it('no answer in time', async ({ serve }) => {
    const clock = jumpingClock()
    const server = await serve({ faults: inTurn({ kind: 'hang' }) })
    const running = fetchAll(server.url, { clock })
    await eventually(
      () => queriesTo(server),
      (count) => count === 1,
      { every: 5 },
    )
    clock.expire()
    const came = await running
    expect(came.result).toMatchObject({ complete: true, stats: { retries: 1, logs: 30 } })
  })
  it('a refused connection is tried again where it may come back: elsewhere, or after an answer', async () => {
    const attempts = async (isLoopback: boolean, answers: readonly Reply[]) => {
      const clock = jumpingClock()
      const retries: Retry[] = []
      const left = [...answers]
      const ask = createAsk({
        exchange: () => Promise.resolve(left.shift() ?? REFUSED),
        limiter: createLimiter(clock),
        clock,
        retries: 2,
        isLoopback,
        onRetry: (retry) => retries.push(retry),
      })
      const base = createBase({ url: 'http://query.example', apiKey: null })
      const request = {
        path: 'height',
        body: null,
        tell: createTell('ask', base),
        counters: newCounters(),
        signal: new AbortController().signal,
      } as const
      for (const answer of answers) {
        expect(answer).toHaveProperty('status', 200)
        await ask(request)
      }
      await expect(ask(request)).rejects.toMatchObject({ kind: 'unreachable' })
      return retries.map(({ attempt }) => attempt)
    }
    const both = [
      { number: 2, of: 3 },
      { number: 3, of: 3 },
    ]
    const answer = { status: 200, headers: {}, body: Buffer.from('{"height":1}') }
    expect(await attempts(false, [])).toEqual(both)
    expect(await attempts(true, [answer])).toEqual(both)
    expect(await attempts(true, [])).toEqual([])
  })
  it('no server at all', async ({ serve }) => {
    const { url, close } = await serve()
    await close()
    const came = await fetchAll(url)
    expect(kindOf(came.error)).toBe('unreachable')
    expect(String(came.error)).toContain('no connection (connection refused)')
  })
})

describe('what is no answer is asked for once more, and then given up', () => {
  it.for<[string, Fault]>([
    ['garbage', { kind: 'reply', status: 200, body: 'z)(&%' }],
    ['a list', { kind: 'reply', status: 200, body: '[]' }],
    ['no data', { kind: 'reply', status: 200, body: '{"next_block":5}' }],
    ['half a page', { kind: 'reply', status: 200, body: '{"data":[{"logs":[{"block_number":1' }],
    [
      'a packing nobody asked for',
      { kind: 'reply', status: 200, headers: { 'content-encoding': 'zstd' }, body: '{}' },
    ],
    [
      'gzip that is none',
      { kind: 'reply', status: 200, headers: { 'content-encoding': 'gzip' }, body: '{"data":[]}' },
    ],
  ])('%s', async ([, fault], { expectWhole, expectEnd }) => {
    await expectEnd(fault, 'protocol', 2)
    await expectWhole(fault, undefined, fault)
  })
  it('edge case 49: HTML with status 200', async ({ expectWhole, expectEnd }) => {
    const fault: Fault = { kind: 'reply', status: 200, body: HTML }
    expect(await expectEnd(fault, 'protocol', 2)).toContain('what came is no JSON')
    await expectWhole(fault)
  })
  it('edge case 49: 204', async ({ expectWhole, expectEnd }) => {
    const fault: Fault = { kind: 'reply', status: 204 }
    expect(await expectEnd(fault, 'protocol', 2)).toContain('it answered 204')
    await expectWhole(fault)
  })
  it('edge case 49: gzip that ends too early', async ({ expectWhole, expectEnd }) => {
    expect(await expectEnd({ kind: 'short-gzip' }, 'protocol', 2)).toContain('cannot be unpacked')
    await expectWhole({ kind: 'short-gzip' })
  })
})

describe('too much', () => {
  it('an answer larger than what is taken is asked for by halves, down to one block', async ({
    serve,
  }) => {
    const { url, seen } = await serve()
    const came = await fetchAll(url, { client: { maxBodyBytes: 100 } })
    expect(kindOf(came.error)).toBe('fatal')
    // 31, 15, 7, 3 and 1 blocks from 0 on; 0 is empty, and small enough.
    const spans = seen.slice(1, 6).map(({ from, to }) => [from, (to ?? 0) - from])
    expect(spans).toEqual([
      [0, 31],
      [0, 15],
      [0, 7],
      [0, 3],
      [0, 1],
    ])
  })
  it('the limit is of what comes out of the packing, too', async ({ serve }) => {
    const logs = steadyLogs(1, 1, { data: `0x${'00'.repeat(200_000)}` })
    for (const packing of ['gzip', 'br'] as const) {
      const { url } = await serve({ logs, packing })
      const small = await fetchAll(url, { client: { maxBodyBytes: 100_000 } })
      expect(kindOf(small.error)).toBe('fatal')
      expect(String(small.error)).toContain('a single block is too large')
      const large = await fetchAll(url, { client: { maxBodyBytes: 500_000 } })
      expect(placesOf(large.logs())).toEqual(placesIn(logs))
    }
  })
})
