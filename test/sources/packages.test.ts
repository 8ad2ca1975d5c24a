import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { createPackageLists } from '../../src/sources/packages.ts'
import { temporaryFolder } from '../support/directory.ts'

const base = await temporaryFolder()
let root = ''
beforeEach(async () => {
  root = await mkdtemp(join(base, 'apt-'))
})

const write = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(join(root, path), text)
}
const LISTS = 'var/lib/apt/lists'
const stanza = (name: string, version: string, more = ''): string =>
  `Package: ${name}\nVersion: ${version}\nDescription: of ${name}\nArchitecture: amd64\n${more}\n`
const { signal } = new AbortController()

test('the stanzas of one package in all lists, at the beginning, in the middle and at the end', async () => {
  await write(`${LISTS}/a_Packages`, stanza('zephyr', '1.0') + stanza('zephyrs', '7.0') + stanza('zephyr', '2.0'))
  await write(`${LISTS}/b_Packages`, `${stanza('chrony', '4.0')}Package: zephyr\nVersion: 3.0`)
  await write(`${LISTS}/b_InRelease`, stanza('zephyr', '8.0'))
  await write(`${LISTS}/c_Packages.lz4`, 'compressed')
  const found = await createPackageLists(root).read('zephyr', signal)
  expect(found?.stanzas.map((text) => /Version: (.*)/.exec(text)?.[1])).toEqual(['1.0', '2.0', '3.0'])
  expect(found?.compressed).toBe(1)
})

test('a stanza at any place of the chunks, after megabytes of others', async () => {
  const CHUNK = 256 * 1024
  // Each stanza begins some bytes further from the boundary of a chunk: before, across and behind it.
  for (let distance = -25; distance <= 25; distance += 1) {
    const begin = stanza('filler', '1', ' '.repeat(3))
    const padding = `${'x'.repeat(CHUNK + distance - begin.length - 2)}\n\n`
    await write(`${LISTS}/a_Packages`, `${begin}${padding}${stanza('zephyr', '2.0')}${stanza('last', '1')}`)
    const found = await createPackageLists(root).read('zephyr', signal)
    expect(found?.stanzas, `${distance}`).toEqual(['Version: 2.0\nArchitecture: amd64'])
  }
})

test('a list is read again when it was replaced, and only then', async () => {
  await write(`${LISTS}/a_Packages`, stanza('zephyr', '1.0'))
  const lists = createPackageLists(root)
  const versions = async () => (await lists.read('zephyr', signal))?.stanzas.map((text) => text.split('\n')[0])
  expect(await versions()).toEqual(['Version: 1.0'])
  await write(`${LISTS}/new`, stanza('zephyr', '2.0'))
  await rename(join(root, LISTS, 'new'), join(root, LISTS, 'a_Packages'))
  expect(await versions()).toEqual(['Version: 2.0'])
  await rm(join(root, LISTS, 'a_Packages'))
  expect(await versions()).toEqual([])
})

test('preferences: those of the directory in the order of their names, then the file; other names are ignored', async () => {
  await mkdir(join(root, LISTS), { recursive: true })
  await write('etc/apt/preferences', 'main')
  await write('etc/apt/preferences.d/b.pref', 'b')
  await write('etc/apt/preferences.d/a', 'a')
  await write('etc/apt/preferences.d/a.pref.bak', 'ignored')
  expect((await createPackageLists(root).read('zephyr', signal))?.preferences).toEqual(['a', 'b', 'main'])
})

test('a host without apt has no lists', async () => {
  expect(await createPackageLists(root).read('zephyr', signal)).toBeNull()
})

test('a list that cannot be read is an error', async () => {
  await mkdir(join(root, LISTS, 'a_Packages'), { recursive: true })
  await expect(createPackageLists(root).read('zephyr', signal)).rejects.toThrow('it is a directory')
})
