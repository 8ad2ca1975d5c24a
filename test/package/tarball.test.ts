import { readFileSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Decrypter, generateIdentity, identityToRecipient } from 'age-encryption'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { installProgram } from '../support/installed-program.ts'
import { must } from '../support/programs.ts'
import { scrape } from '../support/scrape.ts'

const ROOT = join(import.meta.dirname, '../..')
const readRoot = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const { version } = z.object({ version: z.string() }).parse(JSON.parse(readRoot('package.json')))
const openapi = z.object({ paths: z.record(z.string(), z.unknown()) }).parse(JSON.parse(readRoot('page/openapi.json')))

const DOWN = 'bft is down (failed)'
/** The token of the simulated chain: each fifth block mints 10 to FIRST, who sends 4 to SECOND, who burns 1. */
const TOKEN = '0x70ce000000000000000000000000000000000001'
const [FIRST, SECOND] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]

let program: Awaited<ReturnType<typeof installProgram>>
beforeAll(async () => {
  program = await installProgram()
  return program.stop
})

it('the tarball has a manual page that npm links, and neither a source map nor the entry of the tests', async () => {
  expect(await readFile(join(program.prefix, 'share/man/man1/chain-agent.1'), 'utf8')).toContain('.SH NAME')
  expect(await must('find', [program.prefix, '-name', '*.map', '-o', '-name', 'testing.js'])).toBe('')
})

/** POST of a method of the node. */
const rpc = async (method: string): Promise<number> => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
  const response = await fetch(program.node.rpcUrl, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  return Number(z.object({ result: z.string() }).parse(await response.json()).result)
}
const command = async (args: readonly string[], input = ''): Promise<string> => program.command(args, input)
const json = async (args: readonly string[], input = ''): Promise<unknown> => JSON.parse(await command(args, input))

const get = async (path: string): Promise<unknown> => {
  const response = await fetch(`http://${program.addresses.agent}${path}`)
  expect(response.status).toBe(200)
  return response.json()
}

const dutiesSchema = z.object({ epochs: z.array(z.object({ led: z.number() })) })

/** What a command prints, and what that is to contain; or, where that is not enough, what is to be done. */
type Row = readonly [args: string, expected: string | RegExp] | (() => Promise<void>)

