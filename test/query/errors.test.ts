import { describe, expect } from 'vitest'
import { createSendRequest } from '../../query/client/request.ts'
import { createEndpoint, type Reply, type TransportFailure } from '../../query/client/transport.ts'
import { createErrorFactory, QueryError } from '../../query/client/errors.ts'
import { newCounters, type Retry } from '../../query/client/types.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import {
  fetchAll,
  fetchWhole,
  it as queryTest,
  positionsIn,
  positionsOf,
  queriesTo,
  type Serve,
  steadyLogs,
} from './client-fixtures.ts'
import { alter, always, type Fault, inTurn } from '../support/query-server.ts'

const HTML = '<html><head><title>502 Bad Gateway</title></head></html>'
const LOCAL = 'http://127.0.0.1:1'
const HEIGHT = Buffer.from('{"height":1}')
const REFUSED: TransportFailure = { kind: 'retry', happened: 'refused', isRefused: true }
const kindOf = (error: unknown): string =>
  error instanceof QueryError ? error.kind : `not a QueryError: ${String(error)}`

/** Expects that the client recovers from the faults: every log is delivered once. */
const expectingRecovery =
  (serve: Serve) =>
  async (...faults: readonly (Fault | undefined)[]) => {
    const fetched = await fetchWhole(await serve({ faults: inTurn(...faults) }))
    expect(fetched.result).toMatchObject({ complete: true, through: 30, target: 30 })
    return fetched
  }

/** Expects an error of the kind after `times` queries, and no page. */
const expectingEnd =
  (serve: Serve) =>
  async (fault: Fault, kind: string, times: number): Promise<string> => {
    const server = await serve({ faults: always(fault) })
    const fetched = await fetchAll(server.url)
    expect(kindOf(fetched.error)).toBe(kind)
    expect(queriesTo(server)).toBe(times)
    expect(fetched.pages).toEqual([])
    return String(fetched.error)
  }

const it = queryTest
  .extend('expectRecovery', ({ serve }) => expectingRecovery(serve))
  .extend('expectEnd', ({ serve }) => expectingEnd(serve))

describe('errors that are not retried', () => {
  it.for([
    [401, 'auth'],
    [403, 'auth'],
    [400, 'fatal'],
    [404, 'fatal'],
    [405, 'fatal'],
    [410, 'pruned'],
  ] as const)('%i: %s', async ([status, kind], { expectEnd }) => {
    const text = await expectEnd({ kind: 'reply', status, body: 'because' }, kind, 1)
    expect(text).toContain('output: because')
    expect(text.includes('--created-in')).toBe(kind === 'pruned')
  })
})

describe('errors that are retried', () => {
  it.for([500, 502, 503, 504, 408])('%i with an HTML page, twice', async (status, { expectRecovery }) => {
    const fault: Fault = { kind: 'reply', status, body: HTML }
    const fetched = await expectRecovery(undefined, fault, fault)
    expect(fetched.result?.stats).toMatchObject({ requests: 6, retries: 2, pages: 3, logs: 30 })
  })
  it('502: fails after nine attempts', async ({ expectEnd }) => {
    const fault: Fault = { kind: 'reply', status: 502, body: HTML }
    const text = await expectEnd(fault, 'unreachable', 9)
    expect(text).toContain('it answered 502')
    expect(text).toContain('output: 502 Bad Gateway')
  })
  it('a connection that is closed without a response', async ({ expectRecovery }) => {
    await expectRecovery({ kind: 'close' }, { kind: 'close' })
  })
  it.for<[string, number, { readonly url: string; readonly answers: Reply[] }]>([
    ['on this host is not retried', 0, { url: LOCAL, answers: [] }],
    ['on another host is retried', 2, { url: 'http://query.example', answers: [] }],
    ['after a response is retried', 2, { url: LOCAL, answers: [{ status: 200, headers: {}, body: HEIGHT }] }],
  ])('a refused connection %s', async ([, waits, { url, answers }]) => {
    const clock = jumpingClock()
    const transport = () => Promise.resolve(answers.shift() ?? REFUSED)
    const options = { url, apiKey: null, clock, retries: 2 }
    const endpoint = createEndpoint(options)
    const sendRequest = createSendRequest(options, endpoint, transport)
    const request = {
      path: 'height',
      body: null,
      queryError: createErrorFactory('ask', endpoint),
      counters: newCounters(),
      signal: new AbortController().signal,
    } as const
    if (answers.length > 0) expect(await sendRequest(request)).toBe(HEIGHT)
    await expect(sendRequest(request)).rejects.toMatchObject({ kind: 'unreachable' })
    expect(clock.waits).toHaveLength(waits)
  })
})

