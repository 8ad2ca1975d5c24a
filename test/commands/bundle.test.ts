import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sha256 } from '../../src/core/hash.ts'
import { sharedHost } from '../support/host.ts'
import { temporaryFolder } from '../support/directory.ts'
import type { HttpRequest } from '../../src/sources/http.ts'
import { cli } from '../support/cli.ts'
import { execPrinting } from '../support/exec-printing.ts'
import { formsOf, HEX, KEY, leaksOf, secret } from '../support/secrets.ts'
import { shipped } from '../support/shipped.ts'

const run = promisify(execFile)
const manifestSchema = z.object({
  files: z.array(
    z.object({ name: z.string(), bytes: z.number(), sha256: z.string(), redacted: z.record(z.string(), z.number()) }),
  ),
  leftOut: z.array(z.object({ name: z.string(), why: z.string() })),
})

const directory = await temporaryFolder()

/** Unpacked by the tar of the host; each member by its path inside the archive. */
const unpack = async (archive: string): Promise<ReadonlyMap<string, string>> => {
  const place = await mkdtemp(join(directory, 'unpacked-'))
  await run('tar', ['-xzf', archive, '-C', place])
  const [stem = ''] = await readdir(place)
  const files = await readdir(join(place, stem), { recursive: true, withFileTypes: true })
  const members = new Map<string, string>()
  for (const file of files) {
    if (!file.isFile()) continue
    const path = join(file.parentPath, file.name)
    members.set(path.slice(join(place, stem).length + 1), await readFile(path, 'utf8'))
  }
  return members
}

describe.each([true, false])('of a node with an agent: %s', async (agent) => {
  const host = await sharedHost({ agent, second: 40, scenario: 'healthy' })
  const file = join(directory, `${agent}.tar.gz`)
  const result = await host.run(['bundle', '--output', file])
  const members = await unpack(file)

  test('contains what a helper needs', () => {
    expect(result).toMatchObject({ code: 0, err: '' })
    // The clean-up logs at full hours only.
    const names = [...members.keys()].filter((name) => name !== 'logs/cruft.log')
    expect(names.toSorted()).toEqual([
      'config.yaml',
      ...(agent ? ['events.json'] : []),
      'logs/bft.log',
      'logs/execution.log',
      'logs/ledger-tail.log',
      'manifest.json',
      'metrics.txt',
      'status.json',
      'units.txt',
      'verdict.txt',
      'versions.txt',
    ])
    expect(members.get('verdict.txt')).toMatch(/^(?:OK|WARNING): .*\n/)
    expect(members.get('metrics.txt')).toMatch(/^chain_service_active\{service="bft"\} 1$/m)
    expect(members.get('metrics.txt')).toMatch(/method="eth_getBlockByNumber"/)
    expect(members.get('units.txt')).toMatch(/^Id=chain-bft\.service$/m)
    expect(members.get('units.txt')).not.toMatch(/^(?:Exec\w+Pre|ExecStart|Environment)/m)
    expect(members.get('config.yaml')).toContain('prefix: chain ')
    expect(members.get('versions.txt')).toMatch(/^chain-agent \d.*\nnode \d/)
    expect(JSON.parse(members.get('status.json') ?? '')).toHaveProperty('origin', agent ? 'agent' : 'node')
    expect(members.get('logs/bft.log')).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z .*committed block/m)
  })

  test('has a manifest that counts what was redacted', () => {
    const { files } = manifestSchema.parse(JSON.parse(members.get('manifest.json') ?? ''))
    expect(files.map(({ name }) => name).toSorted()).toEqual(
      [...members.keys()].filter((name) => name !== 'manifest.json').toSorted(),
    )
    for (const { name, bytes, sha256: sum } of files) {
      const text = members.get(name) ?? ''
      expect([name, Buffer.byteLength(text), sha256(text)]).toEqual([name, bytes, sum])
    }
    // The signatures in certificates.
    const redacted = files.find(({ name }) => name === 'logs/bft.log')?.redacted
    expect(Object.keys(redacted ?? {})).toEqual(['hex digits'])
    expect(result.out).toMatch(/long hexadecimal strings?/)
  })
})

describe('the file', async () => {
  const host = await sharedHost({ scenario: 'healthy', second: 30, agent: false })
  const bundle = async (...argv: readonly string[]) => host.run(['bundle', '--no-logs', ...argv])

  test('is readable only by its owner, and has no logs with --no-logs', async () => {
    const file = join(directory, 'new.tar.gz')
    const { code, out } = await bundle('--output', file)
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`^Wrote ${file}\n`))
    expect(out).toContain('Review it before you send it')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect([...(await unpack(file)).keys()].filter((name) => name.startsWith('logs'))).toEqual([])
  })

  test('holds the events that an agent has left, where none runs', async () => {
    const state = join(directory, 'state')
    await mkdir(state)
    await writeFile(
      join(state, 'events.jsonl'),
      '{"id":1,"at":"2026-03-01T10:00:00.000Z","collector":"services","subject":"bft","from":null,"to":"failed"}\n',
    )
    const file = join(directory, 'events.tar.gz')
    await bundle('--output', file, '--set', `state.directory=${state}`)
    const members = await unpack(file)
    expect(JSON.parse(members.get('events.json') ?? '')).toMatchObject({
      origin: 'file',
      events: [{ id: 1, to: 'failed' }],
    })
  })
})

