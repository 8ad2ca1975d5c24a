import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { createGunzip } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { createSampleIndex, sample } from '../../../src/core/metric.ts'
import type { Event } from '../../../src/domain/event.ts'
import { overviewInput, statusPageOf } from '../../support/agent-view.ts'
import { eventually } from '../../support/eventually.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { serveView } from '../serve-view.ts'

/** Of the states that are sent, in milliseconds. */
const INTERVAL = 2000

const knownAt = (height: number) =>
  createSampleIndex([
    sample('chain_rpc_block_number', height, { tag: 'latest' }),
    sample('chain_rpc_block_timestamp_seconds', 1_772_366_400, { tag: 'latest' }),
  ])

/** Long events that differ at each height. */
const eventsAt = ({ height, events }: { readonly height: number; readonly events: number }): readonly Event[] =>
  Array.from({ length: events }, (_, id) => ({
    id,
    at: 0,
    collector: 'logs',
    subject: null,
    from: null,
    to: `${height}`.padEnd(4000, 'x'),
    severity: 'info',
  }))

/** A server whose page shows a height. */
const start = async () => {
  const clock = manualClock(Date.UTC(2026, 2, 1, 12))
  const node = { height: 100, reads: 0, events: 0, rulesAges: new Array<number>() }
  const page = statusPageOf({
    clock,
    read: (rulesAge) => {
      node.reads += 1
      node.rulesAges.push(rulesAge)
      return Promise.resolve(overviewInput({ known: knownAt(node.height) }, { events: eventsAt(node) }))
    },
  })
  const port = await serveView({ page })
  onTestFinished(page.stream.close)
  return { clock, node, page, port }
}

const MESSAGE = /^(?:event: (?<event>.+)\n)?(?:id: (?<id>.+)\n)?data: (?<data>.+)$/

/** A viewer that collects what it receives. */
const view = async (port: number, headers: Record<string, string> = {}) => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path: '/api/v1/stream', headers, agent: false }, resolve)
    sent.on('error', reject).end()
    onTestFinished(() => void sent.destroy())
  })
  let text = ''
  const body = response.headers['content-encoding'] === 'gzip' ? response.pipe(createGunzip()) : response
  body.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  body.on('error', () => undefined)
  response.on('error', () => undefined)
  const messages = () =>
    text
      .split('\n\n')
      .slice(0, -1)
      .map((message) => {
        const { event = 'message', id = '', data = '{}' } = MESSAGE.exec(message)?.groups ?? {}
        return { event, id, data }
      })
  return {
    response,
    messages,
    text: () => text,
    count: async (n: number) => eventually(messages, (all) => all.length >= n),
  }
}

test('500 viewers get each change in one message that is rendered once', async () => {
  const { clock, node, page, port } = await start()
  const viewers = await Promise.all(
    Array.from({ length: 500 }, async (_, index) => view(port, index % 2 === 0 ? { 'accept-encoding': 'gzip' } : {})),
  )
  expect(page.stream.viewers()).toBe(500)
  // Those that came after the first look get it at the next one.
  await clock.advance(INTERVAL)
  for (const viewer of viewers) await viewer.count(1)
  for (let change = 1; change <= 5; change += 1) {
    node.height += 1
    const before = node.reads
    await clock.advance(INTERVAL)
    for (const viewer of viewers) await viewer.count(1 + change)
    expect(node.reads).toBe(before + 1)
  }
  const [first, ...others] = viewers.map((viewer) => viewer.messages().slice(-5))
  for (const other of others) expect(other).toEqual(first)
  for (const [index, { data }] of (first ?? []).entries()) expect(data).toContain(String(101 + index))
  // Only what changed.
  expect(first?.at(-1)?.data).not.toContain('section-host')
})

test('without a change there is no message, only a sign that the connection works', async () => {
  const { clock, port } = await start()
  const viewer = await view(port)
  await viewer.count(1)
  const events = await eventually(
    async () => {
      await clock.advance(INTERVAL)
      return viewer.messages().map(({ event }) => event)
    },
    ({ length }) => length >= 3,
    { every: 1 },
  )
  expect(events.slice(0, 3)).toEqual(['message', 'alive', 'alive'])
})

test('a viewer that resumes gets what changed since, and one of another process everything', async () => {
  const { clock, node, port } = await start()
  const viewer = await view(port)
  await viewer.count(1)
  node.height += 1
  await clock.advance(INTERVAL)
  const [first, second] = await viewer.count(2)
  expect(first?.data).toContain('section-host')

  const resumed = await view(port, { 'last-event-id': first?.id ?? '' })
  await clock.advance(INTERVAL)
  const [since] = await resumed.count(1)
  expect(since?.id).toBe(second?.id)
  expect(since?.data).toContain('101')
  expect(since?.data).not.toContain('section-host')

  for (const id of ['other-1', `${first?.id.split('-')[0] ?? ''}-999`, 'x', '']) {
    const fresh = await view(port, { 'last-event-id': id })
    await clock.advance(INTERVAL)
    const [all] = await fresh.count(1)
    expect(all?.data).toContain('section-host')
  }
})

test('the rules are evaluated for a request; viewers get a state with those of the last 5 s', async () => {
  const { clock, node, page, port } = await start()
  await page.document()
  const viewer = await view(port)
  await viewer.count(1)
  // The state of the request is new enough for the viewer.
  expect(node.rulesAges).toEqual([0])
  node.height += 1
  await clock.advance(INTERVAL)
  await viewer.count(2)
  expect(node.rulesAges).toEqual([0, 5000])
  // That of the viewer is as new, but not with rules that were evaluated for the request.
  await Promise.all([page.document(), page.overview()])
  expect(node.rulesAges).toEqual([0, 5000, 0])
})

test('viewers above the limit get 503, and Prometheus still gets the metrics', async () => {
  const { page, port } = await start()
  for (let opened = 0; opened < 512; opened += 64) await Promise.all(Array.from({ length: 64 }, async () => view(port)))
  expect(page.stream.viewers()).toBe(512)
  const more = await view(port)
  expect([more.response.statusCode, more.response.headers['retry-after']]).toEqual([503, '30'])
  await eventually(more.text, (text) => text === '512 viewers are connected already. Reload the page instead.\n')
  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`)
  expect([metrics.status, await metrics.text()]).toEqual([200, 'chain_rpc_up 1\n'])
})

test('a viewer that does not read is disconnected', async () => {
  const { clock, node, page, port } = await start()
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  socket.pause()
  socket.write('GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await eventually(page.stream.viewers, (viewers) => viewers === 1)
  node.events = 50
  await eventually(
    async () => {
      node.height += 1
      await clock.advance(INTERVAL)
      return page.stream.viewers()
    },
    (viewers) => viewers === 0,
    { every: 1 },
  )
})

test('after the last viewer has left, nothing is rendered', async () => {
  const { clock, node, page, port } = await start()
  const viewer = await view(port)
  await viewer.count(1)
  viewer.response.destroy()
  await eventually(page.stream.viewers, (viewers) => viewers === 0)
  await clock.advance(INTERVAL)
  const { reads } = node
  for (let second = 0; second < 10; second += 1) await clock.advance(INTERVAL)
  expect(node.reads).toBe(reads)
  await (await view(port)).count(1)
})
