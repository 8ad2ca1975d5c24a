import { createServer } from 'node:http'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { heartbeat } from '../../src/outbound/heartbeat.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { HealthSummary } from '../../src/domain/health.ts'
import { type Sample, sample } from '../../src/core/metric.ts'
import { createHeartbeat } from '../../src/sources/endpoints.ts'
import { createHttpClient } from '../../src/sources/http.ts'
import { temporaryFolder } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { listening } from '../support/http.ts'
import { recording } from './recording.ts'

const TOKEN = 'f3a1c99b7d20'
const directory = await temporaryFolder()

/** A dead man's switch service: records requests, and responds with the configured status and body. */
const listen = async () => {
  const bodies: string[] = []
  let status = 200
  let text = 'OK'
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      bodies.push(`${request.method} ${request.url} ${body}`)
      response.writeHead(status).end(text)
    })
  })
  const { url, close } = await listening(server)
  onTestFinished(close)
  await writeFile(join(directory, 'url'), `${url}/ping/${TOKEN}\n`)
  return {
    bodies,
    close,
    first: () => eventually(() => bodies[0] ?? '', /./),
    answer: (next: number, body = 'OK') => {
      status = next
      text = body
    },
  }
}

const beat = (published: () => readonly Sample[], health: () => HealthSummary = () => HEALTHY) => {
  const record = recording()
  const stop = new AbortController()
  const collector = heartbeat({
    urlFile: join(directory, 'url'),
    heartbeatTo: (file) => createHeartbeat(createHttpClient(systemClock), file, 2000),
    published,
    health,
    recorder: record.recorder,
    clock: systemClock,
    timing: { interval: 50, timeout: 3000 },
  })
  const texts: string[] = []
  const running = collector.run({ clock: systemClock, signal: stop.signal }, (outcome) => {
    texts.push(
      outcome.ok
        ? JSON.stringify([collector.states(outcome.value), collector.samples(outcome.value)])
        : outcome.error.message,
    )
  })
  return {
    texts,
    total: (result: string) => record.total(`chain_agent_heartbeats_total{result=${result}}`),
    end: async () => {
      stop.abort()
      await running
    },
  }
}

const HEALTHY: HealthSummary = { state: 'healthy', causes: [] }
const DOWN: HealthSummary = { state: 'critical', causes: ['bft is down'] }

const contains = (words: string) => (text: string) => text.includes(words)

const healthy = (): readonly Sample[] => [
  sample('chain_rpc_up', 1),
  sample('chain_rpc_block_number', 4711, { tag: 'latest' }),
  sample('chain_rpc_block_timestamp_seconds', Date.now() / 1000 - 1, { tag: 'latest' }),
  sample('chain_block_difference', 2),
]

test('sends height and health, and exports the time of the last success', async () => {
  const server = await listen()
  let published = healthy
  let health = HEALTHY
  const { texts, total, end } = beat(
    () => published(),
    () => health,
  )
  await server.first()
  expect(server.bodies[0]).toMatch(new RegExp(`^POST /ping/${TOKEN} \\{`))
  const document: unknown = JSON.parse((server.bodies[0] ?? '').replace(/^POST \S+ /, ''))
  expect(document).toMatchObject({ health: 'healthy', causes: [], height: 4711, blockDifference: 2, maintenance: null })

  health = DOWN
  published = () => [...healthy(), sample('chain_agent_maintenance', 1, { reason: 'upgrade' })]
  await eventually(() => server.bodies.at(-1) ?? '', contains('"health":"critical"'))
  expect(server.bodies.at(-1)).toContain('"causes":["bft is down"]')
  expect(server.bodies.at(-1)).toContain('"maintenance":"upgrade"')

  server.answer(503)
  await eventually(() => texts.at(-1) ?? '', contains('refused: HTTP status 503'))
  // The time of the last success stays: that it grows old is what the alert sees.
  expect(texts.at(-1)).toContain('chain_agent_heartbeat_last_success_timestamp_seconds')
  await server.close()
  await eventually(() => texts.at(-1) ?? '', contains('no connection'))
  expect(total('accepted')).toBeGreaterThan(0)
  expect(total('failed')).toBeGreaterThan(1)
  await end()
  expect(texts.join('\n')).not.toContain(TOKEN)
})

test('what is not known is null, not 0', async () => {
  const server = await listen()
  const { end } = beat(() => [])
  await server.first()
  await end()
  const document: unknown = JSON.parse((server.bodies[0] ?? '').replace(/^POST \S+ /, ''))
  expect(document).toMatchObject({ height: null, blockTime: null, blockDifference: null })
})

test('reads the URL from a file, and does not print it in errors', async () => {
  await rm(join(directory, 'url'), { force: true })
  const { texts, end } = beat(healthy)
  await eventually(() => texts.at(-1) ?? '', contains('read the address in'))
  await writeFile(join(directory, 'url'), `not-an-address ${TOKEN}`)
  await eventually(() => texts.at(-1) ?? '', contains('it is not an http or https address'))
  await writeFile(join(directory, 'url'), '\n')
  await eventually(() => texts.at(-1) ?? '', contains('it is empty'))
  await writeFile(join(directory, 'url'), `http://127.0.0.1:1/${TOKEN}`)
  await eventually(() => texts.at(-1) ?? '', contains('no connection'))
  await end()
  expect(texts.join('\n')).not.toContain(TOKEN)
})

test.for([
  ['OK', 'accepted'],
  ['', 'accepted'],
  ['Got it, thanks.', 'accepted'],
  ['{"ok":true}', 'accepted'],
  ['{"status":"success","error":null}', 'accepted'],
  // https://github.com/healthchecks/healthchecks: the check was deleted, or is pinged too often.
  ['OK (not found)', 'refused: HTTP status 200 (OK (not found))'],
  ['OK (rate limited)', 'refused: HTTP status 200 (OK (rate limited))'],
  ['{"ok":false,"msg":"Monitor is not active"}', 'refused: HTTP status 200 (Monitor is not active)'],
  ['{"status":"Not Found"}', 'refused: HTTP status 200 ({"status":"Not Found"})'],
  // Not a refusal: its text has the word of one.
  ['OK, 0 errors', 'accepted'],
  ['{"error":"no such monitor"}', 'refused: HTTP status 200 (no such monitor)'],
  ['\n<!DOCTYPE html><title>Sign in</title><p>with SSO</p>', 'refused: HTTP status 200 (Sign in with SSO)'],
] as const)('a response with status 200 and the body %s is %s', async ([body, state]) => {
  const server = await listen()
  server.answer(200, body)
  const { texts, total, end } = beat(healthy)
  await eventually(() => texts[0] ?? '', /./)
  await end()
  expect(texts[0]).toContain(JSON.stringify({ heartbeat: state, health: 'healthy' }))
  expect(String(texts[0]).includes('last_success')).toBe(state === 'accepted')
  expect((total('accepted') ?? 0) > 0).toBe(state === 'accepted')
})
