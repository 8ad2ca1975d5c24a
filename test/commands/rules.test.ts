import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { cli, startCli } from '../support/cli.ts'
import { it } from '../support/directory.ts'
import { must } from '../support/programs.ts'
import { requirePrometheus, promtool } from '../support/prometheus.ts'
import { createServer, type IncomingMessage } from 'node:http'
import { text as bodyOf } from 'node:stream/consumers'
import { freePort } from '../support/free-port.ts'
import { listening } from '../support/http.ts'
import { testUsageErrors } from '../support/usage-errors.ts'

const SHIPPED = 'alerts'
const shippedRules = (await readdir(SHIPPED)).filter((file) => file.endsWith('.rules.yaml'))
const shippedFiles = [...shippedRules, 'chain.tmpl'].toSorted()

/** promtool checks the rules. */
const groupsSchema = z.array(
  z.looseObject({
    name: z.string(),
    rules: z.array(
      z.looseObject({
        alert: z.string().optional(),
        expr: z.string(),
        annotations: z.record(z.string(), z.string()).optional(),
      }),
    ),
  }),
)
const documentSchema = z.strictObject({ groups: groupsSchema })
/** The fields of the schema of monitoring.coreos.com/v1. */
const resourceSchema = z.strictObject({
  apiVersion: z.literal('monitoring.coreos.com/v1'),
  kind: z.literal('PrometheusRule'),
  metadata: z.strictObject({
    name: z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
    labels: z.record(z.string(), z.string()),
  }),
  spec: documentSchema,
})
const rulesOf = (groups: z.output<typeof groupsSchema>) => groups.flatMap(({ rules }) => rules)

it('writes by default the shipped files, byte for byte', async ({ directory }) => {
  const { code, out, err } = await cli(['rules', '--output', join(directory, 'new/rules')])
  expect({ code, out, err }).toEqual({
    code: 0,
    out: `Wrote ${shippedFiles.length} files to ${directory}/new/rules\n`,
    err: '',
  })
  expect((await readdir(join(directory, 'new/rules'))).toSorted()).toEqual(shippedFiles)
  for (const file of shippedFiles)
    expect(await readFile(join(directory, 'new/rules', file), 'utf8')).toBe(await readFile(join(SHIPPED, file), 'utf8'))
})

it('replaces files of the same name, and reports others', async ({ directory }) => {
  await writeFile(join(directory, 'sync.rules.yaml'), 'old')
  await writeFile(join(directory, 'gone.rules.yaml'), 'old')
  const { code, err } = await cli(['rules', '--output', directory])
  expect(code).toBe(0)
  expect(err).toBe(`Other files in ${directory}, not written by this version: gone.rules.yaml\n`)
  expect(await readFile(join(directory, 'sync.rules.yaml'), 'utf8')).toContain('ChainBehind')
})

test('prints one document with the same rules', async () => {
  const { code, out } = await cli(['rules'])
  expect(code).toBe(0)
  const each = await Promise.all(
    shippedRules.map(async (file) => documentSchema.parse(parse(await readFile(join(SHIPPED, file), 'utf8')))),
  )
  const { groups } = documentSchema.parse(parse(out))
  const byName = (a: { readonly name: string }, b: { readonly name: string }) => a.name.localeCompare(b.name)
  expect(groups.toSorted(byName)).toEqual(each.flatMap((one) => one.groups).toSorted(byName))
})

it('has the links, the job and the settings of the installation', async ({ directory }) => {
  const file = join(directory, 'config.yaml')
  await writeFile(
    file,
    'health: {limits: {ChainBehind: {warning: 8s, critical: 40s}, ChainDiskFull: {limit: 7%}}, disable: [ChainWatchdog]}',
  )
  const settings = ['--disable', 'ChainHostSetUp.smt', '--set', 'ChainBehind.warning=10s']
  const links = ['--runbooks', 'https://wiki.example/{alert}.md', '--dashboards', 'https://graphs.example/']
  const { code, out, err } = await cli(['rules', '--config', file, '--job', 'nodes', ...settings, ...links])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const rules = rulesOf(documentSchema.parse(parse(out)).groups)
  const named = (name: string) => rules.filter(({ alert }) => alert === name)
  // 10 s by the command line, 40 s by the configuration.
  expect(named('ChainBehind').map(({ expr }) => /> (\d+)\n/.exec(expr)?.[1])).toEqual(['40', '10'])
  expect(named('ChainDiskFull')[0]?.expr).toMatch(/< 0\.07$/)
  expect(named('ChainAgentDown')[0]?.expr).toBe('up{job="nodes"} == 0')
  expect([...named('ChainWatchdog'), ...named('ChainHostSetUp.smt')]).toEqual([])
  const { runbook_url: runbook, dashboard_url: dashboard } = named('ChainBehind')[0]?.annotations ?? {}
  expect(runbook).toBe('https://wiki.example/ChainBehind.md')
  expect(dashboard).toMatch(/^https:\/\/graphs\.example\/d\/chain-node\?/)
  expect(out).not.toMatch(/chain-agent\.example|grafana\.example|job="chain-agent"/)
})

