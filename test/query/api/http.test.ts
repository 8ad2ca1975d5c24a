import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect } from 'vitest'
import { Secret } from '../../../src/core/redaction/secret.ts'
import { createRateLimit } from '../../../query/service/api/admission.ts'
import { eventually } from '../../support/eventually.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { A_LOG, ask, askRaw, HUGE, it, plainChain, rawQuery, RIGHT } from './fixtures.ts'

const LOGS = Array.from({ length: 200 }, (_, logIndex) => ({ ...A_LOG, logIndex }))

describe('GET /height', () => {
  it('returns the last block; HEAD returns the same without a body', async ({ serve }) => {
    const served = await serve()
    const got = await askRaw(served, { method: 'GET', path: '/height?now' })
    expect([got.status, got.text]).toEqual([200, '{"height":30}'])
    expect(got.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'content-length': '13',
    })
    const head = await askRaw(served, { method: 'HEAD', path: '/height' })
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '13'])
  })
})

describe('OPTIONS', () => {
  it('returns the allowed methods and needs no key', async ({ serve }) => {
    const served = await serve({ keys: [new Secret('k')] })
    for (const [path, allow] of [
      ['/query', 'POST, OPTIONS'],
      ['/height', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const got = await askRaw(served, { method: 'OPTIONS', path })
      expect([got.status, got.headers.allow, got.text]).toEqual([204, allow, ''])
    }
  })
})

describe('keys', () => {
  it('any of them is accepted, in either header', async ({ serve }) => {
    const served = await serve({ keys: [new Secret('One'), new Secret('two')] })
    for (const headers of [
      { authorization: 'Bearer One' },
      { authorization: 'bearer  two' },
      { 'x-api-key': 'two' },
      { 'x-api-key': 'One', authorization: 'Bearer other' },
    ])
      expect((await ask(served, RIGHT, headers)).status).toBe(200)
  })

  it('each key has its own rate limit', async ({ serve }) => {
    const keys = [new Secret('One'), new Secret('two')]
    const served = await serve({ keys, requestsPerMinute: 1 })
    const statuses = []
    for (const key of ['One', 'One', 'two', 'two'])
      statuses.push((await ask(served, RIGHT, { 'x-api-key': key })).status)
    expect(statuses).toEqual([200, 429, 200, 429])
  })
})

describe('rate limits', () => {
  const leftOf = (headers: Readonly<Record<string, string>>) => [
    headers['x-ratelimit-remaining'],
    headers['x-ratelimit-reset'],
  ]

  it('last a minute from the first request', async () => {
    const clock = manualClock()
    const take = createRateLimit(2, clock)
    expect(leftOf(take('a'))).toEqual(['1', '60'])
    await clock.advance(50_500)
    expect(leftOf(take('a'))).toEqual(['0', '10'])
    expect(() => take('a')).toThrow('more than 2 requests per minute')
    expect(leftOf(take('b'))).toEqual(['1', '60'])
    await clock.advance(9500)
    expect(leftOf(take('a'))).toEqual(['1', '60'])
    expect(leftOf(take('b'))).toEqual(['0', '51'])
  })

  it('are removed, the oldest first, beyond the largest number of identities', () => {
    const take = createRateLimit(1, manualClock(), 2)
    for (const name of ['a', 'b', 'c']) expect(leftOf(take(name))).toEqual(['0', '60'])
    for (const name of ['b', 'c']) expect(() => take(name)).toThrow('more than 1')
    expect(leftOf(take('a'))).toEqual(['0', '60'])
  })
})

describe('gzip', () => {
  it('only if it is accepted and the body is large enough', async ({ serve }) => {
    const served = await serve({ blocks: plainChain(5, 30, { 10: LOGS }) })
    const plain = await ask(served, RIGHT)
    const packed = await ask(served, RIGHT, { 'accept-encoding': 'br, gzip' })
    const without = await ask(served, RIGHT, { 'accept-encoding': 'gzip;q=0, *' })
    expect(without.headers['content-encoding']).toBeUndefined()
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 10)
    expect(packed.text).toBe(plain.text)
    expect(plain.headers['content-encoding']).toBeUndefined()
    for (const { headers } of [plain, packed]) expect(headers.vary).toBe('Accept-Encoding')
    const little = await ask(served, { ...RIGHT, from_block: 11 }, { 'accept-encoding': 'gzip' })
    expect(little.headers['content-encoding']).toBeUndefined()
    expect(served.answered.map(({ bytes, logs }) => [bytes, logs])).toEqual([
      [plain.bytes.length, 200],
      [packed.bytes.length, 200],
      [plain.bytes.length, 200],
      [little.bytes.length, 0],
    ])
  })
})

describe('responses that clients do not read', () => {
  it('are aborted after a timeout, and nothing is counted as sent', async ({ serve }) => {
    const served = await serve({ blocks: plainChain(5, 30, { 10: HUGE }), limits: { sendMs: 100 } })
    const socket = connect(served.port, '127.0.0.1')
    socket.pause()
    socket.write(rawQuery(JSON.stringify(RIGHT)))
    await eventually(() => served.answered.length, 1, { every: 5 })
    expect(served.answered[0]).toMatchObject({ code: 499, bytes: 0, logs: 0 })
    socket.destroy()
  })

  it('are discarded when the connection closes, including pipelined ones', async ({ serve }) => {
    const served = await serve({
      blocks: plainChain(5, 30, { 10: HUGE }),
      limits: { unsentBytes: 20_000_000 },
    })
    const socket = connect(served.port, '127.0.0.1')
    socket.pause()
    socket.write(rawQuery(JSON.stringify(RIGHT)).repeat(3))
    const small = { ...RIGHT, from_block: 11 }
    await eventually(async () => (await ask(served, small)).status, 503, { every: 5 })
    const others = served.answered.length
    socket.destroy()
    await eventually(() => served.answered.length, others + 3, { every: 5 })
    expect(served.answered.slice(others).map(({ code }) => code)).toEqual([499, 499, 499])
    expect((await ask(served, small)).status).toBe(200)
  })

  it('are kept compressed only, if they are sent compressed', async ({ serve }) => {
    setFlagsFromString('--expose-gc')
    const memory = (): number => {
      runInNewContext('gc()')
      return process.memoryUsage().arrayBuffers / 1e6
    }
    const data = `0x${randomBytes(12_000_000).toString('hex')}`
    const served = await serve({ blocks: plainChain(5, 30, { 10: [{ ...A_LOG, data }] }) })
    const before = memory()
    const socket = connect(served.port, '127.0.0.1')
    socket.write(rawQuery(JSON.stringify(RIGHT), ['Accept-Encoding: gzip']))
    await once(socket, 'readable')
    // 24 MB as they are, 14 packed, and some of those are with the kernel.
    await eventually(memory, (now) => now - before < 20)
    expect(served.answered).toEqual([])
    socket.destroy()
  })
})
