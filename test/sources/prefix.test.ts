import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SourceError } from '../../src/core/errors.ts'
import { createPrefix } from '../../src/sources/prefix.ts'
import { temporaryFolder } from '../support/directory.ts'

const directory = await temporaryFolder()

const nowhere = new AbortController().signal
const units = (said: string | Error, { exitCode = 0, stderr = '' } = {}) => ({
  run: () => (said instanceof Error ? Promise.reject(said) : Promise.resolve({ exitCode, stdout: said, stderr })),
  async *stream() {
    yield await Promise.reject<Uint8Array>(new Error('not here'))
  },
  killAll: () => undefined,
})
const noUnits = new SourceError({ doing: 'run systemctl', happened: 'exit code 1' })
const tools = async (...names: readonly string[]): Promise<string> => {
  const path = await mkdtemp(join(directory, 'bin-'))
  for (const name of names) {
    await writeFile(join(path, name), '')
    await chmod(join(path, name), 0o755)
  }
  return path
}

test.each([
  ['the configuration decides', 'monad', 'chain-bft.service enabled', [], { word: 'monad', from: 'configuration' }],
  ['else the one unit', 'auto', 'monad-bft.service enabled enabled', ['chain-mpt'], { word: 'monad', from: 'systemd' }],
  [
    'two units decide nothing, the tool does',
    'auto',
    'a-bft.service x\nb-bft.service x',
    ['b-mpt', 'b-ledger-tail'],
    { word: 'b', from: 'PATH' },
  ],
  [
    'a fork without -bft: the unit of execution',
    'auto',
    'kinet-execution.service enabled enabled',
    [],
    { word: 'kinet', from: 'systemd' },
  ],
  [
    'an execution unit of something else next to a consensus unit',
    'auto',
    'jobs-execution.service enabled\nmonad-bft.service enabled\nmonad-execution.service enabled',
    [],
    { word: 'monad', from: 'systemd' },
  ],
  ['no systemd', 'auto', noUnits, ['monad-mpt'], { word: 'monad', from: 'PATH' }],
  ['two makers on PATH decide nothing', 'auto', '', ['a-mpt', 'b-mpt'], { word: 'chain', from: 'default' }],
  ['nothing anywhere', 'auto', '', [], { word: 'chain', from: 'default' }],
] as const)('%s', async (...[, configured, listed, names, expected]) => {
  const path = `${await tools(...names)}:/does/not/exist`
  expect(await createPrefix({ exec: units(listed), path, configured })(nowhere)).toEqual(expected)
})

test('searches again until a prefix is found: the node may be installed later', async () => {
  const path = await tools()
  const read = createPrefix({ exec: units(''), path, configured: 'auto' })
  expect((await read(nowhere)).from).toBe('default')
  await writeFile(join(path, 'monad-mpt'), '')
  expect(await read(nowhere)).toEqual({ word: 'monad', from: 'PATH' })
  await rm(join(path, 'monad-mpt'))
  expect((await read(nowhere)).word).toBe('monad')
})

test('an unavailable bus is an error, and the next call tries again', async () => {
  const path = await tools()
  const down = units('', { exitCode: 1, stderr: 'Failed to connect to bus: Connection refused' })
  await expect(createPrefix({ exec: down, path, configured: 'auto' })(nowhere)).rejects.toThrow(SourceError)
  const none = units('', { exitCode: 1 }) // systemd 252 says "no such unit" so
  expect(await createPrefix({ exec: none, path, configured: 'auto' })(nowhere)).toEqual({
    word: 'chain',
    from: 'default',
  })
})
