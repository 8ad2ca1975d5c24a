import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { cli } from '../support/cli.ts'
import { it } from '../support/directory.ts'
import { testUsageErrors } from '../support/usage-errors.ts'

const NAMES = ['agent', 'consensus', 'duties', 'fleet', 'node', 'query-service', 'staking', 'storage']

test('lists the dashboards, and prints one as it is shipped', async () => {
  expect(await cli(['dashboards'])).toEqual({ code: 0, out: NAMES.map((name) => `${name}\n`).join(''), err: '' })
  const { code, out } = await cli(['dashboards', 'node'])
  expect(code).toBe(0)
  expect(out).toBe(await readFile('dashboards/node.json', 'utf8'))
})

it('writes them with links to the runbooks of the installation', async ({ directory }) => {
  const runbooks = 'https://wiki.example/a"b/{alert}.md'
  const { code, out } = await cli(['dashboards', '--output', directory, '--runbooks', runbooks])
  expect({ code, out }).toEqual({ code: 0, out: `Wrote 8 files to ${directory}\n` })
  for (const name of NAMES) {
    const text = await readFile(join(directory, `${name}.json`), 'utf8')
    expect(text).not.toContain('chain-agent.example')
    // A quotation mark in the address is still valid JSON.
    expect(JSON.parse(text)).toMatchObject({ uid: `chain-${name}` })
  }
  const node = await readFile(join(directory, 'node.json'), 'utf8')
  expect(node).toContain(String.raw`(https://wiki.example/a\"b/ChainBlockStalled.md)`)
  expect(node).toContain(String.raw`https://wiki.example/a\"b/${'$'}{__value.raw}.md`)
})

describe('for Kubernetes', () => {
  /** A label of RFC 1123, which names of objects may have 253 characters of. */
  const configMap = z.strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('ConfigMap'),
    metadata: z.strictObject({
      name: z
        .string()
        .max(253)
        .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
      // The API server rejects a label that is a number.
      labels: z.strictObject({ grafana_dashboard: z.literal('1') }),
    }),
    data: z.record(z.string().regex(/^[-._a-zA-Z0-9]{1,253}$/), z.string()),
  })
  const shipped = async (name: string) => readFile(`dashboards/${name}.json`, 'utf8')

  test('prints a ConfigMap per dashboard, which holds the shipped file', async () => {
    const { code, out, err } = await cli(['dashboards', '--format', 'configmap'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const maps = parseAllDocuments(out).map((document) => configMap.parse(document.toJS()))
    expect(maps.map(({ metadata }) => metadata.name)).toEqual(NAMES.map((name) => `chain-agent-dashboard-${name}`))
    expect(maps.map(({ data }) => data)).toEqual(
      await Promise.all(NAMES.map(async (name) => ({ [`chain-agent-${name}.json`]: await shipped(name) }))),
    )
  })

  it('prints one, and writes a file for each, with the links of the installation', async ({ directory }) => {
    const options = ['--format', 'configmap', '--runbooks', 'https://wiki.example/runbooks']
    const { out } = await cli(['dashboards', 'node', ...options])
    expect(configMap.parse(parse(out)).data['chain-agent-node.json']).toContain(
      '(https://wiki.example/runbooks/ChainBlockStalled)',
    )
    expect((await cli(['dashboards', ...options, '--output', directory])).code).toBe(0)
    expect((await readdir(directory)).toSorted()).toEqual(NAMES.map((name) => `${name}.configmap.yaml`))
    expect(await readFile(join(directory, 'node.configmap.yaml'), 'utf8')).toBe(out)
  })

  test('rejects a dashboard that is larger than a ConfigMap may be', async () => {
    const runbooks = `https://wiki.example/${'a'.repeat(600_000)}`
    const { code, out, err } = await cli(['dashboards', 'node', '--format', 'configmap', '--runbooks', runbooks])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/ConfigMap of the dashboard node.*has \d+ bytes.*at most 1048576/s)
    expect((await cli(['dashboards', 'node', '--runbooks', runbooks])).code).toBe(0)
  })
})

testUsageErrors(
  ['dashboards'],
  [
    [['nod'], /^error: no dashboard is called 'nod'; there are: agent, .*, storage\n\(Did you mean node\?\)\n$/],
    [['node', '--output', '/tmp'], 'error: --output writes all dashboards; leave out the name\n'],
  ],
)
