import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { type Host, startHost } from '../support/host.ts'
import { VERDICTS } from './verdicts.ts'

let host: Host | undefined
afterEach(async () => {
  await host?.close()
  host = undefined
})

describe.each(VERDICTS)('$name', ({ says, exitCode, ...world }) => {
  test('check asks the node, and says so first', async () => {
    host = await startHost(world)
    const { code, out } = await host.run(['check'])
    expect({ first: out.split('\n')[0], code }).toEqual({ first: says, code: exitCode })
  })
  test.runIf(world.agent)('status has the same of the agent', async () => {
    host = await startHost(world)
    const { code, out } = await host.run(['status'])
    expect({ first: out.split('\n')[0], code }).toEqual({ first: says, code: 0 })
  })
})

test('docs/check.md shows them all', () => {
  const page = readFileSync(new URL('../../docs/check.md', import.meta.url), 'utf8')
  for (const { says, exitCode } of VERDICTS) {
    const row = page.split('\n').find((line) => line.includes(`\`${says}\``))
    expect(row, says).toMatch(new RegExp(`\\| ${exitCode} +\\|$`))
  }
})
