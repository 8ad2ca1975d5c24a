import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTls } from 'node:https'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createHttpClient, NoResponseError, type SendRequest } from '../../src/sources/http.ts'
import {
  createBatchingRpcEndpoint,
  createEndpoints,
  createMetricsEndpoint,
  createQueryEndpoint,
  createRpcEndpoint,
} from '../../src/sources/endpoints.ts'
import { makeCertificate } from '../support/certificates.ts'
import { temporaryFolder } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { listening } from '../support/http.ts'

const directory = await temporaryFolder()

const serve = async (listener: RequestListener): Promise<string> => {
  const { url, close } = await listening(createServer(listener))
  onTestFinished(close)
  return url
}
const ask = createHttpClient(systemClock)
const never = new AbortController().signal
const silence = async (asking: Promise<unknown>): Promise<string> => {
  const error: unknown = await asking.catch((thrown: unknown) => thrown)
  return error instanceof NoResponseError ? `${error.timeout ? 'timeout' : 'refused'}: ${error.message}` : String(error)
}

test('JSON-RPC as the node wants it: POST /, an id, a type', async () => {
  const seen: unknown[] = []
  const url = await serve((request, response) => {
    void textOf(request).then((body) => {
      seen.push([request.method, request.url, request.headers['content-type'], JSON.parse(body)])
      response.writeHead(503).end('busy')
    })
  })
  const answer = await createRpcEndpoint(ask, url, 60_000).call('eth_getBlockByNumber', ['latest', false], never)
  expect(answer).toMatchObject({ status: 503, text: 'busy' })
  const body = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] }
  expect(seen).toEqual([['POST', '/', 'application/json', body]])
})

/** Answers each request with what `answer` makes of its body, and records the bodies. */
const rpcServer = async (answer: (body: string) => string) => {
  const bodies: string[] = []
  const url = await serve((request, response) => {
    void textOf(request).then((body) => {
      bodies.push(body)
      response.end(answer(body))
    })
  })
  return { endpoint: createBatchingRpcEndpoint(ask, url, 60_000), bodies }
}

test('calls of one moment are one batch, and each has its own response', async () => {
  const { endpoint, bodies } = await rpcServer(
    () => '[{"id":2,"result":"0x3"},{"id":7,"result":"0x8"},{"id":0,"error":{"message":"busy"}}]',
  )
  const texts = await Promise.all(['a', 'b', 'c'].map((method) => endpoint.call(method, [1], never)))
  expect(bodies).toEqual([
    '[{"jsonrpc":"2.0","id":0,"method":"a","params":[1]},{"jsonrpc":"2.0","id":1,"method":"b","params":[1]},{"jsonrpc":"2.0","id":2,"method":"c","params":[1]}]',
  ])
  expect(texts.map(({ text }) => text)).toEqual(['{"id":0,"error":{"message":"busy"}}', '', '{"id":2,"result":"0x3"}'])
  await endpoint.call('d', [], never)
  expect(bodies[1]).toBe('{"jsonrpc":"2.0","id":1,"method":"d","params":[]}')
})

test('a server without batches receives single calls, the first ones too', async () => {
  const { endpoint, bodies } = await rpcServer((body) => (body.startsWith('[') ? '{"error":"no batches"}' : body))
  const two = () => Promise.all(['a', 'b'].map((method) => endpoint.call(method, [], never)))
  const [a, b] = ['a', 'b'].map((method) => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[]}`)
  expect((await two()).map(({ text }) => text)).toEqual([a, b])
  await two()
  expect(bodies.length).toBe(5)
  expect(bodies.filter((body) => body.startsWith('[')).length).toBe(1)
})

test('each call of a batch fails with its request', async () => {
  const endpoint = createBatchingRpcEndpoint(ask, `http://127.0.0.1:${await freePort()}`, 60_000)
  const failures = await Promise.all(['a', 'b'].map((method) => silence(endpoint.call(method, [], never))))
  expect(failures.every((failure) => failure.startsWith('refused:'))).toBe(true)
})

