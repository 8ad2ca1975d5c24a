import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { must, start } from '../support/programs.ts'

const directory = await temporaryFolder()

test('the log names the changed keys that need a restart, and the help of run their sections', async () => {
  const file = join(directory, 'config.yaml')
  const rpc = { url: 'http://127.0.0.1:1' }
  const state = { directory: join(directory, 'state') }
  await writeFile(file, JSON.stringify({ listen: '127.0.0.1:0', state, rpc }))
  const agent = start(process.execPath, ['dist/main.js', 'run', '--config', file])
  await eventually(agent.output, (output) => output.includes('Serving '), { every: 20 })
  const changed = {
    listen: '127.0.0.1:1',
    web: { hosts: ['other.example'] },
    state: { directory },
    events: { keep: 500 },
    health: { objective: 0.99 },
    log: { level: 'debug' },
    rpc: { ...rpc, interval: '7s' },
  }
  await writeFile(file, JSON.stringify(changed))
  process.kill(agent.pid, 'SIGHUP')
  const output = await eventually(agent.output, (text) => text.includes('to apply'), { every: 20 })
  await agent.stop()
  const [, pending = ''] = /Restart the agent to apply: ([^"]*)"/.exec(output) ?? []
  expect(pending.split(', ').toSorted()).toEqual([
    'events.keep',
    'health.objective',
    'listen',
    'state.directory',
    'web.hosts',
  ])
  expect(output).toContain('Configuration reloaded: applied log.level, rpc.interval;')
  const help = await must(process.execPath, ['dist/main.js', 'run', '--help'])
  const [, sections = ''] = /keys that need a restart of the agent:\n([^.]*), and all below them\./.exec(help) ?? []
  expect(sections.split(', ').toSorted()).toEqual(['events', 'health', 'listen', 'profile', 'state', 'web'])
})
