import { createServer, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { native } from '../../src/collectors/native/collector.ts'
import { Board, type Change } from '../../src/core/board.ts'
import { systemClock } from '../../src/core/clock.ts'
import { severityOf } from '../../src/domain/event.ts'
import { createMetricsEndpoint } from '../../src/sources/endpoints.ts'
import { createHttpClient } from '../../src/sources/http.ts'
import { listening } from '../support/http.ts'
import { recording } from './recording.ts'
import { pollOnce } from './run-collector.ts'

const METRICS = 'zephyr_total_uptime_us 5000000\n'

/** The log lines about the endpoint, with their severity, and its `up`. */
const poll = async (respond: (response: ServerResponse) => void, times = 1) => {
  const server = await listening(createServer((_, response) => respond(response)))
  onTestFinished(server.close)
  const ask = createHttpClient(systemClock)
  const collector = native({
    url: server.url,
    fallbackUrl: null,
    namePrefix: null,
    readPrefix: () => Promise.resolve({ word: 'zephyr', from: 'systemd' }),
    nativeAt: (url) => createMetricsEndpoint(ask, url, 30_000),
    recorder: recording().recorder,
    clock: systemClock,
    timing: { interval: 60_000, timeout: 60_000 },
  })
  const changes: Change[] = []
  const board = new Board(systemClock, (change) => changes.push(change))
  const report = board.register(collector)
  for (let at = 0; at < times; at += 1) report(await pollOnce(collector, systemClock))
  return {
    lines: changes
      .filter(({ subject }) => subject === 'metrics at native')
      .map((one) => `${severityOf(one)}: ${one.to}`),
    up: [...board.samples()].find(({ name }) => name === 'chain_native_up')?.value,
  }
}

/** Field 1 of a MetricFamily with its length in front, as Prometheus' delimited protobuf begins. */
const PROTOBUF = Buffer.from([0x1d, 0x0a, 0x0e, ...Buffer.from('zephyr_uptime'), 0x18, 0x01])
const PROTOBUF_TYPE = 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited'
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00, 0xf9])
const PAGE = '<!DOCTYPE html>\n<html><body>Sign in</body></html>\n'
const TEXT = 'text/plain; version=0.0.4'

test.each([
  [PROTOBUF_TYPE, PROTOBUF, 'protobuf, ', '". . .zephyr_uptime.."; the server or a proxy ignores the Accept'],
  ['text/html', PAGE, 'HTML, ', '"<!DOCTYPE html> . <html><body>Sign in</body></html>"; another'],
  ['application/json', '{"status":"ok"}', 'JSON, ', 'begins with "{"status":"ok"}"; another server responds there, or'],
  ['text/plain', gzipSync(METRICS), 'gzip, ', '"; the server or a proxy compresses without a Content-Encoding header'],
  ['', ZSTD, 'zstd, ', 'no Content-Type, begins with "(./...."; the server or a proxy compresses without a'],
  [TEXT, METRICS.slice(0, 20), 'could not parse metrics in the text format of', 'with "zephyr_total_uptime_'],
] as const)('%s: a warning with what came and what to do', async (...[type, body, what, evidence]) => {
  const { lines, up } = await poll((response) => {
    if (type !== '') response.setHeader('content-type', type)
    response.end(body)
  })
  expect(up).toBe(0)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain(`warning: invalid: ${what}`)
  expect(lines[0]).toContain(`HTTP status 200, ${type.slice(0, 40)}`)
  expect(lines[0]).toContain(evidence)
})

test('a body that differs at each poll is one line', async () => {
  let count = 0
  const { lines } = await poll((response) => {
    count += 1
    response.setHeader('content-type', 'application/json').end(`{"time":${count}}`)
  }, 3)
  expect(lines).toHaveLength(1)
})

test('secrets of the body are not logged', async () => {
  const { lines } = await poll((response) => {
    response.end('<html><a href="https://u:pw@host.example/KEY">/home/kim</a> token=Qx7f9Lw2Kd8sPz1v\n')
  })
  expect(lines.join('')).not.toMatch(/pw|KEY|kim|Qx7f9/)
})

test('metrics are not a warning', async () => {
  const { lines, up } = await poll((response) => response.end(METRICS))
  expect([lines, up]).toEqual([['info: answering'], 1])
})
