import { createServer } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { agentView } from '../support/agent-view.ts'
import { listening } from '../support/http.ts'
import { manualClock } from '../support/manual-clock.ts'
import { shipped } from '../support/shipped.ts'
import { askView, serveView, web } from './serve-view.ts'

/** What every response has. */
const SECURITY = [
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
] as const

test.each([
  ['/metrics', 'text/plain; version=0.0.4; charset=utf-8', 'chain_rpc_up 1\n'],
  ['/-/healthy', 'text/plain; charset=utf-8', 'The agent is alive.\n'],
  ['/-/ready', 'text/plain; charset=utf-8', 'Every collector has run once.\n'],
  [
    '/api/v1/status',
    'application/json; charset=utf-8',
    `{
  "agent": {
    "version": "1.2.3",
    "prefix": "acme",
    "startedAt": "2026-03-01T11:00:00.000Z"
  },
  "collectors": {}
}`,
  ],
])('GET and HEAD %s', async (path, type, body) => {
  const ask = await askView()
  const got = await ask(path)
  expect([got.status, got.headers.get('content-type'), await got.text()]).toEqual([200, type, body])
  for (const [name, text] of SECURITY) expect(got.headers.get(name)).toBe(text)
  const head = await ask(path, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('a flood of requests costs a rendering of /metrics every 250 ms', async () => {
  const clock = manualClock()
  let renderings = 0
  const metrics = (): Promise<string> => {
    renderings += 1
    return Promise.resolve(`renderings ${renderings}\n`)
  }
  const request = await askView({ clock, metrics })
  const ask = async (encoding: string): Promise<string> =>
    (await request('/metrics', { headers: { 'Accept-Encoding': encoding } })).text()
  expect(await Promise.all([ask('gzip'), ask('identity'), ask('gzip')])).toEqual(Array(3).fill('renderings 1\n'))
  await clock.advance(249)
  expect([await ask('identity'), await ask('gzip')]).toEqual(['renderings 1\n', 'renderings 1\n'])
  await clock.advance(1)
  expect([await ask('gzip'), await ask('identity')]).toEqual(['renderings 2\n', 'renderings 2\n'])
})

test('the links of the page at / lead somewhere', async () => {
  const ask = await askView()
  const page = await (await ask('/')).text()
  const links = [...page.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link = '']) => link)
  for (const wanted of ['/metrics', '/events', '/runbooks/', '/api/v1/status']) expect(links).toContain(wanted)
  for (const link of links) expect([link, (await ask(link)).status]).toEqual([link, 200])
})

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is refused and told what is allowed', async (method) => {
  const ask = await askView()
  const response = await ask('/metrics', { method })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

test.each(['/nothing', '/metrics/more', '/Metrics', '/debug/pprof', '/%2e%2e/etc/passwd'])(
  '%s is not there',
  async (path) => {
    const ask = await askView()
    expect((await ask(path)).status).toBe(404)
  },
)

const rawAnswer = async (request: string): Promise<string> => {
  const socket = connect(await serveView(), '127.0.0.1')
  socket.setEncoding('utf8').write(request)
  let answer = ''
  for await (const text of socket) answer += String(text)
  return answer
}

test('headers above the limit get 431 with a body that names the limit', async () => {
  const answer = await rawAnswer(`GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(9000)}\r\n\r\n`)
  const [head = '', body] = answer.split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/)
  for (const header of SECURITY) expect(head).toContain(`\r\n${header.join(': ')}`)
  expect(body).toBe(
    'The request line and the headers are longer than 8192 bytes in total. Send fewer or shorter headers.\n',
  )
})

test('a malformed request gets 400 with a body', async () => {
  const answer = await rawAnswer('this is not HTTP\r\n\r\n')
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  expect(answer).toMatch(/\r\n\r\nThe request is malformed: /)
})

test('metrics are compressed only if the client accepts it', async () => {
  const long = 'chain_rpc_up 1\n'.repeat(1000)
  const ask = await askView({ metrics: () => Promise.resolve(long) })
  const plain = await ask('/metrics', { headers: { 'accept-encoding': 'identity' } })
  expect(plain.headers.get('content-encoding')).toBeNull()
  expect(await plain.text()).toBe(long)
  const packed = await ask('/metrics', { headers: { 'accept-encoding': 'gzip' } })
  expect(packed.headers.get('content-encoding')).toBe('gzip')
  expect(await packed.text()).toBe(long)
})

test('a page that cannot be rendered returns no stack trace and is reported', async () => {
  const complaints: string[] = []
  const ask = await askView({
    metrics: () => Promise.reject(new Error('a bug')),
    complain: ({ message }) => complaints.push(message),
  })
  const response = await ask('/metrics')
  expect([response.status, await response.text()]).toEqual([
    500,
    'This page could not be rendered; see the log for the reason.\n',
  ])
  expect(complaints).toEqual(['a bug'])
})

test('the not-ready response lists the pending collectors', async () => {
  const ask = await askView({ waitingFor: () => ['rpc', 'ledger'] })
  const response = await ask('/-/ready')
  expect([response.status, await response.text()]).toEqual([503, 'Waiting for: rpc, ledger.\n'])
})

test('an address in use is an error with advice', async () => {
  const { port, close } = await listening(createServer())
  onTestFinished(close)
  const error = await shipped.serve(agentView(), { host: '127.0.0.1', port }, web).catch((thrown: unknown) => thrown)
  expect(String(error).replaceAll(String(port), 'PORT')).toMatchInlineSnapshot(`
    "SourceError: Could not listen on 127.0.0.1:PORT: another program already listens there (perhaps another agent)
      what to do: set another address with --listen HOST:PORT or \`listen:\` in the configuration"
  `)
})

test.each([
  [404, 'GET /nothing', []],
  [405, 'POST /metrics', []],
  [421, 'GET /metrics', ['Host: evil.example']],
  [417, 'GET /metrics', ['Expect: more']],
] as const)('the security headers are in a response with status %i', async (status, line, headers) => {
  const lines = [`${line} HTTP/1.1`, ...headers, 'Host: localhost', 'Connection: close', '', '']
  const [head = ''] = (await rawAnswer(lines.join('\r\n'))).split('\r\n\r\n')
  expect(head).toContain(`HTTP/1.1 ${status} `)
  for (const header of SECURITY) expect(head).toContain(`\r\n${header.join(': ')}`)
})

test('pages may use files of the server, and nothing else', async () => {
  const response = await (await askView())('/')
  expect(response.headers.get('content-security-policy')).toBe(
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
})
