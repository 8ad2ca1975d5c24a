import { Agent as HttpAgent, createServer } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { describe, expect } from 'vitest'
import { createQueryClient } from '../../query/client/client.ts'
import { createPool } from '../../src/sources/http-exchange.ts'
import { listening } from '../support/http.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import { manualClock } from '../support/manual-clock.ts'
import { it, keepPages } from './client-fixtures.ts'

describe('connections', () => {
  it('use the scheme of the address', () => {
    expect(createPool('http:', manualClock()).acquire().agent).toBeInstanceOf(HttpAgent)
    expect(createPool('https:', manualClock()).acquire().agent).toBeInstanceOf(HttpsAgent)
  })
  it('are kept for a minute and closed after their last request', async () => {
    const clock = manualClock()
    const pool = createPool('http:', clock)
    const ended: string[] = []
    const watched = (name: string) => {
      const acquired = pool.acquire()
      acquired.agent.destroy = () => {
        ended.push(name)
      }
      return acquired
    }
    const first = watched('first')
    await clock.advance(59_999)
    const same = pool.acquire()
    expect(same.agent).toBe(first.agent)
    first.release()
    await clock.advance(1)
    const second = watched('second')
    expect(second.agent).not.toBe(first.agent)
    // One request still uses the old agent.
    expect(ended).toEqual([])
    same.release()
    expect(ended).toEqual(['first'])
    second.release()
    await clock.advance(60_000)
    pool.acquire().release()
    expect(ended).toEqual(['first', 'second'])
  })
  it('are reused', async ({ onTestFinished }) => {
    let connections = 0
    const server = createServer((_, response) => {
      response.end('{"height":5}')
    }).on('connection', () => {
      connections += 1
    })
    const { url, close } = await listening(server)
    onTestFinished(close)
    const client = createQueryClient({ url, apiKey: null, clock: jumpingClock() })
    const signal = new AbortController().signal
    for (let times = 0; times < 5; times += 1) expect(await client.height(signal)).toBe(5)
    expect(connections).toBe(1)
  })
})

describe('GET /height', () => {
  it.for<[unknown, number | string]>([
    [123, 123],
    ['0x7b', 123],
    ['123', 123],
    [0, 0],
    [null, 'no-data'],
    [-1, 'protocol'],
    [1.5, 'protocol'],
    [2 ** 53, 'protocol'],
    [2 ** 53 - 1, 'protocol'],
    ['high', 'protocol'],
  ])('%j is %s', async ([height, expected], { serve }) => {
    const server = await serve({ toldHeight: () => height })
    const client = createQueryClient({ url: server.url, apiKey: null, clock: jumpingClock() })
    const asked = client.height(new AbortController().signal)
    if (typeof expected === 'number') expect(await asked).toBe(expected)
    else await expect(asked).rejects.toMatchObject({ kind: expected })
  })
  it('is requested again after an invalid response', async ({ serve }) => {
    const server = await serve({
      height: 7,
      faults: ({ nth }) => (nth === 0 ? { kind: 'reply', status: 200, body: '{}' } : undefined),
    })
    const client = createQueryClient({ url: server.url, apiKey: null, clock: jumpingClock() })
    expect(await client.height(new AbortController().signal)).toBe(7)
    expect(server.seen).toHaveLength(2)
  })
  it('fails before any page is requested', async ({ serve }) => {
    const server = await serve({
      faults: ({ path }) => (path === '/height' ? { kind: 'reply', status: 404 } : undefined),
    })
    const client = createQueryClient({ url: server.url, apiKey: null, clock: jumpingClock() })
    const query = { addresses: [], topics: [], fields: [], fromBlock: 0, toBlock: 5 }
    const running = client.run(query, keepPages().sink, { signal: new AbortController().signal })
    await expect(running).rejects.toMatchObject({ kind: 'fatal' })
    expect(server.seen.map(({ path }) => path)).toEqual(['/height'])
  })
})
