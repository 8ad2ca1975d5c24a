import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockDirectory } from '../../src/sources/lock.ts'
import { temporaryFolder } from '../support/directory.ts'

const directory = await temporaryFolder()
const description = { doing: 'start the agent', taken: 'another agent uses it' }

test('a directory has one lock at a time', async () => {
  const lock = await lockDirectory(directory, description)
  await expect(lockDirectory(directory, description)).rejects.toThrow(
    'Could not start the agent: another agent uses it',
  )
  await lock?.release()
  const next = await lockDirectory(directory, description)
  expect(next).not.toBeNull()
  await next?.release()
  expect(await lockDirectory(join(directory, 'missing'), description)).toBeNull()
})

test('a directory whose path is too long for a socket has one lock at a time, too', async () => {
  const long = join(directory, 'x'.repeat(120))
  const lock = await lockDirectory(long, description)
  await expect(lockDirectory(long, description)).rejects.toThrow('another agent uses it')
  await lock?.release()
  const next = await lockDirectory(long, description)
  await next?.release()
  expect(next).not.toBeNull()
})

test('what a killed process has left over is no lock', async () => {
  const path = join(directory, 'agent.lock')
  const script = 'require("node:net").createServer().listen(process.argv[1], () => process.stdout.write("."))'
  const child = spawn(process.execPath, ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  await expect(lockDirectory(directory, description)).rejects.toThrow('another agent uses it')
  child.kill('SIGKILL')
  await once(child, 'close')
  await access(path)
  const lock = await lockDirectory(directory, description)
  expect(lock).not.toBeNull()
  await lock?.release()
})
