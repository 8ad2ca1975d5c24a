import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { renamedNames } from '../../../src/commands/check/preflight/renamed.ts'
import { it } from '../../support/directory.ts'
import { context } from './context.ts'

const check = async (directory: string, files: Readonly<Record<string, string>>) => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  return renamedNames.run(context({ set: [{ path: 'version.rootDirectory', value: directory }] }))
}

it('a host without Prometheus, Alertmanager and Grafana has no finding', async ({ directory }) => {
  expect(await check(directory, {})).toEqual([])
})

it('rules, routes and dashboards that name something of version 0.2.0 are listed', async ({ directory }) => {
  const found = await check(directory, {
    'etc/prometheus/rules/own.yml': 'expr: chain_blocks_behind > 3\n',
    'etc/prometheus/prometheus.yml': 'scrape_configs: []\n',
    'etc/alertmanager/alertmanager.yml': 'matchers: [alertname=~"ChainAssertion|ChainBehind"]\n',
    'etc/alertmanager/notes.txt': 'ChainAssertion\n',
    'var/lib/grafana/dashboards/a/old.json': '{"expr": "chain_status_blocks_behind"}\n',
    'var/lib/grafana/dashboards/new.json': '{"expr": "chain_block_difference or chain_blocks_behind"}\n',
  })
  expect(found).toMatchObject([
    {
      severity: 'warning',
      summary: '2 files of Prometheus or Alertmanager name alerts or metrics of version 0.2.0',
      evidence: [
        `${directory}/etc/alertmanager/alertmanager.yml: ChainAssertion is ChainLogTrouble.aborted now.`,
        `${directory}/etc/prometheus/rules/own.yml: chain_blocks_behind is chain_block_difference now.`,
      ],
    },
    {
      severity: 'info',
      summary: 'a file of Grafana names alerts or metrics of version 0.2.0',
      evidence: [
        `${directory}/var/lib/grafana/dashboards/a/old.json: chain_status_blocks_behind is chain_status_block_difference now.`,
      ],
    },
  ])
})

it('four names of a file are listed, each once, and the number of the others', async ({ directory }) => {
  const names =
    'ChainAssertion ChainAssertion ChainBadStateRoot ChainDriveHot ChainDriveWorn ChainGovernor ChainOomKill'
  const [found] = await check(directory, { 'etc/prometheus/a.rules': names })
  expect(found?.evidence).toEqual([
    `${directory}/etc/prometheus/a.rules: ChainAssertion is ChainLogTrouble.aborted now, ChainBadStateRoot is ` +
      'ChainStateDiverged.bad-state-root now, ChainDriveHot is ChainHeat.drive now, ChainDriveWorn is ' +
      'ChainDriveFailing.worn now, and 2 more names.',
  ])
})

it('what cannot be read, and what is too large, is left out', async ({ directory }) => {
  const folder = join(directory, 'etc/prometheus')
  await mkdir(join(folder, 'closed'), { recursive: true })
  await symlink('/nonexistent', join(folder, 'dangling.yml'))
  await symlink('..', join(folder, 'circle'))
  await chmod(join(folder, 'closed'), 0)
  expect(
    await check(directory, { 'etc/prometheus/large.yml': `${' '.repeat(2 * 1024 * 1024)}ChainAssertion` }),
  ).toEqual([])
  await chmod(join(folder, 'closed'), 0o700)
})
