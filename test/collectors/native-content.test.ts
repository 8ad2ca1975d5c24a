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

const PAGE = '<!DOCTYPE html>\n<html><body>Sign in</body></html>\n'

test.each([
  ['text/html', PAGE, 'HTTP status 200, text/html, begins with "<!DOCTYPE html> . <html><body>Sign in</body></html>";'],
  ['text/plain', gzipSync(METRICS), 'HTTP status 200, text/plain, begins with "'],
  ['', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 4, 0, 0xf9]), 'no Content-Type, begins with "(./....";'],
  ['text/plain; version=0.0.4', METRICS.slice(0, 20), 'begins with "zephyr_total_uptime_'],
] as const)('%s: a warning with what came', async (...[type, body, evidence]) => {
  const { lines, up } = await poll((response) => {
    if (type !== '') response.setHeader('content-type', type)
    response.end(body)
  })
  expect(up).toBe(0)
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('warning: invalid: could not parse metrics in the text format of')
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
