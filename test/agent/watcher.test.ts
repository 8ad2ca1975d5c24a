import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createTls } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { makeCertificate } from '../support/certificates.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { openHost } from '../support/host.ts'
import { listening } from '../support/http.ts'
import { memoryCheckpoint } from '../collectors/recording.ts'
import { execOf, runPolls } from '../collectors/run-collector.ts'
import { manualClock } from '../support/manual-clock.ts'
import { watched } from '../../src/collectors/watched/collector.ts'
import { createHeartbeatInbox } from '../../src/collectors/shared/node-state.ts'
import { parseHeartbeat } from '../../src/parsers/heartbeat.ts'
import { createPortProbe } from '../../src/sources/endpoints.ts'

const directory = await temporaryFolder()

/** What an agent posts; the fields are those of docs/how-to/heartbeat.md. */
const HEARTBEAT = {
  at: '2026-03-01T12:58:00.000Z',
  health: 'critical',
  causes: ['the host is running out of disk space'],
  maintenance: null,
  height: 97_647_242,
  blockTime: '2026-03-01T12:57:59.000Z',
  blockDifference: 143,
}

const openPort = async (): Promise<number> => {
  const { port, close } = await listening(createServer())
  onTestFinished(close)
  return port
}

const openWatcher = async (port: number | null) =>
  openHost({
    scenario: 'healthy',
    second: 0,
    settings: {
      profile: 'watcher',
      'watched.name': 'node-a',
      ...(port !== null && { 'watched.port': `127.0.0.1:${port}` }),
    },
  })

type Watcher = Awaited<ReturnType<typeof openWatcher>>

const post = async (
  watcher: Watcher,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
) => {
  const response = await fetch(`http://127.0.0.1:${watcher.port}/api/v1/heartbeat`, { method: 'POST', body, headers })
  return { status: response.status, text: await response.text() }
}

/** The port is tested over a real connection. Until then a second passes between two looks: metrics are read once in it. */
const withPort = async (watcher: Watcher, state: string): Promise<void> => {
  const line = new RegExp(String.raw`\nchain_watched_port\{node="node-a",state="${state}"\} 1\n`)
  const isShown = async (): Promise<boolean> => line.test(await watcher.page('/metrics'))
  await eventually(async () => (await isShown()) || (await watcher.second(), isShown()), Boolean)
}

const checkSchema = z.object({
  verdict: z.object({ findings: z.array(z.looseObject({ name: z.string(), severity: z.string() })) }),
})

const silenceOf = async (watcher: Watcher) => {
  const { out } = await watcher.run(['status', '--json'])
  return checkSchema
    .parse(JSON.parse(out))
    .verdict.findings.filter(({ name }) => name.startsWith('ChainWatchedNodeSilent.'))
}

test('a node that reports is shown with what it reports; nothing of this host is read', async () => {
  const watcher = await openWatcher(await openPort())
  await withPort(watcher, 'open')
  expect(await post(watcher, JSON.stringify(HEARTBEAT))).toEqual({ status: 200, text: 'accepted\n' })
  await watcher.pass(15)
  const { out } = await watcher.run(['status'])
  expect(out).toContain('node-a: critical, heartbeat')
  expect(out).not.toMatch(/^ *(?:services|execution|storage) /m)
  const metrics = await watcher.page('/metrics')
  expect(metrics).toContain('chain_watched_health{node="node-a",state="critical"} 1\n')
  expect(metrics).not.toMatch(/^chain_(?:service|rpc|host|block_difference)/m)
})

