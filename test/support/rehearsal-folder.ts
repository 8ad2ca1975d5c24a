import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the halves of the rehearsal put what they have seen. */
    rehearsal: string
  }
}

let folder = ''

export const setup = async ({ provide }: TestProject): Promise<void> => {
  folder = await mkdtemp(join(tmpdir(), 'chain-agent-halves-'))
  provide('rehearsal', folder)
}

export const teardown = async (): Promise<void> => rm(folder, { recursive: true })
