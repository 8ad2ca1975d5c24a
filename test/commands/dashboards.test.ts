import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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

testUsageErrors(
  ['dashboards'],
  [
    [['nod'], /^error: invalid name 'nod': expected one of agent, .*storage\n\(Did you mean node\?\)\n/],
    [['node', '--output', '/tmp'], 'error: --output writes all dashboards; leave out the name\n'],
  ],
)