test('keeps other labels of the targets in every rule', async () => {
  const [plain, other] = [await cli(['rules']), await cli(['rules', '--labels', 'region,zone'])]
  expect(plain.out.split('job, cluster').length).toBeGreaterThan(100)
  expect(other.out).toBe(
    plain.out
      .replaceAll('job, cluster', 'job, region, zone')
      .replaceAll('job=%q,cluster=%q', 'job=%q,region=%q,zone=%q')
      .replaceAll('$labels.job $labels.cluster', '$labels.job $labels.region $labels.zone'),
  )
  expect(other.out).not.toMatch(/(?:by|on|ignoring) \([^)]*cluster/)
})

describe('for the Prometheus Operator', () => {
  const options = [
    '--format',
    'prometheusrule',
    '--resource-label',
    'release=prometheus',
    '--resource-label',
    'team=on-call',
  ]

  test('prints one resource with every rule, and the template of the messages', async () => {
    const [resources, plain, template] = [
      await cli(['rules', ...options]),
      await cli(['rules']),
      await cli(['rules', '--format', 'template']),
    ]
    const [resource = '', map = ''] = resources.out.split('\n---\n')
    expect(template.out).toBe(await readFile(join(SHIPPED, 'chain.tmpl'), 'utf8'))
    expect(parse(map)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'chain-agent-templates' },
      data: { 'chain.tmpl': template.out },
    })
    const { metadata, spec } = resourceSchema.parse(parse(resource))
    expect(metadata).toEqual({ name: 'chain-agent', labels: { release: 'prometheus', team: 'on-call' } })
    expect(spec).toEqual(parse(plain.out))
    const names = spec.groups.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  it('writes one resource per file', async ({ directory }) => {
    await cli(['rules', ...options, '--output', directory])
    expect(await readdir(directory)).toHaveLength(shippedFiles.length)
    const text = await readFile(join(directory, 'consensus.prometheusrule.yaml'), 'utf8')
    const { metadata, spec } = resourceSchema.parse(parse(text))
    expect(metadata.name).toBe('chain-agent-consensus')
    expect(spec).toEqual(parse(await readFile(join(SHIPPED, 'consensus.rules.yaml'), 'utf8')))
  })
})

testUsageErrors(
  ['rules'],
  [
    [
      ['--set', 'ChainBehind.limit=5'],
      'error: --set ChainBehind.limit: expected warning, critical, for of ChainBehind',
    ],
    [['--set', 'ChainBehind=5'], "error: invalid --set 'ChainBehind=5': expected ALERT.SETTING=VALUE"],
    [
      ['--disable', 'ChainHostSetUp.smtt'],
      /^error: --disable ChainHostSetUp\.smtt: expected the name .*did you mean ChainHostSetUp\.smt\?/,
    ],
    [['--runbooks', 'wiki'], "error: invalid --runbooks 'wiki': expected an http or https address"],
    [
      ['--labels', 'cluster,a b'],
      "error: invalid --labels 'cluster,a b': expected names of labels separated by commas",
    ],
    [['--resource-label', 'release'], "error: invalid --resource-label 'release': expected KEY=VALUE"],
    [['--days', '7'], 'error: --days is for --estimate\n'],
    [['--json'], 'error: --json is for --estimate\n'],
  ],
)
testUsageErrors(
  ['rules', '--estimate', 'http://127.0.0.1:9'],
  [
    [
      ['--output', '/tmp/rules'],
      "error: option '--estimate <url>' cannot be used with option '-o, --output <directory>'",
    ],
    [['--format', 'prometheus'], "error: option '--estimate <url>' cannot be used with option '--format <format>'"],
    [['--days', '0'], "error: invalid --days '0': expected a number from 1 to 365"],
  ],
)