const ROWS: Readonly<Record<string, Row>> = {
  simulate: async () => {
    expect([program.node.prefix, await rpc('eth_chainId')]).toEqual(['chain', 31_143])
  },
  run: async () => {
    const { value } = await scrape(`http://${program.addresses.agent}/metrics`)
    expect(value('chain_agent_build_info', { version })).toBe(1)
    expect(value('chain_service_last_exit_status', { service: 'bft' })).toBe(6)
  },
  check: ['check', `CRITICAL: ${DOWN}.`],
  status: [
    'status',
    /^ {2}services +✗ bft failed \(killed by SIGABRT\); running: execution, rpc, ledger-tail, otelcol$/m,
  ],
  monlog: ['monlog', /^ {2}package +chain \d/m],
  recover: ['recover', 'sudo systemctl restart chain-bft chain-execution chain-rpc'],
  'restart-window': ['restart-window', 'RESTART: not evaluated during a fault: '],
  runbook: ['runbook ChainServiceDown', '# ChainServiceDown\n\n## Meaning'],
  ledger: async () => {
    const height = (await rpc('eth_blockNumber')).toLocaleString('en-US')
    expect(await command(['ledger'])).toMatch(new RegExp(String.raw`^20 blocks \([\d,]+ to ${height}\)`, 'm'))
  },
  logs: ['logs bft', "WARN  systemd: chain-bft.service: Failed with result 'core-dump'."],
  replay: [
    'replay',
    'ChainServiceCrashed  The service bft of this host ended 1 times within 10 minutes with the result core-dump.',
  ],
  duties: async () => {
    // The start of the unit, two days ago, has blocks as well.
    const lastDay = `@${Math.floor(Date.now() / 1000) - 86_400}`
    const journal = ['-u', 'chain-ledger-tail.service', '--since', lastDay, '-o', 'cat', '--no-pager']
    const lines = (await must('journalctl', journal, { env: program.environment })).split('\n')
    const own = lines.filter(
      (line) => line.includes('proposed_block') && line.includes(program.node.ownPublicKey),
    ).length
    const { epochs } = dutiesSchema.parse(await json(['duties', '--json']))
    expect(epochs.reduce((sum, { led }) => sum + led, 0)).toBe(own)
  },
  report: ['report', /^ {2}restarts +bft 0 starts, 1 failure;/m],
  'keys backup': async () => {
    expect(await command(['keys', 'backup'])).toContain(`public key  ${program.node.ownPublicKey}`)
  },
  'keys verify': async () => {
    expect(await command(['keys', 'verify'])).toContain(`· public key ${program.node.ownPublicKey}`)
  },
  'keys export': async () => {
    const identity = await generateIdentity()
    await mkdir(program.file('vault'))
    await command(['keys', 'export', '-r', await identityToRecipient(identity), '-o', program.file('vault')])
    const decrypter = new Decrypter()
    decrypter.addIdentity(identity)
    const exported = await decrypter.decrypt(await readFile(program.file('vault/secp-backup.age')))
    expect(Buffer.from(exported)).toEqual(await readFile(join(program.node.backupDirectory, 'secp-backup')))
  },
  'keys off-node': async () => {
    await command(['keys', 'off-node', 'safe in the office'])
    expect(await command(['keys', 'verify', '--files-only'])).toContain('safe in the office')
  },
  'keys restore': ['keys restore --dry-run', 'id-secp'],
  'keys-report': async () => {
    const schema = z.object({ files: z.array(z.object({ key: z.string(), kind: z.string(), state: z.string() })) })
    const { files } = schema.parse(await json(['keys-report']))
    expect(files.map(({ key, kind, state }) => `${key} ${kind} ${state}`).toSorted()).toEqual([
      'bls backup ok',
      'bls keystore ok',
      'password backup ok',
      'password keystore ok',
      'secp backup ok',
      'secp keystore ok',
    ])
  },
  'maintenance start': ['maintenance start 30m --reason upgrade', /^Maintenance: upgrade until .* \(30m in all\)$/m],
  'maintenance show': ['maintenance show', /^Maintenance: upgrade until /m],
  events: ['events', /^\S+ +maintenance +maintenance: .*upgrade/m],
  'maintenance end': ['maintenance end', 'Maintenance has ended.'],
  mcp: async () => {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const { result } = z
      .object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) })
      .parse(await json(['mcp'], `${JSON.stringify(request)}\n`))
    expect(result.tools.map(({ name }) => name).toSorted()).toEqual([
      'diagnosis',
      'duties',
      'incident',
      'metrics',
      'runbook',
    ])
  },
  'standby check': ['standby check', /^ {2}services {4}✗ bft is down$/m],
  'start-guard': ['start-guard', /^START ALLOWED: /],
  'alert test': ['alert test', /^ *heartbeat +✓ accepted$/m],
  bundle: async () => {
    await command(['bundle', '-o', program.file('bundle.tgz')])
    const metrics = await must('tar', ['-xzOf', program.file('bundle.tgz'), '--wildcards', '*/metrics.txt'])
    expect(metrics).toContain('\nchain_service_active{service="bft"} 0\n')
  },
  init: ['init --output -', /^prefix: chain$/m],
  config: async () => {
    expect(await command(['config'])).toMatch(
      new RegExp(`^listen: ${program.addresses.agent} +# .*agent.yaml:\\d+$`, 'm'),
    )
  },
  rules: async () => {
    await command(['rules', '--disable', 'ChainHeat', '-o', program.file('rules')])
    const namesIn = async (folder: string): Promise<readonly string[]> =>
      (await must('sh', ['-c', `cat "$0"/*.rules.yaml`, folder])).match(/(?<=- alert: )\w+/g) ?? []
    const all = await namesIn(join(ROOT, 'alerts'))
    expect(await namesIn(program.file('rules'))).toEqual(all.filter((alert) => alert !== 'ChainHeat'))
  },
  dashboards: ['dashboards node', /^ +"title": "Chain node"/m],
  demo: async () => {
    const demo = program.start('demo', '--scenario', 'lagging', '--port', `${await freePort()}`)
    // 120 blocks, as scenarios/failures.md says.
    await eventually(demo.output, (output) => /^height [\d,]+ {2}difference 120 {2}rpc up 1 /m.test(output))
    await demo.stop()
  },
  parse: async () => {
    const shown = await json(['parse', 'node-version'], 'some-node 0.16.2')
    expect(shown).toMatchObject({ program: 'some-node', version: '0.16.2' })
  },
  help: ['help keys backup', 'Usage: chain-agent keys backup [options]'],
  completion: async () => {
    await writeFile(program.file('completion'), await command(['completion', 'bash']))
    const script = '. "$0"; COMP_WORDS=(chain-agent runb); COMP_CWORD=1; _chain_agent; echo "${COMPREPLY[*]}"'
    const options = { env: { PATH: `${join(program.prefix, 'bin')}:${process.env['PATH'] ?? ''}` } }
    expect(await must('bash', ['-c', script, program.file('completion')], options)).toBe('runbook')
  },
  man: ['man', '.TH CHAIN\\-AGENT 1'],
  'serve-query': async () => {
    const missing = await command(['serve-query'])
    expect(missing).toContain('its engine DuckDB is not installed')
    expect(missing).toContain(`npm install --global --prefix ${program.prefix} --ignore-scripts @duckdb/node-api@`)
    const clickhouse = ['--store', 'clickhouse://user@127.0.0.1:1/logs', '--unbounded']
    expect(await command(['serve-query', ...clickhouse, '--reread', '1-2'])).toContain(
      'query ClickHouse at 127.0.0.1:1: connection failed (ECONNREFUSED)',
    )
    // Where that command puts it.
    await symlink(join(ROOT, 'node_modules/@duckdb'), join(program.prefix, 'lib/node_modules/@duckdb'))
    program.start('serve-query')
    await eventually(async () => (await fetch(`http://${program.addresses.operations}/-/ready`)).status, 200)
  },
  query: async () => {
    const height = async (): Promise<number> =>
      z.object({ height: z.number() }).parse(await (await fetch(`http://${program.addresses.query}/height`)).json())
        .height
    const before = await height()
    const printed = Number(await command(['query', '--height', '--url', `http://${program.addresses.query}`]))
    expect(printed).toBeGreaterThanOrEqual(before)
    expect(printed).toBeLessThanOrEqual(await height())
    const range = [
      '--from-block',
      `${program.node.firstServiceBlock}`,
      '--to-block',
      `${program.node.firstServiceBlock + 9}`,
    ]
    const rows = await command(['query', '--url', `http://${program.addresses.query}`, '--address', TOKEN, ...range])
    // Two of ten blocks have events, three each.
    expect(rows.match(/^\{.*"address":"0x70ce0{35}1"/gm)).toHaveLength(6)
  },
  balances: async () => {
    const from = program.node.firstServiceBlock
    const range = ['--created-in', `${from}`, '--to-block', `${from + 99}`, '--format', 'csv']
    const service = ['--url', `http://${program.addresses.query}`, '--standard', 'erc20', '--token', TOKEN]
    const rows = await command(['balances', ...service, ...range])
    // Twenty of a hundred blocks have events: 6 and 3 tokens of 10^18 remain from each.
    expect(rows).toContain(`${FIRST},120000000000000000000\n${SECOND},60000000000000000000`)
  },
  incident: async () => {
    await eventually(
      async () => command(['incident']),
      (list) => /^ {2}[\d-]+ {2}ChainServiceDown/m.test(list),
    )
  },
}

