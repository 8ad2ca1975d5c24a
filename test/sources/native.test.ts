import { createServer, type RequestListener } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createHttpClient, NoResponseError } from '../../src/sources/http.ts'
import { askRarelyIfNeverThere, createMetricsEndpoint } from '../../src/sources/endpoints.ts'

let close = (): void => undefined
afterEach(() => {
  close()
})
const serve = (listener: RequestListener): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer(listener)
    close = () => {
      server.closeAllConnections()
      server.close()
    }
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(`127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`)
    })
  })
const never = new AbortController().signal
const get = async (url: string): Promise<string> =>
  (await createMetricsEndpoint(createHttpClient(systemClock), url, 2000).metrics(never)).text

test('/metrics is asked where the address names no path', async () => {
  const host = await serve(({ url, headers }, response) =>
    response.end(`${url} ${headers.authorization ?? 'none'} ${headers.accept}`),
  )
  const accept = 'text/plain;version=0.0.4, text/plain;q=0.5, */*;q=0.1'
  expect(await get(`http://${host}`)).toBe(`/metrics none ${accept}`)
  expect(await get(`http://${host}/?match=a`)).toBe(`/metrics?match=a none ${accept}`)
  expect(await get(`http://${host}/node/1/`)).toBe(`/node/1/ none ${accept}`)
  expect(await get(`http://me:pw@${host}`)).toBe(`/metrics Basic bWU6cHc= ${accept}`)
})

test('a refused connection and an HTTP status differ, and no URL shows a key', async () => {
  const host = await serve((_, response) => response.writeHead(500).end('broken'))
  const native = createMetricsEndpoint(createHttpClient(systemClock), `http://${host}/KEY`, 2000)
  expect(await native.metrics(never)).toMatchObject({ status: 500, text: 'broken', contentType: null })
  close()
  await expect(native.metrics(never)).rejects.toThrow(
    `Could not request http://${host}/…: no connection (ECONNREFUSED)`,
  )
})

test('a port that has refused since the start is asked once a minute; one that has answered, each time', async () => {
  let now = 0
  let asked = 0
  let fails: string | undefined = 'ECONNREFUSED'
  const url = 'http://127.0.0.1:1/metrics'
  const answer = { status: 200, text: '' }
  const metrics = () => {
    asked += 1
    return fails === undefined
      ? Promise.resolve(answer)
      : Promise.reject(new NoResponseError('refused', url, Object.assign(new Error('no'), { code: fails })))
  }
  const endpoint = askRarelyIfNeverThere({ metrics }, { elapsed: () => now })
  const failing = async (times: number): Promise<void> => {
    await expect(endpoint.metrics(never)).rejects.toThrow(`no connection (${fails})`)
    expect(asked).toBe(times)
  }
  await failing(1)
  now = 49_999
  await failing(1)
  now = 50_000
  await failing(2)
  // No answer in time may be of a process that starts: it is asked again at once.
  now = 100_000
  fails = 'ECONNRESET'
  await failing(3)
  await failing(4)
  fails = undefined
  expect(await endpoint.metrics(never)).toBe(answer)
  fails = 'ECONNREFUSED'
  await failing(6)
  await failing(7)
})

test('a port that has had no such page since the start is asked once a minute; after an upgrade each time', async () => {
  let now = 0
  let asked = 0
  let status = 404
  const metrics = () => {
    asked += 1
    return Promise.resolve({ status, text: '' })
  }
  const endpoint = askRarelyIfNeverThere({ metrics }, { elapsed: () => now })
  const answers = async (expected: number, times: number): Promise<void> => {
    expect(await endpoint.metrics(never)).toMatchObject({ status: expected })
    expect(asked).toBe(times)
  }
  await answers(404, 1)
  now = 49_999
  status = 200
  await answers(404, 1)
  now = 50_000
  await answers(200, 2)
  status = 404
  await answers(404, 3)
  await answers(404, 4)
  // An error of the server is no proof that there is no such page.
  status = 500
  await answers(500, 5)
})
