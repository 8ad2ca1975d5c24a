import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { start } from '../support/programs.ts'

const directory = await temporaryFolder()
const WARN = `data:text/javascript,process.on('SIGUSR2',()=>process.emitWarning('from a test','TestWarning'))`
const NO_NODE = 'http://127.0.0.1:1'

test.each([
  ['run', '--listen', '127.0.0.1:0', '--set', `state.directory=${join(directory, 'state')}`],
  ['serve-query', '--listen', '127.0.0.1:0', '--metrics-listen', '127.0.0.1:0', '--store', directory, '--unbounded'],
])('a warning of Node.js is one JSON line in the log of %s', async (...args) => {
  const warn = ['--import', WARN]
  const service = start(process.execPath, [...warn, 'dist/main.js', ...args, '--rpc-url', NO_NODE], {
    env: { NODE_OPTIONS: '' },
  })
  await eventually(service.output, (output) => output.includes('Serving '), { every: 20 })
  process.kill(service.pid, 'SIGUSR2')
  await eventually(service.output, (output) => output.includes('from a test'), { every: 20 })
  await service.stop()
  const time: unknown = expect.any(String)
  const stack: unknown = expect.stringContaining('TestWarning: from a test\n    at ')
  const lines = service.output().trimEnd().split('\n')
  expect(lines.map((line): unknown => JSON.parse(line))).toContainEqual({
    level: 'warn',
    time,
    msg: 'Node.js: TestWarning: from a test',
    stack,
  })
})
