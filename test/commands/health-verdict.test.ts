import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Host, startHost } from '../support/host.ts'
import { HEALTH_VERDICTS } from './health-verdicts.ts'

describe.each(HEALTH_VERDICTS)('$name', ({ summary, exitCode, ...world }) => {
  let host: Host
  beforeAll(async () => {
    host = await startHost(world)
  })
  afterAll(async () => {
    await host.close()
  })
  // Status first: it takes no time, while check runs two rounds.
  test.runIf(world.agent)('status reports the health verdict of the agent', async () => {
    const { code, out } = await host.run(['status'])
    expect({ first: out.split('\n')[0], code }).toEqual({ first: summary, code: 0 })
  })
  test('check reports the health verdict first', async () => {
    const { code, out } = await host.run(['check'])
    expect({ first: out.split('\n')[0], code }).toEqual({ first: summary, code: exitCode })
  })
})

test('docs/explanation/health.md lists all of them', () => {
  const page = readFileSync(new URL('../../docs/explanation/health.md', import.meta.url), 'utf8')
  for (const { summary, exitCode } of HEALTH_VERDICTS) {
    const row = page.split('\n').find((line) => line.includes(`\`${summary}\``))
    expect(row, summary).toMatch(new RegExp(`\\| ${exitCode} +\\|$`))
  }
})
