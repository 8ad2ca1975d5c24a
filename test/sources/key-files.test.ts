import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createKeyFiles, rememberAbsent } from '../../src/sources/key-files.ts'
import { it } from '../support/directory.ts'
import { probeTmpfs, SHM } from '../support/key-files.ts'
import { requireRealPart } from '../support/real-parts.ts'

const withTmpfs = await requireRealPart('tmpfs', probeTmpfs)

withTmpfs('homes that are out of sight', () => {
  let home = ''
  beforeEach(async () => {
    home = await mkdtemp(join(SHM, 'home-'))
    await mkdir(join(home, 'chain/config'), { recursive: true })
  })
  afterEach(async () => {
    await rm(home, { recursive: true })
  })
  const judge = (text: string): string => text

  test('what is not in them is not missing, however far above the nearest directory is', async () => {
    const files = createKeyFiles([home])
    for (const path of ['chain/config/id-secp', 'chain/.env', 'other/a/b/c']) {
      expect(await files.look(join(home, path)), path).toBe('denied')
      expect(await files.read(join(home, path), judge), path).toBe('denied')
      expect(await files.list(join(home, path)), path).toBe('denied')
    }
  })
  test('their directories say nothing, for they are made up', async () => {
    const files = createKeyFiles([home])
    expect(await files.look(join(home, 'chain'))).toBe('denied')
    expect(await files.list(join(home, 'chain/config'))).toBe('denied')
  })
  test('a file that is there is there', async () => {
    const path = join(home, 'chain/config/id-secp')
    await writeFile(path, 'abc')
    await chmod(path, 0o600)
    const files = createKeyFiles([home])
    expect(await files.look(path)).toMatchObject({ isFile: true, bytes: 3, mode: 0o600 })
    expect(await files.read(path, judge)).toEqual({ verdict: 'abc' })
  })
  test('outside of homes memory is a disk like others', async () => {
    for (const files of [createKeyFiles(), createKeyFiles([`${home}/cha`])]) {
      expect(await files.look(join(home, 'chain/.env'))).toBe('missing')
      expect(await files.look(join(home, 'chain'))).toMatchObject({ isFile: false })
      expect(await files.list(home)).toEqual(['chain'])
    }
  })
})

test('a home on another file system is as it seems', async () => {
  const files = createKeyFiles(['/proc'])
  expect(await files.look('/proc/self/none/at/all')).toBe('missing')
  expect(await files.look('/proc/self')).toMatchObject({ isFile: false })
  expect(await files.look(join(tmpdir(), 'missing'))).toBe('missing')
})

it('an absent path is looked up again after 50 s, an existing one at once', async ({ directory }) => {
  let now = 0
  const files = rememberAbsent(createKeyFiles(), { elapsed: () => now })
  const path = join(directory, 'node.toml')
  expect(await files.look(path)).toBe('missing')
  expect(await files.list(join(directory, 'backup'))).toBe('missing')
  await writeFile(path, 'abc')
  await mkdir(join(directory, 'backup'))
  now = 49_999
  expect(await files.look(path)).toBe('missing')
  expect(await files.list(join(directory, 'backup'))).toBe('missing')
  expect(await files.look(directory)).toMatchObject({ isFile: false })
  now = 50_000
  expect(await files.list(join(directory, 'backup'))).toEqual([])
  expect(await files.look(path)).toMatchObject({ isFile: true })
  await rm(path)
  expect(await files.look(path)).toBe('missing')
})
