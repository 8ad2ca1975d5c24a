import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import type { LogStore } from '../../../query/store/store.ts'
import { Secret } from '../../../src/core/redaction/secret.ts'
import { eventually } from '../../support/eventually.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { servedStore } from '../../support/memory-store.ts'
import { ask, codeOf, HUGE, it, plainChain, type QueryApi, rawQuery, RIGHT, storeWith } from './fixtures.ts'
import { shipped } from '../../support/shipped.ts'

/** A store whose reads end when the test releases them or when they are aborted. */
const slowStore = () => {
  const store = servedStore()
  const reads: { readonly end: () => void; readonly signal: AbortSignal }[] = []
  const read: LogStore['read'] = async (selection, signal) => {
    await new Promise<void>((resolve) => {
      reads.push({ end: resolve, signal })
      signal.addEventListener('abort', () => {
        resolve()
      })
    })
    if (signal.aborted) throw new shipped.StoreError('aborted', { doing: 'read', happened: 'the caller went' })
    return store.read(selection, signal)
  }
  return { store: storeWith({ read }, store), reads }
}

/** Resolves when the list has this length. */
const reaches = (list: readonly unknown[], length: number) => eventually(() => list.length, length, { every: 5 })

describe('more requests than concurrent reads', () => {
  it('are rejected while too many responses are unsent', async ({ serve }) => {
    const { store, reads } = slowStore()
    const blocks = plainChain(5, 30, { 10: HUGE })
    const limits = { concurrent: 1, waiting: 1, waitMs: 1000, unsentBytes: 1_000_000 }
    const served = await serve({ store, blocks, limits })
    const socket = connect(served.port, '127.0.0.1')
    socket.pause()
    socket.write(rawQuery(JSON.stringify(RIGHT)))
    await reaches(reads, 1)
    const second = ask(served, { ...RIGHT, from_block: 11 })
    // With room for one that waits, a third one is refused as soon as the second does.
    await eventually(async () => (await ask(served, RIGHT)).status, 503, { every: 5 })
    reads[0]?.end()
    const { headers, ...rejected } = await second
    expect([codeOf(rejected), headers['retry-after']]).toEqual(['busy', '1'])
    expect(reads.length).toBe(1)
    socket.destroy()
  })

  it('a read that takes too long is aborted, and its slot is released', async ({ serve }) => {
    const { store, reads } = slowStore()
    const clock = manualClock()
    const served = await serve({ store, clock, limits: { concurrent: 1, answerMs: 30 } })
    const first = ask(served, RIGHT)
    await reaches(reads, 1)
    await clock.advance(30)
    const got = await first
    expect([got.status, codeOf(got), got.headers['retry-after']]).toEqual([503, 'too_slow', '5'])
    expect(reads[0]?.signal.aborted).toBe(true)
    const again = ask(served, RIGHT)
    await reaches(reads, 2)
    reads[1]?.end()
    expect((await again).status).toBe(200)
  })

  it('a slot is not released while a read ignores its abort signal', async ({ serve }) => {
    const reads: ((error: Error) => void)[] = []
    const deaf = storeWith({
      read: async () =>
        new Promise((_, reject) => {
          if (reads.push(reject) > 1) reject(new Error('a second read'))
        }),
    })
    const clock = manualClock()
    const served = await serve({ store: deaf, clock, limits: { concurrent: 1, waiting: 0, answerMs: 20 } })
    const first = ask(served, RIGHT)
    await reaches(reads, 1)
    await clock.advance(20)
    expect([codeOf(await first), codeOf(await ask(served, RIGHT))]).toEqual(['too_slow', 'busy'])
    reads[0]?.(new Error('at last'))
  })
})

