import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { SourceError } from '../../src/core/errors.ts'
import { checkNewFile, packArchive, writeNewFile } from '../../src/sources/archive.ts'
import { it } from '../support/directory.ts'

const AT = Date.UTC(2026, 2, 1, 12)
const NEW = Buffer.from('new')

it('the tar of any host unpacks it, to the byte', async ({ directory }) => {
  const texts = [
    { name: 'a/empty', text: '' },
    { name: 'a/b/signs', text: 'é⏎\n'.repeat(5000) },
    { name: `a/${'long'.repeat(30)}`, text: 'x'.repeat(512) },
  ]
  const file = join(directory, 'x.tar.gz')
  await writeNewFile(file, await packArchive(texts, AT))
  await promisify(execFile)('tar', ['-xzf', file, '-C', directory])
  for (const { name, text } of texts) {
    expect(await readFile(join(directory, name), 'utf8')).toBe(text)
    const { mode, mtimeMs } = await stat(join(directory, name))
    expect([mode & 0o777, mtimeMs]).toEqual([0o600, AT])
  }
})

it('a new file is private, and no temporary file is left', async ({ directory }) => {
  const file = join(directory, 'x')
  await writeNewFile(file, NEW)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(directory)).toEqual(['x'])
})

it('nothing is overwritten, not through a link either', async ({ directory }) => {
  const precious = join(directory, 'precious')
  await writeFile(precious, 'precious')
  await symlink(precious, join(directory, 'link.partial'))
  await symlink(precious, join(directory, 'other'))
  await mkdir(join(directory, 'folder'))
  const before = (await readdir(directory)).toSorted()
  for (const [name, happened] of [
    ['precious', 'the file already exists'],
    ['other', 'the file already exists'],
    ['folder', 'the file already exists'],
    ['link', 'link.partial: the file already exists'],
    ['no/such/place', 'there is no such directory'],
  ] as const) {
    await expect(checkNewFile(join(directory, name))).rejects.toThrow(happened)
    const writing = writeNewFile(join(directory, name), NEW)
    await expect(writing).rejects.toThrow(SourceError)
    await expect(writing).rejects.toThrow(happened)
  }
  expect(await readFile(precious, 'utf8')).toBe('precious')
  expect((await readdir(directory)).toSorted()).toEqual(before)
})
