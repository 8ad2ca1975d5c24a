import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Host, startHost } from '../support/host.ts'
import { VERDICTS } from './verdicts.ts'

describe.each(VERDICTS)('$name', ({ says, exitCode, ...world }) => {
  let host: Host
  beforeAll(async () => {
    host = await startHost(world)
  })
  afterAll(async () => {
    await host.close()
  })
  // Status first: it takes no time, where check looks twice.
  test.runIf(world.agent)('status reports the verdict of the agent', async () => {
    const { code, out } = await host.run(['status'])
    expect({ first: out.split('\n')[0], code }).toEqual({ first: says, code: 0 })
  })
  test('check asks the node, and reports the verdict first', async () => {
    const { code, out } = await host.run(['check'])
    expect({ first: out.split('\n')[0], code }).toEqual({ first: says, code: exitCode })
  })
})

test('docs/check.md shows them all', () => {
  const page = readFileSync(new URL('../../docs/check.md', import.meta.url), 'utf8')
  for (const { says, exitCode } of VERDICTS) {
    const row = page.split('\n').find((line) => line.includes(`\`${says}\``))
    expect(row, says).toMatch(new RegExp(`\\| ${exitCode} +\\|$`))
  }
})
