import { test } from 'vitest'
import { writeFileSync } from 'node:fs'
import { openHost } from '../support/host.ts'

test('probe', async () => {
  const host = await openHost({ scenario: process.env['SC'] ?? 'panic', second: 0, agent: true, settings: { 'health.disable': '[ChainDiskFilling, ChainDiskFull]' } })
  for (let second = 0; second < 140; second += 1) await host.second()
  console.log((await import('node:fs')).readdirSync(host.directory + '/state', {recursive:true})); const list = await host.run(['incident'])
  const one = await host.run(['incident', 'latest'])
  const json = await host.run(['incident', 'latest', '--json'])
  const check = await host.run(['check'])
  const events = await host.run(['events', '--collector', 'agent'])
  const unknown = await host.run(['incident', '20260301T125999Z'])
  writeFileSync('/tmp/helpers/incident/probe.txt', [list, one, check, events, unknown].map((x) => `${x.out}${x.err}exit ${x.code}\n`).join('\n=====\n'))
  writeFileSync('/tmp/helpers/incident/probe.json', json.out)
})