describe('a full queue', () => {
  it('rejects a request before its body is read', async ({ serve }) => {
    const { store, reads } = slowStore()
    const served = await serve({ store, limits: { concurrent: 1, waiting: 0 } })
    const first = ask(served, RIGHT)
    await reaches(reads, 1)
    // Of this body only a part is sent: a server that reads it first does not respond.
    const socket = connect(served.port, '127.0.0.1')
    socket.write('POST /query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{')
    const head: unknown[] = await once(socket, 'data')
    expect(String(head[0])).toMatch(/^HTTP\/1.1 503 /)
    socket.destroy()
    reads[0]?.end()
    expect((await first).status).toBe(200)
  })

  it('reads large bodies a few at a time, and small ones at once', async ({ serve }) => {
    const served = await serve({ limits: { largeBodies: { concurrent: 1, waiting: 0, waitMs: 1000 } } })
    const large = JSON.stringify(RIGHT).padEnd(65_537)
    // A large body that does not end.
    const socket = connect(served.port, '127.0.0.1')
    socket.write('POST /query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 65537\r\n\r\n{')
    await eventually(async () => codeOf(await ask(served, large)), 'busy', { every: 5 })
    expect((await ask(served, large.slice(0, 65_536))).status).not.toBe(503)
    socket.destroy()
  })

  it('does not parse a body before its turn', async ({ serve }) => {
    const { store, reads } = slowStore()
    const served = await serve({ store, limits: { concurrent: 1, waiting: 1 } })
    const first = ask(served, RIGHT)
    await reaches(reads, 1)
    const second = ask(served, '{')
    // Without room for a third one, the second one waits.
    await eventually(async () => (await ask(served, RIGHT)).status, 503, { every: 5 })
    expect(served.answered.map(({ code }) => code)).not.toContain(400)
    reads[0]?.end()
    expect((await first).status).toBe(200)
    expect((await second).status).toBe(400)
  })

  it('serves a client of another key', async ({ serve }) => {
    const { store, reads } = slowStore()
    const keys = ['key-of-a-0123456789', 'key-of-b-0123456789'].map((key) => new Secret(key))
    const served = await serve({ store, keys, limits: { concurrent: 1, waiting: 2 } })
    const of = (key: string) => ask(served, RIGHT, { authorization: `Bearer key-of-${key}-0123456789` })
    const flood = [of('a'), of('a'), of('a')]
    await reaches(reads, 1)
    // The newest waiting request of a leaves the queue as soon as the one of b is there.
    const honest = of('b')
    await reaches(served.answered, 1)
    expect(served.answered.map(({ code }) => code)).toEqual([503])
    reads[0]?.end()
    await reaches(reads, 2)
    reads[1]?.end()
    expect((await honest).status).toBe(200)
    await reaches(reads, 3)
    reads[2]?.end()
    expect((await Promise.all(flood)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 503])
  })
})

describe('a client that disconnects', () => {
  const leave = async (served: QueryApi, until: () => boolean): Promise<void> => {
    const sent = request({
      port: served.port,
      method: 'POST',
      path: '/query',
      headers: { 'content-type': 'application/json' },
    })
    sent.on('error', () => undefined)
    sent.end(JSON.stringify(RIGHT))
    await eventually(until, Boolean, { every: 5 })
    sent.destroy()
  }

  it('aborts its work and is counted as 499', async ({ serve }) => {
    const { store, reads } = slowStore()
    const served = await serve({ store })
    await leave(served, () => reads.length === 1)
    await reaches(served.answered, 1)
    expect(reads[0]?.signal.aborted).toBe(true)
    expect(served.answered[0]).toMatchObject({ path: '/query', code: 499, bytes: 0, logs: 0 })
    expect(served.complaints).toEqual([])
  })

  it('within its body is not an internal error', async ({ serve }) => {
    const served = await serve()
    const socket = connect(served.port, '127.0.0.1')
    socket.write(
      'POST /query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"from',
    )
    await once(socket, 'connect')
    await eventually(() => socket.bytesWritten > 0, Boolean, { every: 5 })
    socket.destroy()
    await reaches(served.answered, 1)
    expect(served.answered[0]?.code).toBe(499)
    expect(served.complaints).toEqual([])
  })
})
