import { readFile } from 'node:fs/promises'
import { Agent, type RequestOptions } from 'node:https'
import { connect } from 'node:net'
import { hostname } from 'node:os'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { NO_WEB_CONFIG, type WebConfig } from '../../src/config/web-config.ts'
import { listenOn } from '../../src/exporter/listen.ts'
import type { Rejection } from '../../src/exporter/web.ts'
import { askServer, type Certificate, makeCertificate } from '../support/certificates.ts'
import { temporaryFolder } from '../support/directory.ts'
import { shipped } from '../support/shipped.ts'

const { createWeb } = shipped

const directory = await temporaryFolder()

interface Start {
  readonly config?: Partial<WebConfig>
  readonly hosts?: readonly string[]
  readonly host?: string
  readonly isAuthenticated?: () => boolean
}

const start = async ({ config = {}, hosts = [], host = '127.0.0.1', isAuthenticated = () => false }: Start = {}) => {
  const web = createWeb({ config: { ...NO_WEB_CONFIG, ...config }, hosts, complain: () => undefined })
  const rejections: Rejection[] = []
  const server = web.createServer({
    // The handshake of an open connection does not end by itself.
    options: { handshakeTimeout: 600_000 },
    address: { host, port: 0 },
    isAuthenticated,
    handler: (_, response) => response.end('the page'),
    reject: (rejection, _, response) => {
      rejections.push(rejection)
      response.writeHead(rejection.status, { ...rejection.headers, connection: 'close' }).end(rejection.message)
    },
  })
  const listening = await listenOn(server, { host, port: 0 }, '')
  onTestFinished(listening.close)
  const { port } = listening.address
  const ask = (given: Omit<RequestOptions, 'protocol'> = {}) =>
    askServer({ protocol: `${web.scheme}:`, port, ...given })
  return { web, ask, rejections, port, close: listening.close }
}

