import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { startDemo } from '../support/agent.ts'
import { installed } from '../support/installed.ts'
import { must, run } from '../support/programs.ts'
import { requireRealPart } from '../support/real-parts.ts'

/** A limit only catches a hang: the tests take minutes. */
const SLOW = 7_200_000
const HERE = import.meta.dirname
/** The oldest that `engines` of package.json permits, and the release line between it and that of the Debian package. */
const NODES = ['node20', 'node22'] as const
const programOf = (name: string): string => join(HERE, 'node_modules', name, 'bin/node')
const versionOf = async (name: string): Promise<string> => (await must(programOf(name), ['--version'])).slice(1)

const describe = await requireRealPart('nodes', async () => {
  if (process.arch !== 'x64') return { missing: `the other Nodes are for x64, not ${process.arch}` }
  await installed(HERE)
  return { version: (await Promise.all(NODES.map(versionOf))).join(', ') }
})

/**
 * Folders whose code only computes: text to values, values to texts, integers. They call nothing of Node.js that
 * differs between versions. The others use files, processes, streams, sockets, timers, compression or cryptography.
 * `support` has the tests of test helpers.
 */
const ONLY_COMPUTE = new Set([
  'dashboard-builders',
  'dashboard-pictures',
  'deploy',
  'parsers',
  'collectors',
  'config',
  'health',
  'fuzz',
  'tokens',
  'support',
])
const FOLDERS = (await readdir('test', { withFileTypes: true }))
  .filter((entry) => entry.isDirectory() && !ONLY_COMPUTE.has(entry.name))
  .map(({ name }) => `test/${name}/`)

describe.each(NODES)('under %s', (name) => {
  it('the unit tests pass', { timeout: SLOW }, async () => {
    const vitest = resolve('node_modules/vitest/vitest.mjs')
    const args = [vitest, 'run', '--project', 'unit', ...FOLDERS]
    const { code, stdout, stderr } = await run(programOf(name), args, { timeout: SLOW })
    expect(stdout, stderr).toMatch(/\n\d+ passed, 0 failed(?:, \d+ skipped)?$/)
    expect(code).toBe(0)
  })

  it('the agent watches a node', async () => {
    const demo = await startDemo('healthy', programOf(name))
    try {
      const { value } = await demo.see(
        (seen) => seen,
        (seen) => (seen.value('chain_rpc_block_number', { tag: 'latest' }) ?? 0) > 0,
      )
      expect(value('chain_agent_build_info', { node_version: await versionOf(name) })).toBe(1)
    } finally {
      await demo.stop()
    }
  })
})
