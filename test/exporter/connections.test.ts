import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { limitConnections, oneAtATime } from '../../src/exporter/connections.ts'
import { eventually } from '../support/eventually.ts'
import { listening } from '../support/http.ts'
import { serveView } from './serve-view.ts'

const open = async (port: number): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const MOST = 8

const startLimited = async (handle: Parameters<typeof oneAtATime>[0] = (_, response) => response.end('ok')) => {
  const server = createServer(oneAtATime(handle))
  limitConnections(server, MOST)
  const { port, close } = await listening(server)
  onTestFinished(close)
  return port
}

const get = async (port: number): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).status

test.each([
  ['send nothing', ''],
  ['send headers slowly', 'GET / HTTP/1.1\r\nHost: a\r\nX: '],
])('connections that %s keep no client out', async (_, beginning) => {
  const port = await startLimited()
  const sockets: Socket[] = []
  for (let each = 0; each < 2 * MOST; each += 1) {
    const socket = await open(port)
    socket.write(beginning)
    sockets.push(socket)
  }
  for (let each = 0; each < 3; each += 1) expect(await get(port)).toBe(200)
  const openSockets = () => sockets.filter(({ destroyed }) => !destroyed).length
  await eventually(openSockets, (count) => count < MOST)
})

test('a connection that has sent a request outlives those that have not', async () => {
  const port = await startLimited()
  const prometheus = await open(port)
  prometheus.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(prometheus, 'data')
  for (let each = 0; each < 3 * MOST; each += 1) await open(port)
  prometheus.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(String(await once(prometheus, 'data'))).toContain('200 OK')
})

test('a request in progress is not cut off for a new connection', async () => {
  const answers: (() => void)[] = []
  const port = await startLimited((_, response) => answers.push(() => response.end('ok')))
  const first = Array.from({ length: MOST }, () => get(port))
  await eventually(() => answers.length, MOST)
  await expect(get(port)).rejects.toThrow('fetch failed')
  for (const answer of answers) answer()
  expect(await Promise.all(first)).toEqual(first.map(() => 200))
})

test('pipelined requests are handled one after another, in order', async () => {
  const running: string[] = []
  const answers: (() => void)[] = []
  const port = await startLimited(({ url = '' }, response) => {
    running.push(url)
    answers.push(() => response.end(url))
  })
  const socket = await open(port)
  let received = ''
  socket.on('data', (chunk) => (received += String(chunk)))
  socket.write(['/a', '/b', '/c'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''))
  for (const [at, path] of ['/a', '/b', '/c'].entries()) {
    await eventually(() => running.length, at + 1)
    expect(running).toHaveLength(at + 1)
    expect(running.at(-1)).toBe(path)
    answers[at]?.()
  }
  await eventually(() => [...received.matchAll(/\/[abc]/g)].map(String).join(' '), '/a /b /c')
})

/** Sends requests in one chunk; returns what is received. */
const pipeline = async (requests: number) => {
  const socket = await open(await startLimited())
  let received = ''
  socket.on('data', (chunk) => (received += String(chunk)))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests))
  return { closed, received: () => received }
}

test('16 requests may wait for one in progress; with one more the connection is closed, and none is handled', async () => {
  const { received } = await pipeline(17)
  await eventually(() => received().split('\r\n\r\nok').length - 1, 17)
  const tooMany = await pipeline(18)
  await tooMany.closed
  expect(tooMany.received()).toBe('')
})

test('2,000 pipelined scrapes are at most one rendering, and the connection is closed', async () => {
  let renderings = 0
  const port = await serveView({
    metrics: () => {
      renderings += 1
      return Promise.resolve('chain_rpc_up 1\n'.repeat(10_000))
    },
  })
  const socket = await open(port)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2000))
  socket.resume()
  await closed
  expect(renderings).toBeLessThanOrEqual(1)
  expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200)
})