test.each([
  [{}, 200],
  [{ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, 200],
  [{ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 200],
  [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 200],
  [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, 403],
  [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, 403],
  [{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, 403],
])('a browser request with %j is answered with %i', async (headers, status) => {
  const server = await start()
  expect((await server.ask({ headers })).status).toBe(status)
})

describe('the Host header', () => {
  const statusOf = async (server: Awaited<ReturnType<typeof start>>, host: string) =>
    (await server.ask({ headers: { host } })).status

  it.each([
    'localhost',
    'LOCALHOST:9843',
    'localhost.',
    '127.0.0.1:1',
    '10.1.2.3',
    '[::1]:9843',
    '[2001:db8::1]',
    hostname(),
  ])('a listener on loopback accepts %s', async (host) => {
    expect(await statusOf(await start(), host)).toBe(200)
  })

  it.each(['evil.example', 'evil.example:9843', 'localhost.evil.example', '127.0.0.1.evil.example', 'a b', '[evil]'])(
    'a listener on loopback rejects %j',
    async (host) => {
      const server = await start()
      expect(await statusOf(server, host)).toBe(421)
      expect(server.rejections[0]?.message).toContain('web.hosts')
    },
  )

  it('configured names are accepted on loopback, and no others', async () => {
    const server = await start({ hosts: ['node1.example.org'] })
    expect(await statusOf(server, 'Node1.example.org:9843')).toBe(200)
    expect(await statusOf(server, 'node2.example.org')).toBe(421)
  })

  it.each(['0.0.0.0', '::'])('a listener on %s accepts every name', async (host) => {
    expect(await statusOf(await start({ host }), 'node1.internal:9843')).toBe(200)
  })

  it('a listener on all addresses rejects others once names are configured', async () => {
    const server = await start({ host: '0.0.0.0', hosts: ['node1.internal'] })
    expect(await statusOf(server, 'node1.internal:9843')).toBe(200)
    expect(await statusOf(server, '192.0.2.1:9843')).toBe(200)
    expect(await statusOf(server, 'evil.example')).toBe(421)
  })

  it.each([
    ['HTTP/1.0', 200],
    ['HTTP/1.1', 400],
  ] as const)('a request without one: %s', async (version, status) => {
    const { port } = await start()
    const socket = connect(port, '127.0.0.1').end(`GET / ${version}\r\nConnection: close\r\n\r\n`)
    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })
})

it('headers of the file replace those of the agent', async () => {
  const { ask } = await start({
    config: { headers: { 'X-Frame-Options': 'sameorigin', 'Strict-Transport-Security': 'max-age=60' } },
  })
  const { headers } = await ask()
  expect(headers['x-frame-options']).toBe('sameorigin')
  expect(headers['strict-transport-security']).toBe('max-age=60')
  expect(headers['referrer-policy']).toBe('no-referrer')
})

describe('passwords', () => {
  // Cost 4: `htpasswd -nbBC 4 ada right`.
  const users = new Map([['ada', '$2b$04$kHnQ1NRneZkpkaHKtOe0SeCrboeNPz28X3JSk8ocJa3jZ0JV3Bpwq']])

  it('are compared in a thread, and a change of the file applies to the next request', async () => {
    const { web, ask } = await start({ config: { users } })
    const without = await ask()
    expect([without.status, without.headers['www-authenticate']]).toEqual([
      401,
      'Basic realm="chain-agent", charset="UTF-8"',
    ])
    expect((await ask({ auth: 'ada:wrong' })).status).toBe(401)
    expect((await ask({ auth: 'eve:right' })).status).toBe(401)
    expect((await ask({ auth: 'ada:right' })).body).toBe('the page')
    expect((await ask({ auth: 'ada:right' })).status).toBe(200)
    web.update({ ...NO_WEB_CONFIG, users: new Map([['bob', users.get('ada') ?? '']]) })
    expect((await ask({ auth: 'ada:right' })).status).toBe(401)
    expect((await ask({ auth: 'bob:right' })).status).toBe(200)
  })

  it('are not needed where the handler authenticates', async () => {
    let hasKeys = true
    const { ask } = await start({ config: { users }, isAuthenticated: () => hasKeys })
    expect((await ask()).status).toBe(200)
    hasKeys = false
    expect((await ask()).status).toBe(401)
  })
})

const TLS: NonNullable<WebConfig['tls']> = {
  cert: '',
  key: '',
  ca: undefined,
  clientAuth: 'NoClientCert',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  honorCipherOrder: true,
}

describe('TLS', () => {
  let [authority, server, client, other]: Certificate[] = []
  beforeAll(async () => {
    authority = await makeCertificate(directory, 'authority')
    server = await makeCertificate(directory, 'server')
    client = await makeCertificate(directory, 'client', authority)
    other = await makeCertificate(directory, 'other')
  })

  const pem = async (certificate: Certificate | undefined) =>
    certificate
      ? { cert: await readFile(certificate.cert, 'utf8'), key: await readFile(certificate.key, 'utf8') }
      : { cert: '', key: '' }
  const tlsOf = async (
    certificate: Certificate | undefined,
    clientAuth: NonNullable<WebConfig['tls']>['clientAuth'] = 'NoClientCert',
  ): Promise<WebConfig> => ({
    ...NO_WEB_CONFIG,
    tls: {
      ...TLS,
      ...(await pem(certificate)),
      ca: clientAuth.includes('Verify') ? (await pem(authority)).cert : undefined,
      clientAuth,
    },
  })

  it.each([
    ['NoClientCert', [200, 200, 200]],
    ['RequestClientCert', [200, 200, 200]],
    ['RequireAnyClientCert', [403, 200, 200]],
    ['VerifyClientCertIfGiven', [200, 200, 403]],
    ['RequireAndVerifyClientCert', [403, 200, 403]],
  ] as const)('%s: without a certificate, with one of the authority, with another', async (clientAuth, expected) => {
    const { ask } = await start({ config: await tlsOf(server, clientAuth) })
    const answers = [await ask(), await ask(await pem(client)), await ask(await pem(other))]
    expect(answers.map(({ status }) => status)).toEqual(expected)
  })

  it('a resumed session without a certificate is rejected', async () => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { ask } = await start({ config: await tlsOf(server, 'RequireAndVerifyClientCert') })
      const agent = new Agent({ maxCachedSessions: 5, maxVersion })
      for (let attempt = 0; attempt < 3; attempt += 1) expect((await ask({ agent })).status).toBe(403)
      agent.destroy()
    }
  })

  it('turning it on or off needs a restart, and nothing of that file is applied', async () => {
    const { web, ask } = await start({ config: await tlsOf(server) })
    expect(web.update({ ...NO_WEB_CONFIG, headers: { 'X-Frame-Options': 'sameorigin' } })).toEqual([
      'web.configFile (tls_server_config was added or removed)',
    ])
    expect((await ask()).headers['x-frame-options']).toBe('DENY')
  })

  it('a version below the minimum is rejected', async () => {
    const config = await tlsOf(server)
    const { ask } = await start({ config: { tls: config.tls && { ...config.tls, minVersion: 'TLSv1.3' } } })
    expect((await ask({ maxVersion: 'TLSv1.3' })).status).toBe(200)
    await expect(ask({ maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/)
  })

  it('a connection in its handshake does not delay the end', async () => {
    const { port, close } = await start({ config: await tlsOf(server) })
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    await expect(close()).resolves.toBeUndefined()
  })
})

const USERS = new Map([['ada', 'hash']])
it.each([
  ['127.0.0.1', {}, null],
  ['::1', {}, null],
  ['0.0.0.0', {}, 'requests are not authenticated'],
  ['::', {}, 'requests are not authenticated'],
  ['10.0.0.1', { tls: TLS }, 'requests are not authenticated'],
  ['10.0.0.1', { tls: { ...TLS, clientAuth: 'VerifyClientCertIfGiven' } }, 'requests are not authenticated'],
  ['10.0.0.1', { tls: { ...TLS, clientAuth: 'RequireAndVerifyClientCert' } }, null],
  ['10.0.0.1', { users: USERS }, 'passwords are not encrypted'],
  ['10.0.0.1', { users: USERS, tls: TLS }, null],
] as const)('exposure of %s: %#', (host, config, expected) => {
  const web = createWeb({ config: { ...NO_WEB_CONFIG, ...config }, hosts: [], complain: () => undefined })
  expect(web.exposure({ host, port: 1 })).toBe(expected)
})
