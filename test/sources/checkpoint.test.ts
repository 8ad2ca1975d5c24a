import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createCheckpoints } from '../../src/sources/checkpoint.ts'
import { temporaryFolder } from '../support/directory.ts'

const directory = await temporaryFolder()

test('what was saved is read, the newest value winning', async () => {
  const complaints: Error[] = []
  const checkpoints = createCheckpoints(join(directory, 'deep', 'state'), (error) => complaints.push(error))
  const place = checkpoints.open('ledger')
  expect(await place.read()).toEqual({ state: 'none' })
  for (let turn = 0; turn < 100; turn += 1) void place.save({ turn, big: 2n ** 60n })
  await checkpoints.flush()
  expect(await place.read()).toEqual({
    state: 'saved',
    value: { turn: 99, big: '1152921504606846976' },
  })
  expect(await readdir(join(directory, 'deep', 'state'))).toEqual(['ledger.json'])
  expect(complaints).toEqual([])
})
test('a name has one checkpoint, and reading waits for what is being written', async () => {
  const checkpoints = createCheckpoints(join(directory, 'again'), () => undefined)
  const before = checkpoints.open('ledger')
  for (let turn = 0; turn < 3; turn += 1) void before.save({ turn })
  expect(await checkpoints.open('ledger').read()).toEqual({ state: 'saved', value: { turn: 2 } })
})
test('a truncated document is unreadable, not missing, and is reported', async () => {
  const complaints: Error[] = []
  const checkpoints = createCheckpoints(directory, (error) => complaints.push(error))
  await writeFile(join(directory, 'broken.json'), '{"cursor":"s=1')
  for (let turn = 0; turn < 2; turn += 1) {
    expect(await checkpoints.open('broken').read()).toEqual({ state: 'unreadable' })
  }
  expect(complaints.map(({ message }) => message)).toEqual([
    expect.stringMatching(/\/broken\.json: Unterminated string in JSON/),
  ])
})
test.each([
  ['{"alerts":[{"startsAt":1e300}]}', 'unreadable'],
  ['{"at":-8640000000000001}', 'unreadable'],
  ['{"at":8640000000000000}', 'saved'],
])('a number that is no time of a Date: %s is %s', async (text, state) => {
  await writeFile(join(directory, 'edited.json'), text)
  const edited = createCheckpoints(directory, () => undefined).open('edited')
  expect(await edited.read()).toMatchObject({ state })
})
test('a directory of which nothing can be read or written is reported once', async () => {
  const complaints: string[] = []
  const checkpoints = createCheckpoints(join(directory, 'loop'), ({ message }) => {
    complaints.push(message)
  })
  await symlink('loop', join(directory, 'loop'))
  for (const name of ['a', 'b']) {
    expect(await checkpoints.open(name).read()).toEqual({ state: 'unreadable' })
    await checkpoints.open(name).save(1)
  }
  expect(complaints).toEqual([expect.stringContaining('ELOOP')])
  await rm(join(directory, 'loop'))
  await checkpoints.open('a').save(1)
  await rm(join(directory, 'loop'), { recursive: true })
  await symlink('loop', join(directory, 'loop'))
  await checkpoints.open('a').save(1)
  expect(complaints).toHaveLength(2)
  await rm(join(directory, 'loop'))
})
test('a directory that cannot be written is reported once and blocks no caller', async () => {
  const file = join(directory, 'a-file')
  await writeFile(file, 'keep me')
  const complaints: Error[] = []
  const checkpoints = createCheckpoints(file, (error) => complaints.push(error))
  void checkpoints.open('a').save(1)
  void checkpoints.open('b').save(2)
  await checkpoints.flush()
  expect(complaints).toHaveLength(1)
  expect(await readFile(file, 'utf8')).toBe('keep me')
  expect(checkpoints.isSaved()).toBe(false)
  await rm(file)
  await checkpoints.open('a').save(3)
  expect(checkpoints.isSaved()).toBe(true)
  await rm(file, { recursive: true })
})

test('whether state is saved is unknown before the first attempt', () => {
  expect(createCheckpoints(directory, () => undefined).isSaved()).toBeNull()
})

test('a document of more than 16 MiB is not read, which is reported once', async () => {
  await writeFile(join(directory, 'large.json'), JSON.stringify('x'.repeat(16 * 1_048_576)))
  const complaints: string[] = []
  const large = createCheckpoints(directory, ({ message }) => complaints.push(message)).open('large')
  expect([await large.read(), await large.read()]).toEqual([{ state: 'unreadable' }, { state: 'unreadable' }])
  expect(complaints).toEqual([`${join(directory, 'large.json')}: it is larger than 16.00 MiB`])
})