/** Secrets are planted wherever a bundle looks, and the unpacked archive is searched for them. */
const SECRETS = [
  ...['Environment', 'RpcPath', 'Reference', 'Argument', 'LogLine', 'Version', 'Unit'].map(secret),
  ...['Password', 'Metrics', 'Failure', 'State'].map(secret),
  HEX,
  KEY,
  'hunter-two',
  'abandon ability',
]
const leaks = leaksOf(SECRETS)

const LINE = secret('LogLine')
const LINES = [
  `{"level":"INFO","target":"x","fields":{"message":"y","password":"${secret('Password')}"}}`,
  `{"cut ${LINE} ${Buffer.from(LINE).toString('base64')}`,
  `x.cpp:1 LOG_INFO __exec_block,bl=oops,key=${LINE}`,
  `Assertion '${LINE}' failed.`,
  `chain-node --keystore-password hunter-two --x`,
  `KEYSTORE_PASSWORD="hunter-two and more"`,
  `Keystore secret: ${HEX}`,
  `Keep your IKM secure: ${KEY}`,
  `read ${KEY} and block_id of secret ${HEX}`,
  'mnemonic: abandon ability able about above absent',
  'abandon ability able about above absent absorb abstract absurd abuse access accident',
  `sent to https://me:${LINE}@host.example/v2/${LINE}?key=${LINE}`,
  `Authorization: Bearer ${LINE}`,
  'pass\u001B[31mword=hunter-two',
].map((message, at) =>
  JSON.stringify({
    __CURSOR: `s=planted;i=${at}`,
    __REALTIME_TIMESTAMP: `${Date.now()}000`,
    _PID: '9',
    MESSAGE: message,
  }),
)

const answerOf: Parameters<typeof execPrinting>[0] = ({ command, args }) => {
  if (command === 'journalctl') {
    return args.includes('--version') ? `systemd 252 ${secret('Version')}\n` : `${LINES.join('\n')}\n`
  }
  if (command === 'systemctl' && args[0] === 'show') {
    return `Id=chain-bft.service\nActiveState=active\nDescription=of ${secret('Unit')} PASSWORD=hunter-two\n`
  }
  if (command === 'systemctl') return `systemd 252 (${secret('Version')})\n`
  throw new shipped.SourceError({
    doing: `run ${command}`,
    happened: 'exit code 1',
    evidence: `--keystore-password ${secret('Argument')} ${secret('Failure')} ${HEX}`,
  })
}
const overrides = {
  exec: execPrinting(answerOf),
  ask: async ({ url }: HttpRequest) => {
    // No agent runs here.
    if (url.includes('/api/v1/')) throw new shipped.NoResponseError('refused', url, 'ECONNREFUSED')
    if (!url.includes('native')) {
      throw new shipped.SourceError({ doing: `ask ${url}`, happened: `refused by ${secret('Failure')}` })
    }
    const labels = `network="simulated",service_name="${secret('Metrics')}",token="hunter-two"`
    return Promise.resolve({ status: 200, text: `chain_node_info{${labels}} 1\n` })
  },
}

test('the search itself finds a secret in every form', () => {
  for (const one of SECRETS) {
    for (const form of formsOf(one)) expect(leaks(`… ${form} …`)).toContain(one)
  }
})

test('nothing planted is in the archive, nor in what is printed', async () => {
  const config = join(directory, 'agent.yaml')
  const [rpc, reference] = [secret('RpcPath'), secret('Reference')]
  await writeFile(
    config,
    `prefix: chain
rpc: { url: "http://rpc.example/${rpc}" }
native: { url: "http://native.example/${secret('Metrics')}" }
state: { directory: "${directory}/${secret('State')}" }
references: [{ name: a, url: "https://me:${reference}@ref.example/${reference}", kind: rpc }]
`,
  )
  const file = join(directory, 'out.tar.gz')
  const env = { CHAIN_AGENT_CONFIG: config, KEYSTORE_PASSWORD: secret('Environment'), PATH: '/x' }
  const { code, out, err } = await cli(['bundle', '--output', file], { env, overrides })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(leaks(out)).toEqual([])
  const text = [...(await unpack(file))].flat().join('\n')
  expect(text).toContain('logs/bft.log')
  expect(text).toContain('LOG_INFO __exec_block,bl=oops,key=(long word)')
  expect(text).toMatch(/"labelled": \d/)
  expect(leaks(text)).toEqual([])
})
