import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { listIncidents, writeIncidentFile } from '../../src/sources/incident-files.ts'
import { it } from '../support/directory.ts'

it('what is no regular file is neither listed nor removed', async ({ directory }) => {
  await symlink('/nonexistent', join(directory, '20260101-000000.json'))
  await mkdir(join(directory, '20260101-000001.json'))
  await mkdir(join(directory, '20260101-000002.json.new'))
  await writeFile(join(directory, '20260101-000003.json.new'), '{"id":"2026')
  expect(await listIncidents(directory)).toEqual([])
  const ids = Array.from({ length: 21 }, (_, index) => `20260301-1200${`${index}`.padStart(2, '0')}`)
  let own: readonly string[] = []
  for (const id of ids) own = await writeIncidentFile(directory, { id, text: '{}' }, new Set(own))
  expect(own.toSorted()).toEqual(ids.slice(1))
  expect((await listIncidents(directory)).map(({ id }) => id)).toEqual(ids.slice(1))
  expect((await readdir(directory)).filter((name) => name.startsWith('20260101')).toSorted()).toEqual([
    '20260101-000000.json',
    '20260101-000001.json',
    '20260101-000002.json.new',
  ])
})
