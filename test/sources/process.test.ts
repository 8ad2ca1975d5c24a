import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isProcessListPublic } from '../../src/sources/process.ts'
import { temporaryFolder } from '../support/directory.ts'

const folder = await temporaryFolder()

const OPEN = 'proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0\n'
const HIDDEN = 'proc /proc proc rw,relatime,hidepid=invisible 0 0\n'

it.each([
  ['as usual', OPEN, true],
  ['hidden, by number', 'proc /proc proc rw,hidepid=2 0 0\n', false],
  ['hidden, by word', HIDDEN, false],
  ['said to be open', 'proc /proc proc rw,hidepid=off 0 0\n', true],
  ['hidden above open', OPEN + HIDDEN, false],
  ['open above hidden', HIDDEN + OPEN, true],
  ['another place alone', 'proc /srv/proc proc rw,hidepid=2 0 0\n', null],
])('%s', async (_, mounts, expected) => {
  const file = join(folder, 'mounts')
  await writeFile(file, mounts)
  expect(await isProcessListPublic(file)).toBe(expected)
})

it('is not known where there is no list of mounts', async () => {
  expect(await isProcessListPublic(join(folder, 'none'))).toBeNull()
})
