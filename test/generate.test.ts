import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { it } from './support/directory.ts'
import { run } from './support/programs.ts'

const GENERATE = fileURLToPath(new URL('../scripts/generate.mjs', import.meta.url))

it('in an empty folder, generates what it can and names each file that a person has to write', async ({
  directory,
}) => {
  const { code, stderr } = await run(process.execPath, [GENERATE], { cwd: directory })
  expect(code).toBe(1)
  const [first, second, third, ...others] = stderr.trim().split('\n')
  // Of these it writes a part.
  expect([first, second, third]).toEqual([
    expect.stringMatching(/^alerts\/alertmanager\.yaml: ENOENT/),
    expect.stringMatching(/^CONTRIBUTING\.md: ENOENT/),
    expect.stringMatching(/^README\.md: ENOENT/),
  ])
  expect(others).toContain(
    'docs/runbooks/ChainBlockStalled.md is missing: every alert has a runbook, with the sections of the others',
  )
  expect(others.filter((line) => !/^docs\/runbooks\/Chain\w+\.md is missing: /.test(line))).toEqual([])
  // The dashboards name alerts: those of the rules that were generated before.
  expect(await readdir(join(directory, 'dashboards'))).toContain('node.json')
})
