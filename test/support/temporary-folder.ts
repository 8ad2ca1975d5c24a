import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A folder for the tests of a file, removed after them. Called at the top of the file. */
export const temporaryFolder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'chain-agent-test-'))
  afterAll(async () => {
    await rm(path, { recursive: true, force: true })
  })
  return path
}