test('the height of a query service, wherever its address ends', async () => {
  const url = await serve((request, response) => response.end(request.url))
  expect((await createQueryEndpoint(ask, { url: `${url}/v1/`, apiKeyFile: null }, 60_000).height(never)).text).toBe(
    '/v1/height',
  )
})
test('the API key of a query service is read from its file for each request', async () => {
  const apiKeyFile = join(directory, 'key')
  const url = await serve((request, response) => response.end(request.headers.authorization))
  const query = createQueryEndpoint(ask, { url, apiKeyFile }, 60_000)
  for (const key of ['first-key', 'second-key']) {
    await writeFile(apiKeyFile, `${key}\n`)
    expect((await query.height(never)).text).toBe(`Bearer ${key}`)
  }
})
test('connection refused', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/KEY`
  expect(await silence(ask({ url, timeout: 60_000, maxBytes: 1000, signal: never }))).toBe(
    `refused: Could not request http://127.0.0.1:${port}/…: no connection (ECONNREFUSED)`,
  )
})
test('TLS errors are words', async () => {
  const { cert, key } = await makeCertificate(directory, 'server')
  const pem = await readFile(cert, 'utf8')
  const secure = await listening(createTls({ cert: pem, key: await readFile(key) }, (_, response) => response.end()))
  const plain = await serve((_, response) => response.end())
  const request = (url: string) => ({
    url: url.replace('http:', 'https:'),
    timeout: 60_000,
    maxBytes: 1000,
    signal: never,
  })
  expect(await silence(ask(request(secure.url)))).toMatch(
    /: no trusted connection: its certificate is self-signed, or of an authority that this host does not trust\n {2}what to do: .*NODE_EXTRA_CA_CERTS/,
  )
  expect(await silence(ask(request(plain)))).toContain(': no trusted connection: this port does not use TLS\n')
  expect((await createHttpClient(systemClock, [pem])(request(secure.url))).status).toBe(200)
  await secure.close()
})
test('timeout: before the response, and in the middle of it', async () => {
  const mute = await serve(() => undefined)
  expect(await silence(ask({ url: mute, timeout: 100, maxBytes: 1000, signal: never }))).toMatch(
    /^timeout: .*: no response in time$/,
  )
  const slow = await serve((_, response) => response.write('{"jsonrpc'))
  expect(await silence(ask({ url: slow, timeout: 100, maxBytes: 1000, signal: never }))).toMatch(/^timeout: /)
})
test('the connection is closed', async () => {
  const url = await serve((request) => request.socket.destroy())
  expect(await silence(ask({ url, timeout: 60_000, maxBytes: 1000, signal: never }))).toMatch(/^refused: /)
})
/** A response without an end. */
const endless = (status: number) =>
  serve((_, response) => {
    response.statusCode = status
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    }
    response.on('drain', more)
    more()
  })
test('a response with more bytes is an error, which names the limit', async () => {
  const url = await endless(200)
  const error: unknown = await ask({ url, timeout: 60_000, maxBytes: 65_536, signal: never }).catch(String)
  expect(error).toContain(`ParseError: Could not parse the response of ${url}`)
  expect(error).toContain('expected at most 64.00 KiB')
})
test('of the response of a server that failed, the beginning is enough', async () => {
  const url = await endless(500)
  const { status, text } = await ask({ url, timeout: 60_000, maxBytes: 1_000_000, signal: never })
  expect(status).toBe(500)
  expect(text.length).toBeLessThanOrEqual(1_000_000)
})
test('each request has the limit of what it asks for', async () => {
  const limits: unknown[] = []
  const record: SendRequest = ({ maxBytes }) => {
    limits.push(maxBytes)
    return Promise.resolve({ status: 200, text: '' })
  }
  const node = createRpcEndpoint(record, 'http://127.0.0.1:1', 1)
  await node.call('eth_blockNumber', [], never)
  await node.call('eth_getBlockByNumber', ['latest', false], never)
  await createQueryEndpoint(record, { url: 'http://127.0.0.1:1', apiKeyFile: null }, 1).height(never)
  await createMetricsEndpoint(record, 'http://127.0.0.1:1', 1).metrics(never)
  expect(limits).toEqual([65_536, 2_097_152, 65_536, 2_097_152])
})

const SET = ': set that address, unless it is a sign-in page'

test.for([
  ['https://me:hunter2@sso.example/login?token=hunter2', `it redirects to https://sso.example/…${SET}`],
  ['//sso.example', `it redirects to http://sso.example${SET}`],
  ['file:///etc/passwd', `it redirects to file:///…${SET}`],
  [`https://${'a'.repeat(300)}.example/`, `it redirects to https://${'a'.repeat(192)}${SET}`],
  ['http://[', 'it answers with HTTP status 302'],
  [undefined, 'it answers with HTTP status 302'],
] as const)('a redirect to %s is not followed, and named', async ([location, expected]) => {
  const url = await serve((_, response) => {
    response.writeHead(302, location === undefined ? {} : { location }).end()
  })
  const asking = ask({ url, timeout: 60_000, maxBytes: 1000, signal: never })
  expect(await silence(asking)).toBe(`refused: Could not request ${url}: ${expected}`)
})

