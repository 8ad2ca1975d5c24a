import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { loadScenario } from '../../simulator/scenario/scenario.ts'
import type { NodePlaces } from '../../simulator/keystore/key-files.ts'
import { createSimulator } from '../../simulator/simulator.ts'
import { startAgent, type Watched } from '../support/agent.ts'
import { temporaryFolder } from '../support/directory.ts'
import { listening } from '../support/http.ts'
import { run } from '../support/programs.ts'
import { entriesWithSecrets, HEX, KEY, leaksOf, NOISE, secret, SECRET_METRICS } from '../support/secrets.ts'

/**
 * Secrets are planted wherever the agent could read one, and all of its output is searched for them: metrics, status,
 * log, state files, and the output of its commands.
 */
const PLACES = [
  'Environment',
  'RpcPath',
  'Reference',
  'Argument',
  'LogLine',
  'Password',
  'KeyFile',
  'Metrics',
  'MetricsPath',
  'Heartbeat',
  'ApiKey',
]
const SECRETS = [...PLACES.map(secret), HEX, KEY]
const leaks = leaksOf(SECRETS)

const directory = await temporaryFolder()

/** The planted lines are written when the tool prints them: earlier ones are not counted, later ones are not the newest. */
const PLANTED_LINES = entriesWithSecrets(0, { trouble: true })
  .trimEnd()
  .split('\n')
  .map((line) => `echo '${line.replaceAll("'", String.raw`'\''`).replace('"0000"', `"'"$(/bin/date +%s%6N)"'"`)}'`)
  .join('\n')

/** A tool that prints secrets to standard error and standard output before it works or fails. */
const talkative = async (name: string, bin: string, behind: string): Promise<void> => {
  const file = join(bin, name)
  await writeFile(
    file,
    `#!/bin/sh
echo '${NOISE}' >&2
${name === 'journalctl' ? PLANTED_LINES : ''}
read count < ${file}.count; echo $((count + 1)) > ${file}.count
[ $((count % 3)) = 2 ] && exit 1
exec ${join(behind, name)} "$@"
`,
  )
  await writeFile(`${file}.count`, '0\n')
  await chmod(file, 0o755)
}

/** Key files: one is complete, the others are invalid in ways whose errors could quote them. */
const plantKeys = async (places: NodePlaces): Promise<void> => {
  const files = {
    [join(places.nodeDirectory, 'config/id-secp')]: `{"ciphertext": ${secret('KeyFile')} ${KEY}`,
    [join(places.nodeDirectory, 'config/id-bls')]: `{"ciphertext":"${KEY}"}`,
    [places.environmentFile]: `KEYSTORE_PASSWORD='${secret('KeyFile')}'\n`,
    [join(places.backupDirectory, 'secp-backup')]: `Keystore secret: ${KEY}\n`,
    [join(places.backupDirectory, 'bls-backup')]: `Keystore secret: ${KEY} ${secret('KeyFile')}\n`,
    [join(places.backupDirectory, 'keystore-password-backup')]: `${secret('KeyFile')}\n`,
  }
  for (const [file, text] of Object.entries(files)) await writeFile(file, text)
}

/** The node's metrics with secrets in them, and the authorization header of the request. */
const serveMetricsWithSecrets = async (behind: string) => {
  const server = createServer((request, response) => {
    const more = `${request.headers.authorization}\n${SECRET_METRICS}`
    void fetch(`${behind}/metrics`)
      .then((answer) => answer.text())
      .then((text) => response.end(`${text.replaceAll(/^chain_node_info.*$/gm, '')}${more}`))
      .catch(() => response.end(more))
  })
  const { url, close } = await listening(server)
  return { url: `${url}/${secret('MetricsPath')}`, close }
}