describe('a command of the installed program', () => {
  it('has a row in this test', async () => {
    const page = (await command(['man'])).replaceAll(String.raw`\-`, '-')
    const all = [...page.matchAll(/^\.SS chain-agent (.+)$/gm)].map(([, name = '']) => name)
    const commands = all.filter((name) => !all.some((other) => other.startsWith(`${name} `)))
    expect(commands.length).toBeGreaterThan(30)
    expect(Object.keys(ROWS).toSorted()).toEqual(commands.toSorted())
  })

  it.each(Object.entries(ROWS))('%s', async (_, row) => {
    if (typeof row === 'function') return row()
    const [args, expected] = row
    const printed = await command(args.split(' '))
    if (typeof expected === 'string') expect(printed).toContain(expected)
    else expect(printed).toMatch(expected)
    return undefined
  })
})

const post = async (body: string): Promise<string> => {
  const response = await fetch(`http://${program.addresses.watcher}/api/v1/heartbeat`, { method: 'POST', body })
  return `${response.status} ${await response.text()}`
}

const PATHS: Readonly<Record<string, (path: string) => Promise<void>>> = {
  '/api/v1/overview': async (path) => {
    expect(await get(path)).toMatchObject({ version, verdict: { word: 'CRITICAL', sentence: `${DOWN}.`, exitCode: 2 } })
  },
  '/api/v1/status': async (path) => {
    const height = `${await rpc('eth_blockNumber')}`
    expect(await get(path)).toMatchObject({ collectors: { rpc: { up: true, reading: { blockNumber: height } } } })
  },
  '/api/v1/health': async (path) => {
    const schema = z.object({ state: z.string(), findings: z.array(z.looseObject({ alert: z.string() })) })
    const { state, findings } = schema.parse(await get(path))
    expect(state).toBe('critical')
    expect(findings[0]).toMatchObject({ alert: 'ChainServiceDown.failed', severity: 'critical', state: 'firing' })
  },
  '/api/v1/events': async (path) => {
    const { events } = z.object({ events: z.array(z.unknown()) }).parse(await get(path))
    expect(events[0]).toMatchObject({ id: 1, collector: 'agent', from: null, to: `started, version ${version}` })
  },
  '/api/v1/heartbeat': async () => {
    expect(await post('{}')).toMatch(/^400 .*the document of an agent \(at: /)
    // The agent of the node sends one each second.
    const { value } = await eventually(
      async () => scrape(`http://${program.addresses.watcher}/metrics`),
      (seen) => seen.value('chain_watched_health', { state: 'critical' }) === 1,
    )
    expect(value('chain_watched_health', { node: 'node-a', state: 'healthy' })).toBe(0)
    expect(await get('/api/v1/status')).toMatchObject({ collectors: { heartbeat: { up: true } } })
  },
  '/api/v1/openapi.json': async (path) => {
    expect(await get(path)).toMatchObject(openapi)
  },
}

describe('the API of the installed program', () => {
  it('has a row in this test for each path', () => {
    expect(Object.keys(PATHS)).toEqual(Object.keys(openapi.paths))
  })

  it.each(Object.entries(PATHS))('%s', async (path, check) => {
    await expect(check(path)).resolves.toBeUndefined()
  })

  it.each(['/', '/events', '/runbooks/ChainServiceDown'])('%s has its style', async (path) => {
    const page = await (await fetch(`http://${program.addresses.agent}${path}`)).text()
    const assets = [...page.matchAll(/ (?:href|src)="([^"]+\.(?:css|js)[^"]*)"/g)].map(([, asset = '']) => asset)
    expect(assets).not.toEqual([])
    for (const asset of assets) {
      const response = await fetch(new URL(asset, `http://${program.addresses.agent}${path}`))
      expect([asset, response.status, (await response.text()).length > 1000]).toEqual([asset, 200, true])
    }
  })

  it('sends its alert to Alertmanager, with the labels of the configuration', async () => {
    const alert = await eventually(
      () => program.alerts.find((body) => body.includes('ChainServiceDown')),
      (body) => body !== undefined,
    )
    expect(alert).toContain('"cluster":"of-the-test"')
  })
})

it('config.example.yaml of the installed program can be uncommented', async () => {
  const commented = await readFile(join(program.packageDirectory, 'config.example.yaml'), 'utf8')
  await writeFile(program.file('example.yaml'), commented.replaceAll(/^#(?=\S| {2,}\S)/gm, ''))
  const schema = z.object({ settings: z.record(z.string(), z.object({ origin: z.string() })) })
  const { settings } = schema.parse(await json(['config', '--json', '--config', program.file('example.yaml')]))
  expect(Object.keys(settings).length).toBeGreaterThan(100)
  expect(Object.entries(settings).filter(([, { origin }]) => !/example\.yaml:\d+$/.test(origin))).toEqual([])
})
