import { createServer, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { native } from '../../src/collectors/native/collector.ts'
import { Board, type Change } from '../../src/core/board.ts'
import { systemClock } from '../../src/core/clock.ts'
import { severityOf } from '../../src/domain/event.ts'
import { createMetricsEndpoint } from '../../src/sources/endpoints.ts'
import { createHttpClient } from '../../src/sources/http.ts'
import { listening } from '../support/http.ts'
import { recording } from './recording.ts'
import { pollOnce } from './run-collector.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const METRICS = 'zephyr_total_uptime_us 5000000\n'

/** The log lines about the endpoint, with their severity, and its `up`. */
const poll = async (respond: (response: ServerResponse) => void, times = 1) => {
  const server = await listening(createServer((_, response) => respond(response)))
  closers.push(server.close)
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
const NO_ENCODING =
  'the server or a proxy compresses without a Content-Encoding header: configure it to send plain text'

test.each([
  [
    'protobuf',
    'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited',
    PROTOBUF,
    'protobuf, HTTP status 200, application/vnd.google.protobuf; proto=io.prometheus.client., begins with ". . .zephyr_uptime.."; ' +
      'the server or a proxy ignores the Accept header: configure it to return the text format 0.0.4',
  ],
  [
    'HTML',
    'text/html; charset=utf-8',
    '<!DOCTYPE html>\n<html><body>Sign in</body></html>\n',
    'HTML, HTTP status 200, text/html; charset=utf-8, begins with "<!DOCTYPE html> . <html><body>Sign in</body></html>"; ' +
      'another server or a login page responds there: check its address in the configuration',
  ],
  [
    'JSON',
    'application/json',
    '{"status":"ok"}',
    'JSON, HTTP status 200, application/json, begins with "{"status":"ok"}"; ' +
      'another server responds there, or the path is wrong: check its address in the configuration',
  ],
  [
    'gzip without its header',
    'text/plain',
    gzipSync(METRICS),
    expect.stringMatching(/^gzip, HTTP status 200, text\/plain, begins with "\..{1,59}"; the server or a proxy compr/),
  ],
  [
    'zstd without its header',
    '',
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00, 0xf9]),
    `zstd, HTTP status 200, no Content-Type, begins with "(./...."; ${NO_ENCODING}`,
  ],
  [
    'a line that is truncated',
    'text/plain; version=0.0.4',
    METRICS.slice(0, 20),
    'could not parse metrics in the text format of Prometheus: expected lines of a name, labels and a value, ' +
      'HTTP status 200, text/plain; version=0.0.4, begins with "zephyr_total_uptime_"; check with curl what that address returns',
  ],
])('%s: a warning with what came and what to do', async (...[, type, body, expected]) => {
  const { lines, up } = await poll((response) => {
    if (type !== '') response.setHeader('content-type', type)
    response.end(body)
  })
  expect(up).toBe(0)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^warning: invalid: /)
  expect(lines[0]?.replace('warning: invalid: ', '')).toEqual(expected)
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