const everythingOf = async (agent: Watched, state: string): Promise<string> => {
  const url = `http://127.0.0.1:${agent.port}`
  const pages = await Promise.all(
    ['/', '/metrics', '/api/v1/status', '/api/v1/events', '/-/ready'].map(async (path) =>
      (await fetch(`${url}${path}`)).text(),
    ),
  )
  const kept = await Promise.all(
    (await readdir(state, { withFileTypes: true, recursive: true }))
      // A file may be renamed before it is opened, and the lock is a socket. A busy machine has incidents, in a directory.
      .filter((entry) => entry.isFile() && !/\.(?:new|lock)$/.test(entry.name))
      .map(async ({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
  )
  return [...pages, ...kept, agent.output()].join('\n')
}

// test/scenarios searches the output of every scenario; here tools also fail, as processes.
test.each(['healthy', 'database-old', 'statesync'])('no planted secret is emitted: %s', async (scenario) => {
  const place = join(directory, scenario)
  const bin = join(place, 'talkative')
  await mkdir(bin, { recursive: true })
  const simulator = await createSimulator({
    clock: systemClock,
    prefix: 'chain',
    scenario: await loadScenario(scenario),
    directory: place,
  })
  await plantKeys(simulator)
  for (const tool of await readdir(simulator.binDirectory)) {
    await talkative(tool, bin, simulator.binDirectory)
  }
  const often = { interval: '300ms' }
  const metrics = await serveMetricsWithSecrets(simulator.nativeUrl)
  const urlFile = join(place, 'heartbeat')
  await writeFile(urlFile, `http://127.0.0.1:1/${secret('Heartbeat')}`)
  const apiKeyFile = join(place, 'api-key')
  await writeFile(apiKeyFile, secret('ApiKey'))
  const agent = await startAgent(
    {
      prefix: 'chain',
      rpc: { ...often, url: `${simulator.rpcUrl}/${secret('RpcPath')}` },
      references: [
        { name: 'q', kind: 'query', url: metrics.url, apiKeyFile },
        { name: 'a', url: simulator.referenceUrl.replace('//', `//me:${secret('Reference')}@`) },
      ],
      reference: often,
      services: often,
      storage: often,
      status: often,
      version: { ...often, forksFile: simulator.forksFile, rootDirectory: simulator.rootDirectory },
      native: { ...often, url: metrics.url, fallbackUrl: null },
      traffic: { ...often, url: metrics.url },
      host: { ...often, ...simulator.host },
      heartbeat: { ...often, urlFile },
      keys: often,
      node: {
        directory: simulator.nodeDirectory,
        environmentFile: simulator.environmentFile,
        backupDirectory: simulator.backupDirectory,
      },
    },
    { PATH: bin, KEYSTORE_PASSWORD: secret('Environment') },
  )
  onTestFinished(async () => {
    await agent.stop()
    await simulator.close()
    await metrics.close()
  })
  const seeEach = (metric: string, labels: readonly Readonly<Record<string, string>>[]) =>
    agent.see(
      ({ value }) => labels.map((one) => value(metric, one)),
      (all) => all.every((number) => (number ?? 0) >= 1),
    )
  // Every tool has worked and has failed by then.
  const collectors = ['services', 'storage', 'status'].map((collector) => ({ collector }))
  await seeEach('chain_agent_collector_failures_total', collectors)
  // The planted lines have been read and not parsed.
  const formats = ['ledger-tail', 'consensus-log', 'execution-log', 'prometheus']
  await seeEach(
    'chain_agent_lines_total',
    formats.map((format) => ({ format, result: 'unparsed' })),
  )
  // The planted key files have been read: one is complete, one is not.
  await seeEach('chain_key_file_state', [
    { key: 'secp', kind: 'backup', state: 'ok' },
    { key: 'bls', kind: 'backup', state: 'invalid' },
  ])
  const state = join(agent.directory, 'state')
  const all = await everythingOf(agent, state)
  const found = leaks(all)
  const at = Math.max(0, all.indexOf(found[0] ?? all))
  expect(found, all.slice(Math.max(0, at - 500), at + 200)).toEqual([])
})

/** All that a command prints. */
const print = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> => {
  const main = join(import.meta.dirname, '../../dist/main.js')
  const { stdout, stderr } = await run(process.execPath, [main, ...args], { env })
  return stdout + stderr
}

test('no planted secret is printed by the commands', async () => {
  const file = join(directory, 'config.yaml')
  await writeFile(
    file,
    `rpc:\n  url: https://h.example/${secret('RpcPath')}\nreferences:\n  - url: https://me:${secret('Reference')}@h.example\n`,
  )
  const printed = await print(['config', '--json', '--config', file], { KEYSTORE_PASSWORD: secret('Environment') })
  expect(printed).toContain('h.example')
  expect(leaks(printed)).toEqual([])
})

test('no planted secret is printed by the commands for key files', async () => {
  const place = { nodeDirectory: join(directory, 'n'), backupDirectory: join(directory, 'b') }
  const environmentFile = join(directory, '.env')
  await mkdir(join(place.nodeDirectory, 'config'), { recursive: true })
  await mkdir(place.backupDirectory)
  await plantKeys({ ...place, environmentFile })
  const report = await print([
    'keys-report',
    '--prefix=chain',
    `--set=node.directory=${place.nodeDirectory}`,
    `--set=node.backupDirectory=${place.backupDirectory}`,
    `--set=node.environmentFile=${environmentFile}`,
  ])
  expect(report.match(/"state": "(?:invalid|exposed)"/g)).toHaveLength(6)
  const parsed = await Promise.all(
    ['n/config/id-secp', 'n/config/id-bls', 'b/bls-backup', 'b/secp-backup', '.env'].map(async (file) =>
      print(['parse', 'keystore', join(directory, file)]),
    ),
  )
  expect(parsed.join('').match(/"valid": (?:true|false)/g)).toHaveLength(5)
  expect(leaks([report, ...parsed].join('\n'))).toEqual([])
})
