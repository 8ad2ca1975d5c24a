import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'

const make = async (): Promise<string> => mkdtemp(join(tmpdir(), 'chain-agent-test-'))
const remove = async (directory: string): Promise<void> => rm(directory, { recursive: true, force: true })

/** Tests with an empty directory that is removed afterwards. */
export const it = test.extend('directory', async ({ onTestFinished }) => {
  const directory = await make()
  onTestFinished(async () => remove(directory))
  return directory
})

/** A directory for all tests of a file, removed after them. Called at the top of the file. */
export const temporaryFolder = async (): Promise<string> => {
  const directory = await make()
  afterAll(async () => remove(directory))
  return directory
}