test.each([
  ['open', openPort, 'warning', 'consensus runs', /consensus runs. Its agent does not/],
  ['refused', freePort, 'critical', 'consensus does not listen', /refuses connections to the public port/],
] as const)('a silent node whose port is %s', async (...[state, choosePort, severity, sees, why]) => {
  const watcher = await openWatcher(await choosePort())
  await withPort(watcher, state)
  await post(watcher, JSON.stringify({ ...HEARTBEAT, health: 'healthy', causes: [] }))
  // After 120 s it counts, after 75 s more it fires; the rules are evaluated every 15 s.
  await watcher.pass(15)
  await watcher.pass(90)
  await withPort(watcher, state)
  expect(await silenceOf(watcher)).toEqual([])
  for (let quarter = 0; quarter < 8; quarter += 1) await watcher.pass(15)
  await withPort(watcher, state)
  const [silence] = await silenceOf(watcher)
  expect(silence).toMatchObject({ severity, summary: `no heartbeats from node-a: ${sees}` })
  expect(JSON.stringify(silence)).toMatch(why)
})

test('twenty minutes of a healthy node have no finding', async () => {
  const watcher = await openWatcher(null)
  for (let minute = 0; minute < 20; minute += 1) {
    await post(watcher, JSON.stringify({ ...HEARTBEAT, health: 'healthy', causes: [] }))
    for (let quarter = 0; quarter < 4; quarter += 1) await watcher.pass(15)
  }
  const { code, out } = await watcher.run(['check'])
  expect([code, out.split('\n')[0]]).toEqual([0, expect.stringMatching(/^OK: node-a reported healthy /)])
  expect(out).not.toContain('RECOVERY')
})

test('no output has a row about a node of this host', async () => {
  const watcher = await openWatcher(null)
  await watcher.pass(15)
  const before = await watcher.run(['check'])
  expect([before.code, before.out.split('\n')[0]]).toEqual([2, 'UNKNOWN: no heartbeat of node-a was received yet.'])
  await post(watcher, JSON.stringify({ ...HEARTBEAT, health: 'healthy', causes: [] }))
  await watcher.pass(15)
  const checked = (await watcher.run(['check'])).out
  expect(checked).not.toMatch(/units|public key|^ {2}(?:forks|services|chain|storage|versions|clock|ports|key files) /m)
  expect((await watcher.run(['status'])).out).not.toMatch(/^ {2}restart /m)
  const recovery = (await watcher.run(['recover'])).out
  expect(recovery).toContain('there is no node on this host')
  expect(recovery).not.toContain('A planned restart')
  const page = await watcher.page('/')
  for (const title of ['Last rounds', 'Height', 'Services down', 'Planned restart']) expect(page).not.toContain(title)
  expect(page).toContain('Watched node')
})

test('without a running agent, nothing is about a node of this host either', async () => {
  const { code, out } = await cli(['recover', '--profile', 'watcher', '--set', 'watched.name=node-a'])
  expect(code).toBe(0)
  expect(out).toMatch(
    /^UNKNOWN: no heartbeat of node-a .*\nRECOVERY: there is no node on this host: run it on the host of .*\n$/,
  )
})

test.each(['duties', 'ledger', 'logs bft', 'monlog', 'replay', 'report', 'restart-window'])(
  '%s is for the host of the node',
  async (command) => {
    const { code, out, err } = await cli([...command.split(' '), '--profile', 'watcher'])
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^error: This host is a watcher .* Run the command on the host of the node/)
  },
)

test('a secret in a heartbeat is redacted when it arrives', () => {
  const [cause] = parseHeartbeat(JSON.stringify({ ...HEARTBEAT, causes: ['rpc: apikey=0123abcd9 is rejected'] })).causes
  expect(cause).toMatch(/^rpc: apikey=\(redacted\) is rejected$/)
})

test('a maintenance window explains silence for half an hour', async () => {
  const watcher = await openWatcher(null)
  await post(watcher, JSON.stringify({ ...HEARTBEAT, health: 'maintenance', maintenance: 'upgrade' }))
  await watcher.pass(15)
  await watcher.pass(1740)
  expect(await silenceOf(watcher)).toEqual([])
  for (let quarter = 0; quarter < 10; quarter += 1) await watcher.pass(15)
  // Without a port that is known the host may be down.
  expect(await silenceOf(watcher)).toMatchObject([{ severity: 'critical' }])
})