it('rejects settings in the configuration with their line', async ({ directory }) => {
  const file = join(directory, 'config.yaml')
  await writeFile(
    file,
    'health:\n  objective: 98\n  limits:\n    ChainBehind: {warning: 8%}\n  disable: [ChainHostSetUp.smtt]\n',
  )
  const { code, err } = await cli(['rules', '--config', file])
  expect(code).toBe(2)
  expect(err.split('\n').slice(1, -1)).toEqual([
    `${file}:2: health.objective: expected a ratio from 0.95 to 0.9999, got 98`,
    `${file}:4: health.limits.ChainBehind.warning: expected a number like 25ms, 90s, 15min or 2d, got "8%"`,
    `${file}:5: health.disable.0: expected the name of an alert (did you mean ChainHostSetUp.smt?), got "ChainHostSetUp.smtt"`,
  ])
})

const describeReal = await requirePrometheus()

describeReal('promtool', () => {
  it('accepts tuned files, and one in which every rule is disabled', async ({ directory }) => {
    const watchdogs = ['ChainMaintenance', 'ChainMaintenanceLong'].flatMap((alert) => ['--disable', alert])
    const settings = [
      'ChainExecutionSlow.limit=400ms',
      'ChainPeersFew.sessions.limit=10',
      'ChainBehind.for=1m',
      'ChainDiskFull.limit=7%',
    ]
    const sets = settings.flatMap((text) => ['--set', text])
    expect((await cli(['rules', ...sets, ...watchdogs, '--output', directory])).code).toBe(0)
    expect(await readFile(join(directory, 'maintenance.rules.yaml'), 'utf8')).toMatch(/^groups: \[\]$/m)
    const files = (await readdir(directory))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => join(directory, file))
    const report = await must(await promtool(), ['check', 'rules', '--lint=all', '--lint-fatal', ...files])
    expect(report.match(/SUCCESS/g)).toHaveLength(shippedRules.length)
  })
})

interface Asked {
  readonly path: string
  readonly form: URLSearchParams
}

interface Answer {
  readonly status?: number
  readonly text: string
}

const success = (data: unknown): Answer => ({ text: JSON.stringify({ status: 'success', data }) })
const NO_SERIES = success({ resultType: 'vector', result: [] })

const askedOf = async (request: IncomingMessage): Promise<Asked> => {
  const body = new URLSearchParams(await bodyOf(request))
  return { path: new URL(request.url ?? '', 'http://localhost').pathname, form: body }
}

/** A Prometheus below a path that has these metrics; `undefined` is no answer. */
const startApi = async (names: readonly string[], answer: (asked: Asked) => Answer | undefined) => {
  const queries: Asked[] = []
  let [open, most] = [0, 0]
  const server = createServer((request, response) => {
    open += 1
    most = Math.max(most, open)
    void askedOf(request).then((asked) => {
      const isList = asked.path === '/prom/api/v1/label/__name__/values'
      if (!isList) queries.push(asked)
      const given = isList ? success(names) : answer(asked)
      if (given === undefined) return
      open -= 1
      response.writeHead(given.status ?? 200).end(given.text)
    })
  })
  const { url, close } = await listening(server)
  onTestFinished(close)
  return { url: `${url}/prom/`, queries, most: () => most }
}

const isAbout =
  (metric: string) =>
  ({ form }: Asked): boolean =>
    form.get('query')?.includes(metric) ?? false

