import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Program } from '../../src/sources/exec.ts'
import type { HttpRequest } from '../../src/sources/http.ts'
import { cli } from '../support/cli.ts'
import { formsOf, HEX, KEY, leaksOf, secret } from '../support/secrets.ts'
import { temporaryFolder } from '../support/directory.ts'
import { shipped } from '../support/shipped.ts'

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

const answerOf = ({ command, args }: Program): string => {
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
  exec: {
    run: async (program: Program) => {
      const stdout = await Promise.resolve(program).then(answerOf)
      return { exitCode: 0, stdout, stderr: '' }
    },
    async *stream(program: Program) {
      yield await Promise.resolve(Buffer.from(answerOf(program)))
    },
    killAll: () => undefined,
  },
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

const directory = await temporaryFolder()

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
  await promisify(execFile)('tar', ['-xzf', file, '-C', directory])
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', `find ${directory}/chain-agent-bundle-* -type f -exec cat {} + -print`],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  expect(stdout).toContain('logs/bft.log')
  expect(stdout).toContain('LOG_INFO __exec_block,bl=oops,key=(long word)')
  expect(stdout).toMatch(/"labelled": \d/)
  expect(leaks(stdout)).toEqual([])
})
