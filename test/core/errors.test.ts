import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { attempt } from '../../src/core/collector.ts'
import { ConfigError, errorText, isInternal } from '../../src/core/errors.ts'
import { run } from '../support/programs.ts'

/** An error as Node.js throws it. */
const nodeError = (code: string, syscall: string, path = '/etc/hosts'): Error =>
  Object.assign(new Error(`${code}: text of Node.js, ${syscall}`), { code, syscall, path })

test.each([
  [nodeError('EMFILE', 'open'), 'Could not open /etc/hosts: the limit of open files of this process', 'LimitNOFILE='],
  [nodeError('ENFILE', 'open'), 'Could not open /etc/hosts: the limit of open files of the host', 'fs.file-max'],
  [nodeError('ENOMEM', 'spawn id'), 'Could not spawn id: the host or the unit has no memory left', 'MemoryMax='],
  [nodeError('EAGAIN', 'spawn id'), 'Could not spawn id: the limit of processes and threads', 'TasksMax='],
  [new RangeError('WebAssembly.instantiate(): Out of memory'), 'Could not continue: the host or the unit', 'LimitAS='],
  [new RangeError('Array buffer allocation failed'), 'Could not continue: the host or the unit', 'LimitAS='],
  [Object.assign(new Error('JS heap out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }), 'the unit', 'MemoryMax='],
])('%s is a limit of the host, with what to do', async (error, happened, advice) => {
  const text = errorText(error)
  expect(text).toContain(happened)
  expect(text.split('\n  what to do: ')[1]).toContain(advice)
  const outcome = await attempt(systemClock, () => Promise.reject(error))
  expect(outcome.ok ? 'ok' : isInternal(outcome.error)).toBe(false)
})

test.each([
  new TypeError('x is not a function'),
  new RangeError('Invalid count value: -1'),
  nodeError('EAGAIN', 'read'),
])('%s is a bug', (error) => {
  expect(errorText(error)).toMatch(/^This is a bug of chain-agent: (?:Type|Range)?Error: /)
})

test('an invalid configuration is none, whatever it names', () => {
  expect(errorText(new ConfigError('a.yaml:1: out of memory'))).toBe('a.yaml:1: out of memory')
})

test('a process that may open few files names the limit of the host', async () => {
  const { code, stderr } = await run('prlimit', ['--nofile=40', process.execPath, 'dist/main.js', 'run'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('open files of this process is reached (RLIMIT_NOFILE)')])
  expect(stderr).toContain('LimitNOFILE=')
  expect(stderr).not.toContain('bug')
})

test('a tool that cannot be spawned names the limit of processes', async () => {
  // Reading a file starts all threads of Node.js. Root has no such limit: it runs as another user, who may read the files.
  const limit = `import{execFileSync}from'node:child_process';import{readFile}from'node:fs/promises';await readFile('/proc/self/stat');execFileSync('prlimit',['--pid',process.pid,'--nproc=1:1'])`
  const node = [process.execPath, '--import', `data:text/javascript,${limit}`, 'dist/main.js', 'logs', 'bft']
  const rights = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search']
  const isRoot = process.getuid?.() === 0
  const user = ['setpriv', '--reuid=60123', '--regid=60123', '--clear-groups', ...rights]
  const { code, stderr } = await run('env', [...(isRoot ? user : []), ...node])
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Could not run \w+ .*: the limit of processes and threads/)
  expect(stderr).toContain('TasksMax=')
})
