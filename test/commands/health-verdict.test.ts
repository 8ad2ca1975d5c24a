import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Host, startHost } from '../support/host.ts'
import { HEALTH_VERDICTS } from './health-verdicts.ts'

describe.each(HEALTH_VERDICTS)('$name', ({ summary, exitCode, ...world }) => {
  let host: Host
  beforeAll(async () => {
    host = await startHost(world)
    return host.close
  })
  // Status first: it takes no time, while check runs two rounds. It reports the health verdict of the agent.
  test.each(world.agent ? ['status', 'check'] : ['check'])('%s reports the health verdict first', async (command) => {
    const { code, out } = await host.run([command])
    expect({ first: out.split('\n')[0], code }).toEqual({ first: summary, code: command === 'check' ? exitCode : 0 })
  })
})

test('docs/explanation/health.md lists all of them', () => {
  const page = readFileSync(new URL('../../docs/explanation/health.md', import.meta.url), 'utf8')
  for (const { summary, exitCode } of HEALTH_VERDICTS) {
    const rows = page.split('\n').filter((line) => line.includes(`\`${summary}\``))
    expect(rows.join('\n'), summary).toMatch(new RegExp(`\\| ${exitCode} +\\|$`, 'm'))
  }
})
