import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder into which each part of the scenarios writes which metrics it covered. */
    coverage: string
  }
}

let folder = ''

export const setup = async ({ provide }: TestProject): Promise<void> => {
  folder = await mkdtemp(join(tmpdir(), 'chain-agent-coverage-'))
  provide('coverage', folder)
}

export const teardown = async (): Promise<void> => rm(folder, { recursive: true })
