import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { cli } from '../support/cli.ts'
import { it } from '../support/directory.ts'
import { must } from '../support/programs.ts'
import { probePrometheus, promtool } from '../support/prometheus.ts'
import { requireRealPart } from '../support/real-parts.ts'

const SHIPPED = 'alerts'
const shippedRules = (await readdir(SHIPPED)).filter((file) => file.endsWith('.rules.yaml'))
const shippedFiles = [...shippedRules, 'chain.tmpl'].toSorted()

/** As the schema of PrometheusRule demands it. */
const duration = z
  .string()
  .min(1)
  .regex(
    /^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$/,
    'a duration of Prometheus',
  )
const ruleSchema = z.object({
  alert: z.string().optional(),
  record: z.string().optional(),
  expr: z.string(),
  for: duration.optional(),
  keep_firing_for: duration.optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
})
const groupsSchema = z.array(
  z.strictObject({
    name: z.string().min(1),
    interval: duration,
    rules: z.array(
      ruleSchema
        .strict()
        .refine(({ alert, record }) => (alert === undefined) !== (record === undefined), 'one of both'),
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

test.each([
  [['--set', 'ChainBehnd.warning=5'], /^error: --set ChainBehnd: expected the name .*did you mean ChainBehind\?/],
  [
    ['--set', 'ChainBehind.limit=5'],
    /^error: --set ChainBehind\.limit: expected warning, critical, for of ChainBehind/,
  ],
  [['--set', 'ChainBehind=5'], /^error: invalid --set 'ChainBehind=5': expected ALERT\.SETTING=VALUE/],
  [
    ['--disable', 'ChainHostSetUp.smtt'],
    /^error: --disable ChainHostSetUp\.smtt: expected the name .*did you mean ChainHostSetUp\.smt\?/,
  ],
  [
    ['--disable', 'ChainSmtActive'],
    /^error: --disable ChainSmtActive: expected the name of an alert: ChainSmtActive is ChainHostSetUp\.smt now$/m,
  ],
  [
    ['--set', 'ChainPeersFew.limit=5'],
    /^error: --set ChainPeersFew: expected one of ChainPeersFew\.upstream, ChainPeersFew\.sessions, ChainPeersFew\.noise: each has limits of its own$/m,
  ],
  [['--runbooks', 'wiki'], /^error: invalid --runbooks 'wiki': expected an http or https address/],
  [['--labels', 'cluster,a b'], /^error: invalid --labels 'cluster,a b': expected names of labels separated by commas/],
  [['--resource-label', 'release'], /^error: invalid --resource-label 'release': expected KEY=VALUE/],
])('%j is a usage error', async (argv, message) => {
  const { code, out, err } = await cli(['rules', ...argv])
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(message)
})

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

const describeReal = await requireRealPart('prometheus', probePrometheus)

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