describe('the reason of the service is shown', () => {
  const ok = (body: unknown): Fault => ({ kind: 'reply', status: 200, body: JSON.stringify(body) })
  const page = (title: string, text: string): string =>
    `<!DOCTYPE html>\n<html><head><style>${'body { color: red }\n'.repeat(50)}</style><title>${title}</title></head><body><p>${text}</p></body></html>`

  it.for<[string, Fault, string, number]>([
    ['daily quota exceeded', ok({ error: { code: -32_005, message: 'daily quota exceeded' } }), 'limited', 1],
    ['monthly limit reached', ok({ data: null, error: 'monthly limit reached' }), 'limited', 1],
    ['Payment Required: no plan', ok({ errors: [{ title: 'Payment Required', detail: 'no plan' }] }), 'limited', 1],
    [
      'this account is closed',
      { kind: 'reply', status: 402, body: '{"message":"this account is closed"}' },
      'limited',
      1,
    ],
    [
      'monthly quota exceeded',
      { kind: 'reply', status: 429, body: '{"error":"monthly quota exceeded"}' },
      'limited',
      1,
    ],
    ['daily quota', { kind: 'reply', status: 403, body: '{"detail":"daily quota"}' }, 'limited', 1],
    ['invalid api key', ok({ error: 'invalid api key' }), 'auth', 1],
    ['out of memory', ok({ error: 'out of memory' }), 'protocol', 2],
    [
      'timed out, partial',
      ok({ data: [], next_block: 31, archive_height: 30, error: 'timed out, partial' }),
      'protocol',
      2,
    ],
    [
      'Access denied Your country & region',
      { kind: 'reply', status: 403, body: page('Access denied', 'Your country &amp; region') },
      'auth',
      1,
    ],
    [
      'Bad query: no field for log',
      // RFC 9457.
      {
        kind: 'reply',
        status: 400,
        body: JSON.stringify({
          type: `https://a.example/${'x'.repeat(300)}`,
          title: 'Bad query',
          status: 400,
          detail: 'no field for log',
        }),
      },
      'fatal',
      1,
    ],
  ])('%s', async ([reason, fault, kind, times], { expectEnd }) => {
    expect(await expectEnd(fault, kind, times)).toContain(`\n  output: ${reason}\n`)
  })
  it('a large page with an error next to its data is rejected', async ({ serve }) => {
    const logs = steadyLogs(1, 30, { data: `0x${'00'.repeat(3000)}` })
    const { url } = await serve({
      logs,
      pageLogs: 1000,
      faults: always(alter((answer) => ({ ...answer, error: 'partial' }))),
    })
    const { error, pages } = await fetchAll(url)
    expect(kindOf(error)).toBe('protocol')
    expect(String(error)).toContain('it answered with an error next to its data\n  output: partial')
    expect(pages).toEqual([])
  })
  it('no error: null, false, an empty list', async ({ serve }) => {
    const { url, chain } = await serve({
      faults: inTurn(...[null, false, '', []].map((error) => alter((answer) => ({ ...answer, error })))),
    })
    expect(positionsOf((await fetchAll(url)).logs())).toEqual(positionsIn(chain.logs()))
  })
  it('a rate limit with status 200 is waited for as with 429, and each wait is reported', async ({ serve }) => {
    const KEY = 'key-0123456789'
    for (const [status, error] of [
      [200, `rate limited by server, 100 requests per minute for ${KEY}`],
      [429, `too many requests of ${KEY}`],
    ] as const) {
      const fault: Fault = { kind: 'reply', status, headers: { 'retry-after': '3' }, body: JSON.stringify({ error }) }
      const server = await serve({ faults: inTurn(fault) })
      const retries: Retry[] = []
      const client = { apiKey: KEY, onRetry: (retry: Retry) => retries.push(retry) }
      const fetched = await fetchWhole(server, { client })
      expect(fetched.clock.waits[0]).toBeGreaterThanOrEqual(3000)
      expect(retries).toMatchObject([{ waitMs: 3000, reported: error.replace(KEY, '(redacted)'), attempt: null }])
    }
  })
  it('the height: the same', async ({ serve }) => {
    const { url } = await serve({
      faults: () => ({
        kind: 'reply',
        status: 200,
        body: '{"error":{"code":-32005,"message":"daily quota exceeded"}}',
      }),
    })
    const { error, clock } = await fetchAll(url)
    expect(kindOf(error)).toBe('limited')
    expect(String(error)).toContain('output: daily quota exceeded')
    expect(clock.waits).toEqual([])
  })
})

describe('an invalid response is requested once more, then it is an error', () => {
  it.for<[string, Fault, string]>([
    ['garbage', { kind: 'reply', status: 200, body: 'z)(&%' }, 'the response is not JSON'],
    ['a list', { kind: 'reply', status: 200, body: '[]' }, ''],
    ['no data', { kind: 'reply', status: 200, body: '{"next_block":5}' }, ''],
    ['half a page', { kind: 'reply', status: 200, body: '{"data":[{"logs":[{"block_number":1' }, ''],
    ['HTML with status 200', { kind: 'reply', status: 200, body: HTML }, 'the response is not JSON'],
    ['204', { kind: 'reply', status: 204 }, 'it answered 204'],
    [
      'an unsupported content-encoding',
      { kind: 'reply', status: 200, headers: { 'content-encoding': 'zstd' }, body: '{}' },
      '',
    ],
    ['truncated gzip', { kind: 'short-gzip' }, 'cannot be decompressed'],
  ])('%s', async ([, fault, words], { expectRecovery, expectEnd }) => {
    expect(await expectEnd(fault, 'protocol', 2)).toContain(words)
    await expectRecovery(fault, undefined, fault)
  })
})

describe('too large', () => {
  it('the limit applies to the decompressed size', async ({ serve }) => {
    const logs = steadyLogs(1, 1, { data: `0x${'00'.repeat(200_000)}` })
    for (const packing of ['gzip', 'br'] as const) {
      const { url, seen } = await serve({ logs, packing })
      const small = await fetchAll(url, { client: { maxBodyBytes: 100_000 } })
      expect(kindOf(small.error)).toBe('fatal')
      expect(String(small.error)).toContain('a single block is too large')
      const large = await fetchAll(url, { client: { maxBodyBytes: 500_000 } })
      expect(positionsOf(large.logs())).toEqual(positionsIn(logs))
      expect(seen[0]?.headers).toMatchObject({ 'accept-encoding': 'gzip, br' })
    }
  })
})
