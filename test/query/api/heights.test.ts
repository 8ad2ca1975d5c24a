import { get, type IncomingMessage } from 'node:http'
import { describe, expect } from 'vitest'
import { createHeights } from '../../../query/service/api/heights.ts'
import { impreciseClock, jumpingClock } from '../../support/jumping-clock.ts'
import { servedStore } from '../../support/memory-store.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { askRaw, codeOf, type Got, it, plainChain, type QueryApi } from './fixtures.ts'

/** A head that a test moves, and that tells how often it was read. */
const movableHead = (first: number | null) => {
  let height = first
  let reads = 0
  let notify: () => void = () => undefined
  return {
    height: () => {
      reads += 1
      notify()
      return height
    },
    set: (next: number) => {
      height = next
    },
    /** Resolves when it was read so many times in all. */
    read: async (times: number): Promise<void> => {
      while (reads < times) await new Promise<void>((resolve) => (notify = resolve))
    },
  }
}

const BODY = { logs: [{}], field_selection: { log: ['data'] } }
const askBinary = (api: QueryApi, body: object) =>
  askRaw(api, { path: '/query/arrow-ipc', body: JSON.stringify({ ...BODY, ...body }) })

/** The first two integers of the response, after the tables of the segment: its height, and the next block. */
const coverageOf = ({ bytes }: Got) => [bytes.readBigInt64LE(20), bytes.readBigInt64LE(28)]

describe('a binary request above the head', () => {
  it('is answered when its block arrives', async ({ serve }) => {
    const [head, clock, store] = [movableHead(30), manualClock(), servedStore()]
    await store.append(plainChain(5, 30))
    const api = await serve({ blocks: [], store, clock, height: head.height })
    const answer = askBinary(api, { from_block: 31, to_block: 40 })
    // To see that it is above, and to wait.
    await head.read(2)
    await store.append(plainChain(31, 31))
    head.set(31)
    await clock.advance(100)
    expect((await answer).status).toBe(200)
    expect(coverageOf(await answer)).toEqual([31n, 32n])
  })

  it('is answered without a block after ten seconds', async ({ serve }) => {
    const [head, clock] = [movableHead(30), manualClock()]
    const api = await serve({ clock, height: head.height })
    const answer = askBinary(api, { from_block: 31 })
    await head.read(2)
    for (let waits = 1; waits < 100; waits += 1) {
      await clock.advance(100)
      await head.read(2 + waits)
    }
    await clock.advance(100)
    expect(coverageOf(await answer)).toEqual([30n, 31n])
    // A wait for the chain is no sign of a slow service.
    expect(api.answered).toMatchObject([{ path: '/query/arrow-ipc', code: 200, seconds: 0 }])
  })

  it.for<[string, object]>([
    ['a backwards range, with which clients end a stream', { from_block: 31, to_block: 30 }],
    ['an empty range', { from_block: 31, to_block: 31 }],
  ])('does not wait: %s', async ([, range], { serve }) => {
    const api = await serve({ clock: manualClock() })
    expect(coverageOf(await askBinary(api, range))).toEqual([30n, 31n])
  })

  it('does not wait as JSON, whose clients ask for the height first', async ({ serve }) => {
    const api = await serve({ clock: manualClock(), dialect: 'hosted' })
    expect((await askRaw(api, { body: JSON.stringify({ ...BODY, from_block: 31 }) })).status).toBe(200)
  })

  it('has a limit of its own for each client', async ({ serve }) => {
    const [head, clock] = [movableHead(30), manualClock()]
    const api = await serve({ clock, height: head.height, limits: { held: { total: 9, perClient: 1 } } })
    const first = askBinary(api, { from_block: 31 })
    await head.read(2)
    const second = await askBinary(api, { from_block: 31 })
    expect([second.status, codeOf(second), second.headers['retry-after']]).toEqual([503, 'busy', '1'])
    api.end()
    expect((await first).status).toBe(200)
  })
})

const openStream = async (api: QueryApi) => {
  const message = await new Promise<IncomingMessage>((resolve) => get(`${api.url}/height/sse`, resolve))
  message.setEncoding('utf8')
  const chunks = message[Symbol.asyncIterator]()
  // Undefined at the end.
  return { message, next: async (): Promise<unknown> => (await chunks.next()).value }
}

describe('the stream of heights', () => {
  it('has the height at once, each new one, and an event every five seconds', async ({ serve }) => {
    const [head, clock] = [movableHead(30), manualClock()]
    const api = await serve({ clock, height: head.height })
    const { message, next } = await openStream(api)
    expect(message.headers['content-type']).toBe('text/event-stream')
    expect(await next()).toBe('event: height\ndata: 30\n\n')
    expect(api.streams()).toBe(1)
    head.set(33)
    await clock.advance(100)
    expect(await next()).toBe('event: height\ndata: 33\n\n')
    // A lower one is that of another reading.
    head.set(32)
    await clock.advance(5000)
    expect(await next()).toBe('event: ping\ndata:\n\n')
    api.end()
    expect(await next()).toBeUndefined()
    expect(api.streams()).toBe(0)
  })

  it('has no height before the first block', async ({ serve }) => {
    const [head, clock] = [movableHead(null), manualClock()]
    const { next } = await openStream(await serve({ blocks: [], clock, height: head.height }))
    expect(await next()).toBe('event: ping\ndata:\n\n')
    head.set(7)
    await clock.advance(100)
    expect(await next()).toBe('event: height\ndata: 7\n\n')
  })

  it('ends with the client, and has a limit', async ({ serve }) => {
    const api = await serve({ clock: manualClock(), limits: { streams: { total: 1, perClient: 1 } } })
    const { message, next } = await openStream(api)
    await next()
    const rejected = await askRaw(api, { method: 'GET', path: '/height/sse' })
    expect([rejected.status, codeOf(rejected)]).toEqual([503, 'busy'])
    expect((await askRaw(api, { method: 'HEAD', path: '/height/sse' })).status).toBe(200)
    message.destroy()
    while (api.streams() > 0) await new Promise(setImmediate)
    expect(api.answered.at(-1)).toMatchObject({ path: '/height/sse', code: 200, seconds: null })
  })
})

it('the height of all endpoints never decreases', async ({ serve }) => {
  const head = movableHead(30)
  const api = await serve({ height: head.height })
  const read = async (path: string) => (await askRaw(api, { method: 'GET', path })).text
  expect(await read('/height')).toBe('{"height":30}')
  head.set(29)
  expect(await read('/height')).toBe('{"height":30}')
  expect(await read('/chain_id')).toBe('{"chain_id":143}')
})

it('never waits for a time that has passed', async () => {
  const clock = impreciseClock(jumpingClock())
  const { waitFor } = createHeights(() => null, clock)
  await waitFor(1, 1000, new AbortController().signal)
  expect(clock.elapsed()).toBeGreaterThan(1000)
})