test('sends one query at a time, with the job and the labels also in recordings', async () => {
  const { url, queries, most } = await startApi(
    ['chain_block_difference', 'chain_agent_build_info', 'up'],
    () => NO_SERIES,
  )
  const { code, err } = await cli(['rules', '--estimate', url, '--job', 'nodes', '--labels', 'region,zone'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(most()).toBe(1)
  expect(new Set(queries.map(({ path }) => path))).toEqual(new Set(['/prom/api/v1/query']))
  expect(new Set(queries.map(({ form }) => form.get('timeout')))).toEqual(new Set(['120']))
  const [behind] = queries.filter(isAbout('chain_block_difference'))
  expect(behind?.form.get('query')).toContain('3 * group by (instance, job, region, zone) (chain_block_difference)')
  expect(behind?.form.get('query')).toMatch(/\[2592000s:15s\]\)$/)
  expect(queries.filter(isAbout('up{job="nodes"} == 0')).length).toBeGreaterThan(0)
  expect(queries.filter(isAbout('chain-agent"}'))).toEqual([])
})

test('begins with the first sample of the agents', async () => {
  const first = Math.floor(Date.now() / 1000) - 3 * 86_400
  const { url, queries } = await startApi(['up'], ({ form }) =>
    form.get('query')?.startsWith('min(')
      ? success({ resultType: 'vector', result: [{ metric: {}, value: [first, String(first)] }] })
      : NO_SERIES,
  )
  const { code, out } = await cli(['rules', '--estimate', url, '--json'])
  expect(code).toBe(0)
  const [from = '', to = ''] = [...out.matchAll(/"(?:from|to)": "([^"]+)"/g)].map(([, time]) => time)
  // In steps of five minutes, and not before it.
  expect(Date.parse(from) / 1000 - first).toBeGreaterThanOrEqual(0)
  expect(Date.parse(from) / 1000 - first).toBeLessThanOrEqual(300)
  const [down] = queries.filter(isAbout('up{job="chain-agent"} == 0'))
  expect(down?.form.get('query')).toContain(`[${(Date.parse(to) - Date.parse(from)) / 1000}s:15s])`)
})

test.each([
  ['that exists since the beginning is used', ['instance:chain_behind:seconds'], 'instance:chain_behind:seconds > 20'],
  ['that began later is computed', [], 'chain_block_difference / on (instance, job, cluster)'],
])('a recorded series %s', async (_, since, expected) => {
  const names = ['instance:chain_behind:seconds', 'chain_block_difference', 'chain_blocks_per_second', 'up']
  const { url, queries } = await startApi(names, ({ form }) =>
    form.get('query')?.startsWith('count by (__name__)')
      ? success({
          resultType: 'vector',
          result: since.map((name) => ({ metric: { __name__: name }, value: [0, '1'] })),
        })
      : NO_SERIES,
  )
  expect((await cli(['rules', '--estimate', url])).code).toBe(0)
  expect(queries.filter(isAbout(expected)).length).toBeGreaterThan(0)
  const other = since.length > 0 ? 'chain_block_difference /' : 'chain_behind:seconds >'
  expect(queries.filter(isAbout(other))).toEqual([])
})

test('an error of one query is listed with its rule, and the others are estimated', async () => {
  const errors: Readonly<Record<string, Answer>> = {
    chain_rpc_up: {
      status: 422,
      text: JSON.stringify({
        status: 'error',
        errorType: 'execution',
        error: 'query processing would load too many samples',
      }),
    },
    // Of a proxy.
    chain_host_smt_active: { status: 504, text: '<h1>504 Gateway Time-out</h1>' },
  }
  const { url } = await startApi([...Object.keys(errors), 'up'], ({ form }) => {
    const [, error] = Object.entries(errors).find(([metric]) => form.get('query')?.includes(metric)) ?? []
    return error ?? NO_SERIES
  })
  const { code, out, err } = await cli(['rules', '--estimate', url], { env: { COLUMNS: '80' } })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const lines = out.split('\n')
  const at = lines.indexOf('Could not be evaluated:')
  expect(lines.slice(at, at + 3)).toEqual([
    'Could not be evaluated:',
    '  the response, of status 504, is not that of a Prometheus: ChainHostSetUp.smt',
    '  query processing would load too many samples: ChainRpcDown',
  ])
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('if no query can be evaluated, the exit code is 1', async () => {
  const { url } = await startApi(['up'], () => ({
    status: 503,
    text: JSON.stringify({ status: 'error', error: 'busy' }),
  }))
  const { code, out } = await cli(['rules', '--estimate', url, '--json'])
  expect(code).toBe(1)
  expect(out).toContain('"error": "busy"')
})

test('a page that is no Prometheus, and no server, are one error', async () => {
  const { url, close } = await listening(createServer((_, response) => response.end('<h1>Grafana</h1>')))
  onTestFinished(close)
  const page = await cli(['rules', '--estimate', url])
  expect({ code: page.code, out: page.out }).toEqual({ code: 1, out: '' })
  expect(page.err.split('\n')).toEqual([
    expect.stringMatching(
      /^Could not request http:\/\/127\.0\.0\.1:\d+\/…: the response, of status 200, is not that of a Prometheus$/,
    ),
    '  output: <h1>Grafana</h1>',
    '  what to do: check the address: it is that of the Prometheus that scrapes the agents, such as http://localhost:9090',
    '',
  ])
  const silent = await cli(['rules', '--estimate', `http://127.0.0.1:${await freePort()}`])
  expect({ code: silent.code, out: silent.out }).toEqual({ code: 1, out: '' })
  expect(silent.err).toMatch(/: no connection \(ECONNREFUSED\)\n {2}what to do: check the address/)
})

test('ends at once when it is interrupted', async () => {
  const running = { interrupt: (): void => undefined }
  const { url, queries } = await startApi(['up'], () => {
    running.interrupt()
    return undefined
  })
  const command = startCli(['rules', '--estimate', url])
  running.interrupt = () => void command.interrupt()
  const { code, out, err } = await command.ended
  expect({ code, out, err }).toEqual({ code: 1, out: '', err: 'Interrupted before there was a result.\n' })
  expect(queries).toHaveLength(1)
})