test('a content-encoding that was not requested is named', async () => {
  const url = await serve((_, response) => response.setHeader('content-encoding', 'zstd').end('{}'))
  const asking = ask({ url, timeout: 60_000, maxBytes: 1000, signal: never })
  expect(await silence(asking)).toContain('the response has the content-encoding zstd, which was not requested')
})

test.for([
  ['Sun, 01 Mar 2026 13:00:05 GMT', Date.UTC(2026, 2, 1, 13, 0, 5)],
  ['Sat, 13 Sep 275760 00:00:00 GMT', null],
  ['Fri, 31 Dec 9999 23:59:59 GMT', null],
  ['yesterday', null],
] as const)('the Date of a response: %s', async ([date, expected]) => {
  const url = await serve((_, response) => {
    response.writeHead(200, { date }).end()
  })
  expect(await ask({ url, timeout: 60_000, maxBytes: 1000, signal: never })).toMatchObject({ date: expected })
})

test('/metrics is asked where the address names no path', async () => {
  const url = await serve(({ url: path, headers }, response) =>
    response.end(`${path} ${headers.authorization ?? 'none'} ${headers.accept}`),
  )
  const accept = 'text/plain;version=0.0.4, text/plain;q=0.5, */*;q=0.1'
  const get = async (from: string) => (await createMetricsEndpoint(ask, from, 2000).metrics(never)).text
  expect(await get(url)).toBe(`/metrics none ${accept}`)
  expect(await get(`${url}/?match=a`)).toBe(`/metrics?match=a none ${accept}`)
  expect(await get(`${url}/node/1/`)).toBe(`/node/1/ none ${accept}`)
  expect(await get(url.replace('//', '//me:p%40ss@'))).toBe(`/metrics Basic ${btoa('me:p@ss')} ${accept}`)
})

/** When, in milliseconds, the port gives which response: a status, or the code of an error; and what is returned, after how many requests. */
type Step = readonly [at: number, given: number | string, returned: number | string, requests: number]

test.each<{ readonly port: string; readonly steps: readonly Step[] }>([
  {
    port: 'has refused since the start is asked once a minute; one that has answered, each time',
    steps: [
      [0, 'ECONNREFUSED', 'ECONNREFUSED', 1],
      [49_999, 'ECONNREFUSED', 'ECONNREFUSED', 1],
      [50_000, 'ECONNREFUSED', 'ECONNREFUSED', 2],
      // No answer in time may be of a process that starts: it is asked again at once.
      [100_000, 'ECONNRESET', 'ECONNRESET', 3],
      [100_000, 'ECONNRESET', 'ECONNRESET', 4],
      [100_000, 200, 200, 5],
      [100_000, 'ECONNREFUSED', 'ECONNREFUSED', 6],
      [100_000, 'ECONNREFUSED', 'ECONNREFUSED', 7],
    ],
  },
  {
    port: 'has had no such page since the start is asked once a minute; after an upgrade each time',
    steps: [
      [0, 404, 404, 1],
      [49_999, 200, 404, 1],
      [50_000, 200, 200, 2],
      [50_000, 404, 404, 3],
      [50_000, 404, 404, 4],
      // An error of the server is no proof that there is no such page.
      [50_000, 500, 500, 5],
    ],
  },
])('a port that $port', async ({ steps }) => {
  let [now, requests] = [0, 0]
  let given: number | string = 0
  const metrics = () => {
    requests += 1
    return typeof given === 'number'
      ? Promise.resolve({ status: given, text: '' })
      : Promise.reject(new NoResponseError('refused', 'http://h', Object.assign(new Error('no'), { code: given })))
  }
  const endpoint = createEndpoints(metrics, { elapsed: () => now }).nativeAt('http://h', 1)
  for (const [at, next, returned, expected] of steps) {
    ;[now, given] = [at, next]
    const outcome = await endpoint.metrics(never).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof NoResponseError ? error.detail : error),
    )
    expect([at, outcome, requests]).toEqual([at, returned, expected])
  }
})
