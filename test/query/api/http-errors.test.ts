import { describe, expect } from 'vitest'
import { Secret } from '../../../src/core/redaction/secret.ts'
import { ask, askRaw, codeOf, it, RIGHT, storeWith } from './fixtures.ts'
import { shipped } from '../../support/shipped.ts'

describe('HTTP errors', () => {
  it('a body over 1 MiB, with or without Content-Length: 413, and the client receives it', async ({ api }) => {
    const body = Buffer.alloc(3 * 1024 * 1024, ' ')
    const sized = await askRaw(api, { body, headers: { 'content-length': String(body.length) } })
    const chunked = await askRaw(api, { body, headers: { 'transfer-encoding': 'chunked' } })
    for (const got of [sized, chunked]) expect([got.status, codeOf(got)]).toEqual([413, 'too_large'])
    const just = JSON.stringify(RIGHT).padEnd(1024 * 1024)
    expect((await ask(api, just)).status).toBe(200)
    expect((await ask(api, `${just} `)).status).toBe(413)
  })

  it('another content type, or none: 415', async ({ api }) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', '']) {
      const got = await ask(api, RIGHT, { 'content-type': type })
      expect([type, got.status, codeOf(got)]).toEqual([type, 415, 'media_type'])
    }
    const packed = await ask(api, RIGHT, { 'content-encoding': 'gzip' })
    expect([packed.status, codeOf(packed)]).toEqual([415, 'media_type'])
    const same = await ask(api, RIGHT, { 'content-type': 'Application/JSON;charset="UTF-8"' })
    expect(same.status).toBe(200)
  })

  it('no key or a wrong key: 401 and the authentication scheme', async ({ serve }) => {
    const locked = await serve({ keys: [new Secret('right-key')] })
    for (const headers of [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: 'Bearer RIGHT-KEY' },
      { 'x-api-key': 'right' },
    ]) {
      const got = await ask(locked, RIGHT, headers)
      expect([got.status, codeOf(got)]).toEqual([401, 'unauthorized'])
      expect(got.headers['www-authenticate']).toBe('Bearer')
      expect(got.text).not.toContain('right-key')
    }
    expect((await askRaw(locked, { method: 'GET', path: '/height' })).status).toBe(401)
  })

  it('over the rate limit: 429, the remaining requests and Retry-After', async ({ serve }) => {
    const limited = await serve({ requestsPerMinute: 2 })
    const left = []
    for (let each = 0; each < 2; each += 1) left.push((await ask(limited, RIGHT)).headers['x-ratelimit-remaining'])
    expect(left).toEqual(['1', '0'])
    const got = await ask(limited, RIGHT)
    expect([got.status, codeOf(got)]).toEqual([429, 'rate_limited'])
    expect(got.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-cost': '1',
    })
    expect(Number(got.headers['retry-after'])).toBeGreaterThan(55)
    expect(got.headers['x-ratelimit-reset']).toBe(got.headers['retry-after'])
  })

  it('a wrong path: 404; a wrong method: 405 and the allowed ones', async ({ api }) => {
    for (const path of ['/', '/query/', '/Query', '/query/arrow', '/height/']) {
      const got = await askRaw(api, { path, body: JSON.stringify(RIGHT) })
      expect([path, got.status, codeOf(got)]).toEqual([path, 404, 'not_found'])
    }
    for (const [method, path, allow] of [
      ['GET', '/query', 'POST, OPTIONS'],
      ['PUT', '/query', 'POST, OPTIONS'],
      ['POST', '/height', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/height', 'GET, HEAD, OPTIONS'],
    ] as const) {
      const got = await askRaw(api, { method, path })
      expect([got.status, codeOf(got), got.headers.allow]).toEqual([405, 'method_not_allowed', allow])
    }
    expect((await askRaw(api, { method: 'HEAD', path: '/query' })).status).toBe(405)
  })

  it('a store that fails: 503 and Retry-After; the height is still available', async ({ serve }) => {
    const doing = 'read logs of /var/lib/secret-place'
    for (const kind of ['unavailable', 'broken', 'missing', 'aborted'] as const) {
      const failing = await serve({
        blocks: [],
        store: storeWith({
          read: async () => Promise.reject(new shipped.StoreError(kind, { doing, happened: 'it broke' })),
        }),
        height: () => 30,
      })
      const got = await ask(failing, RIGHT)
      expect([got.status, codeOf(got), got.headers['retry-after']]).toEqual([503, 'unavailable', '5'])
      expect(got.text).not.toContain('secret-place')
      expect(failing.complaints).toHaveLength(kind === 'aborted' ? 0 : 1)
      const height = await askRaw(failing, { method: 'GET', path: '/height' })
      expect(height.text).toBe('{"height":30}')
    }
  })

  it('an internal error: 500, reported to onError, without details for the client', async ({ serve }) => {
    const broken = await serve({
      blocks: [],
      store: storeWith({
        read: async () => Promise.reject(new TypeError('undefined is no function')),
      }),
    })
    const got = await ask(broken, RIGHT)
    expect([got.status, codeOf(got)]).toEqual([500, 'internal'])
    expect(got.text).not.toContain('undefined')
    expect(broken.complaints.map(({ message }) => message)).toEqual(['undefined is no function'])
  })

  it('an empty store: 503, no height, never an empty page', async ({ serve }) => {
    const empty = await serve({ blocks: [] })
    const got = await ask(empty, RIGHT)
    expect([got.status, codeOf(got), got.headers['retry-after']]).toEqual([503, 'empty', '5'])
    expect((await askRaw(empty, { method: 'GET', path: '/height' })).text).toBe('{"height":null}')
    expect(empty.complaints).toEqual([])
  })
})
