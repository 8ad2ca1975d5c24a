import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'

/** Tests with an empty directory that is removed afterwards. */
export const it = test.extend('directory', async ({ onTestFinished }) => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-test-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
})