test('a heartbeat that no agent sends is rejected, and changes nothing', async () => {
  const watcher = await openWatcher(null)
  await watcher.pass(1)
  const cases = [
    ['', 400, /expected JSON/],
    // 0xe9 is é in Latin-1, and no UTF-8 before a quotation mark.
    [Buffer.from(JSON.stringify({ ...HEARTBEAT, causes: ['é'] }), 'latin1'), 400, /expected JSON in UTF-8/],
    ['{}', 400, /the document of an agent \(at: /],
    [JSON.stringify({ ...HEARTBEAT, health: 'fine' }), 400, /\(health: /],
    [JSON.stringify({ ...HEARTBEAT, causes: ['x'.repeat(70_000)] }), 413, /at most 65536 bytes/],
  ] as const
  for (const [body, status, text] of cases) {
    const response = await post(watcher, body)
    expect([response.status, text.test(response.text)], response.text).toEqual([status, true])
  }
  expect(await post(watcher, JSON.stringify(HEARTBEAT), { Origin: 'https://evil.example' })).toMatchObject({
    status: 403,
  })
  const get = await fetch(`http://127.0.0.1:${watcher.port}/api/v1/heartbeat`)
  expect([get.status, get.headers.get('Allow'), await get.text()]).toEqual([405, 'POST', 'Only POST.\n'])
  await watcher.pass(15)
  expect(await watcher.page('/metrics')).not.toContain('chain_watched_heartbeat_timestamp_seconds{')
})

/** Clients that send the beginning of a heartbeat only, until the end of the test. Returns how many were disconnected. */
const sendSlowly = (watcher: Watcher, clients: number, length: number): (() => number) => {
  const head = `POST /api/v1/heartbeat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${length}\r\n\r\n{`
  const sockets = Array.from({ length: clients }, () => {
    const socket = connect({ host: '127.0.0.1', port: watcher.port })
    socket.on('error', () => undefined).resume()
    socket.write(head)
    return socket
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  return () => sockets.filter(({ closed }) => closed).length
}

test.each([
  ['slowly', 64, 100, 64],
  // Bodies beyond 16 end the oldest ones.
  ['byte by byte', 60, 60_000, 44],
])(
  'clients that send a body %s keep neither Prometheus nor the agent of the node out',
  async (...[, clients, length, most]) => {
    const watcher = await openWatcher(null)
    await watcher.pass(1)
    await eventually(sendSlowly(watcher, clients, length), (ended) => ended >= most)
    expect(await watcher.page('/metrics')).toContain('chain_agent_build_info')
    for (let index = 0; index < 16; index += 1)
      expect(await post(watcher, JSON.stringify(HEARTBEAT))).toMatchObject({ status: 200 })
  },
)

test('a test of the alerts on the node reaches the watcher, and is no heartbeat of the node', async () => {
  const watcher = await openWatcher(null)
  await watcher.pass(1)
  const urlFile = join(directory, 'url')
  await writeFile(urlFile, `http://127.0.0.1:${watcher.port}/api/v1/heartbeat\n`)
  const { code, out } = await cli(['alert', 'test', '--set', `heartbeat.urlFile=${urlFile}`])
  expect(out).toMatch(/heartbeat {2}\S+ accepted\n$/)
  expect(code).toBe(0)
  await watcher.pass(15)
  expect(await watcher.page('/metrics')).not.toContain('chain_watched_heartbeat_timestamp_seconds{')
})

test('a test of the alerts trusts the authority that the environment of the running agent names', async () => {
  const { cert, key } = await makeCertificate(directory, 'watcher')
  const tls = { cert: await readFile(cert), key: await readFile(key) }
  const server = await listening(createTls(tls, (_, response) => response.end()))
  onTestFinished(server.close)
  const [urlFile, environ] = [join(directory, 'url'), join(directory, '4711/environ')]
  await writeFile(urlFile, `${server.url.replace('http:', 'https:')}/api/v1/heartbeat\n`)
  await mkdir(join(directory, '4711'))
  const exec = execOf(({ args }) =>
    Promise.resolve({ exitCode: 0, stdout: args.at(-1) === 'chain-agent.service' ? '4711\n' : '0\n', stderr: '' }),
  )
  const argv = ['alert', 'test', '--set', `heartbeat.urlFile=${urlFile}`, '--set', `host.procfs=${directory}`]
  await writeFile(environ, `KEYSTORE_PASSWORD=hunter2\0NODE_EXTRA_CA_CERTS=${cert}\0`)
  const accepted = await cli(argv, { overrides: { exec } })
  expect(accepted).toMatchObject({ code: 0, err: '' })
  expect(accepted.out).toMatch(/^ {2}heartbeat {2}\S+ accepted\n$/)
  await writeFile(environ, `KEYSTORE_PASSWORD=hunter2\0`)
  const refused = await cli(argv, { overrides: { exec } })
  expect(refused.code).toBe(1)
  expect(refused.out).toContain('no trusted connection: its certificate is self-signed')
  expect(refused.out + refused.err).not.toContain('hunter2')
})

test('an agent that watches no node accepts no heartbeat', async () => {
  const node = await openHost({ scenario: 'healthy', second: 0 })
  expect(await post(node, JSON.stringify(HEARTBEAT))).toEqual({
    status: 404,
    text: 'This agent watches no other node: set `watched.name` in its configuration.\n',
  })
})

/** Listens, and never accepts: with its queue full, the kernel drops connection requests as a host that is down does. */
const DEAF = `const server = require('node:net').createServer()
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  require('node:fs').writeSync(1, String(server.address().port))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})`

test('a port whose host drops connection requests is silent', async () => {
  const deaf = spawn(process.execPath, ['-e', DEAF], { stdio: ['ignore', 'pipe', 'inherit'] })
  const chunks: readonly unknown[] = await once(deaf.stdout, 'data')
  const port = Number(String(chunks[0]))
  // The queue has room for two.
  const waiting = [1, 2, 3].map(() => connect({ host: '127.0.0.1', port }).on('error', () => undefined))
  onTestFinished(() => {
    for (const socket of waiting) socket.destroy()
    deaf.kill('SIGKILL')
  })
  await once(waiting[1] ?? deaf, 'connect')
  const probe = createPortProbe(`127.0.0.1:${port}`, 200)
  expect(await probe(new AbortController().signal)).toBe('silent')
})

test('the state of a port whose name is not resolved is unknown', async () => {
  const probe = createPortProbe('no-such-host.invalid:8000', 5000)
  expect(await probe(new AbortController().signal)).toBe(null)
})

test.each([
  ['known', 'node-a', 1_772_369_880],
  ['not that of another node', 'node-b', undefined],
])('after a restart the last heartbeat is %s', async (_, node, expected) => {
  const checkpoint = memoryCheckpoint()
  const timing = { interval: 15_000, timeout: 5000 }
  const inbox = createHeartbeatInbox()
  inbox.latest = { at: 1_772_369_880_000, elapsed: 0, heartbeat: parseHeartbeat(JSON.stringify(HEARTBEAT)) }
  const probeFor = () => () => Promise.resolve(null)
  const before = watched({ name: 'node-a', heartbeatInbox: inbox, port: null, probeFor, checkpoint, timing })
  await runPolls(before, manualClock(1_772_369_890_000))
  const after = watched({
    name: node,
    heartbeatInbox: createHeartbeatInbox(),
    port: null,
    probeFor,
    checkpoint,
    timing,
  })
  const { shown } = await runPolls(after, manualClock(1_772_370_000_000), 'chain_watched_')
  expect(shown()[`heartbeat_timestamp_seconds{${node}}`]).toBe(expected)
})
