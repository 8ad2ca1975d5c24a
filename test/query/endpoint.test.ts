import { describe, expect } from 'vitest'
import { inspect } from 'node:util'
import { createEndpoint } from '../../query/client/transport.ts'
import { createQueryClient } from '../../query/client/client.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import { fetchAll, it as queryTest, steadyLogs } from './client-fixtures.ts'
import { always, type Faults } from '../support/query-server.ts'

/** A key that no other redaction rule matches. */
const KEY = 'ses/me+1'
const it = queryTest.extend('served', { logs: steadyLogs(1, 5) })

describe('the key', () => {
  it('is sent as a Bearer token with every request', async ({ serve }) => {
    const { url, seen } = await serve({ apiKey: KEY })
    const { result } = await fetchAll(url, { client: { apiKey: ` ${KEY}\n` } })
    expect(result?.complete).toBe(true)
    expect(seen.map(({ headers }) => headers['authorization'])).toEqual(seen.map(() => `Bearer ${KEY}`))
  })
  it('is not sent without a key', async ({ serve }) => {
    const { url, seen } = await serve()
    await fetchAll(url)
    expect(seen[0]?.headers).not.toHaveProperty('authorization')
  })
  it.each(['', '  \n', 'two words', 'a\nb', 'schlüssel'])('%j is refused before anything is sent', (key) => {
    const make = () => createQueryClient({ url: 'http://127.0.0.1:1', apiKey: key, clock: jumpingClock() })
    expect(make).toThrow(expect.objectContaining({ kind: 'auth' }))
    expect(make).toThrow('Could not use the API key')
    if (key.trim() === '') expect(make).toThrow('it is empty')
    else expect(make).not.toThrow(key)
  })
  it('is redacted in responses, in every encoding', async ({ serve }) => {
    const forms = [
      KEY,
      KEY.toUpperCase(),
      `Bearer ${KEY}`,
      encodeURIComponent(KEY),
      Buffer.from(KEY).toString('base64'),
      Buffer.from(`Bearer ${KEY}`).toString('base64'),
      Buffer.from(KEY).toString('hex'),
      JSON.stringify({ [KEY]: KEY }),
    ]
    const replies = forms.flatMap((body): Faults[] => [
      ...[400, 502, 200].map((status) => always({ kind: 'reply', status, body })),
      ({ path }) => (path === '/height' ? { kind: 'reply', status: 200, body } : undefined),
      () => ({
        kind: 'reply',
        status: 302,
        headers: { location: `http://x.example/${encodeURI(body)}` },
      }),
    ])
    const server = await serve()
    for (const faults of [always({ kind: 'echo' }), ...replies]) {
      server.faults = faults
      const { error } = await fetchAll(server.url, { client: { apiKey: KEY } })
      expect(error).toBeInstanceOf(Error)
      const shown = `${String(error)} ${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)}`
      for (const form of forms) expect(shown.toLowerCase()).not.toContain(form.toLowerCase())
    }
  })
  it.each([
    ['upper case', (key: string) => key.toUpperCase()],
    ['percent signs', (key: string) => key.replaceAll('-', '%2D').replaceAll('~', '%7e')],
    ['percent signs alone', (key: string) => key.replaceAll(/./g, (c) => `%${Buffer.from(c).toString('hex')}`)],
    ['escapes of JSON', (key: string) => key.replaceAll('-', String.raw`\u002d`).replaceAll('/', String.raw`\/`)],
    ['entities', (key: string) => key.replaceAll('-', '&#45;').replaceAll('>', '&gt;').replaceAll('/', '&#x2F;')],
    ['spaces between', (key: string) => key.replaceAll('-', ' - ')],
    ['lines', (key: string) => key.replaceAll('-', '-\r\n  ')],
    ['base64 for addresses', (key: string) => Buffer.from(key).toString('base64url')],
  ])('is redacted when written with %s', (_, write) => {
    const key = '7d1f>c2e-8b4a/4f6d-9c3b~2a1e5d6f7081?'
    const { redact } = createEndpoint({ url: 'http://host/', apiKey: key })
    expect(redact(`denied: ${write(key)}.`)).toBe('denied: (redacted).')
  })
  it('is searched only in the beginning of a long response', () => {
    const { redact } = createEndpoint({ url: 'http://host/', apiKey: KEY })
    expect(redact('x'.repeat(10_000_000)).length).toBe(65_536)
  })
  it('does not follow a redirect to another host', async ({ serve }) => {
    const other = await serve()
    const location = other.url.replace('http://', 'http://me:hunter2@')
    const { url, seen } = await serve({
      faults: () => ({ kind: 'reply', status: 308, headers: { location: `${location}/height?token=hunter2` } }),
    })
    const { error } = await fetchAll(url, { client: { apiKey: KEY } })
    expect(error).toMatchObject({ kind: 'fatal' })
    expect(String(error)).toContain(`it redirects to ${other.url}/…: set that address`)
    expect(String(error)).not.toContain('reject')
    expect(seen).toHaveLength(1)
    expect(other.seen).toEqual([])
  })
})

describe('the address', () => {
  it('may have a path prefix and a slash at its end', async ({ serve }) => {
    for (const [prefix, more] of [
      ['', ''],
      ['', '/'],
      ['/v2/chain', ''],
      ['/v2/chain', '/'],
    ] as const) {
      const { url } = await serve({ prefix })
      const { result } = await fetchAll(`${url}${more}`)
      expect(result?.complete).toBe(true)
    }
  })
  it('is shown without its path, which may contain a key', async ({ serve }) => {
    const { url } = await serve({ prefix: '/v2/SECRET', faults: () => ({ kind: 'reply', status: 404 }) })
    const { error } = await fetchAll(url)
    expect(String(error)).toContain(`${new URL(url).origin}/…`)
    expect(inspect(error)).not.toContain('SECRET')
  })
  it.for([
    ['/v2/SECRET', 'Cannot POST /v2/SECRET/query'],
    ['/v2/SECRET-OF-YEARS', 'no project SECRET-OF-YEARS'],
    ['/v2/SECRET%2BYEARS', 'no project SECRET+YEARS'],
  ] as const)('is redacted in a response of the service: %s', async ([prefix, body], { serve }) => {
    const { url } = await serve({ prefix, faults: () => ({ kind: 'reply', status: 404, body }) })
    const { error } = await fetchAll(url)
    expect(String(error)).toContain('(redacted)')
    expect(inspect(error)).not.toContain('SECRET')
  })
})
