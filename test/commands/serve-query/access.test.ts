import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { readApiKeys } from '../../../query/commands/serve-query/serve-query.ts'
import { it as directoryTest } from '../../support/directory.ts'

const it = directoryTest
  .extend('file', ({ directory }) => join(directory, 'keys'))
  .extend('read', ({ file }) => async (text: string): Promise<readonly string[]> => {
    await writeFile(file, text)
    return (await readApiKeys(file)).map((key) => key.reveal())
  })
const [ONE, TWO] = ['a'.repeat(32), 'Bc-9_'.repeat(4)]

it('has one key per line, without duplicates, and comments', async ({ read }) => {
  expect(await read(`# of the first client\n${ONE}\r\n\n  ${TWO}\n${ONE}\n`)).toEqual([ONE, TWO])
})

it.for<[string, string, RegExp]>([
  ['nothing', '', /it is empty/],
  ['remarks alone', '# none yet\n', /the file has no keys/],
  ['a short one', `\n\n${ONE}\nhunter2\n`, /line 4 is not a valid key/],
  ['one with a space', `${ONE} ${TWO}\n`, /line 1 is not a valid key/],
  ['more than anybody gives out', `${ONE}\n`.repeat(40_000), /it is larger than 0.95 MiB/],
])('with %s is rejected, and its content is not shown', async ([, text, words], { read }) => {
  const error: unknown = await read(text).catch((thrown: unknown) => thrown)
  expect(String(error)).toMatch(words)
  expect(String(error)).toMatch(/what to do: write/)
  expect(String(error)).not.toMatch(/hunter2|aaaa|Bc-9/)
})

it('that does not exist is named', async ({ directory }) => {
  await expect(readApiKeys(join(directory, 'none'))).rejects.toThrow(/none: there is no such file or directory\n/)
})
