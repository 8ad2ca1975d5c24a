import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { listening } from '../support/http.ts'
import { servedStore } from '../support/memory-store.ts'
import { EVERYTHING } from '../support/store-cases.ts'
import { CHAIN, expectedLogs, LAST, logsOf, queryOf } from './chain.ts'
import { ALL, describeClients, RECENT, startClient } from './clients.ts'
import { startApi } from './service.ts'
import { shipped } from '../support/shipped.ts'

const { apiServerOptions, createQueryApi } = shipped

const RETRIES = { maxNumRetries: 12 }

describeClients.each(RECENT)('the rate limit for client %s', (version) => {
  // On the clock of the service, time passes with its answers only: each takes 19.5 s. A minute begins with its first page.
  const startLimited = async (requestsPerMinute: number) => {
    let answers = 0
    const clock = { ...systemClock, elapsed: () => 19_500 * answers }
    const codes: number[] = []
    const requestFinished = ({ code }: { readonly code: number }): void => {
      answers += 1
      codes.push(code)
    }
    const limits = { pageLogs: 800 }
    return { ...(await startApi({ requestsPerMinute, clock, observer: { requestFinished }, limits })), codes }
  }

  it('makes a stream wait before the limit is reached', async () => {
    // The fourth page is at 58.5 s, and the last one of its minute: the client waits for the rest.
    const { codes, ...api } = await startLimited(4)
    const client = startClient(version, api, RETRIES)
    expect(logsOf(await client.all('stream', queryOf(), { concurrency: 1 }))).toEqual(expectedLogs())
    expect(codes.length).toBeGreaterThan(4)
    expect(new Set(codes)).toEqual(new Set([200]))
  })

  it('makes a stream wait after it was reached', async () => {
    // The fourth request is at 58.5 s and one too many.
    const { codes, ...api } = await startLimited(3)
    const client = startClient(version, api, { ...RETRIES, proactiveRateLimitSleep: false })
    expect(logsOf(await client.all('stream', queryOf(), { concurrency: 1 }))).toEqual(expectedLogs())
    expect(codes.slice(0, 5)).toEqual([200, 200, 200, 429, 200])
  })
})

describeClients.each(ALL)('a restart of the service for client %s', (version) => {
  it('costs a stream some retries and no row', async () => {
    const store = servedStore()
    await store.append(CHAIN)
    const open = () =>
      createQueryApi({
        store,
        scope: EVERYTHING,
        height: () => LAST,
        dialect: 'spec',
        access: { keys: [], requestsPerMinute: null },
        limits: { pageLogs: 60 },
        clock: systemClock,
        observer: { requestFinished: () => undefined },
      })
    let api = open()
    let requests = 0
    let restarts = 0
    const server = createServer(apiServerOptions, (request, response) => {
      requests += 1
      if (requests !== 20) {
        api.handle(request, response)
        return
      }
      // All connections break, that of this request included, and the port is closed for a moment.
      restarts += 1
      api.end()
      server.close(() => {
        api = open()
        server.listen(port, '127.0.0.1')
      })
      server.closeAllConnections()
    })
    const { port, ...listener } = await listening(server)
    onTestFinished(listener.close)
    const pages = await startClient(version, listener, RETRIES).all('stream', queryOf())
    expect(logsOf(pages)).toEqual(expectedLogs())
    expect(restarts).toBe(1)
    expect(requests).toBeGreaterThan(50)
  })
})
