import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { type Watched, startDemo } from '../support/agent.ts'
import { eventually } from '../support/eventually.ts'
import { openHost } from '../support/host.ts'
import { openMcp } from '../support/mcp.ts'
import { leaksOf, PLANTED } from '../support/secrets.ts'

const diagnosisSchema = z.object({
  verdict: z.object({ word: z.string(), exitCode: z.number() }),
  findings: z.array(z.object({ name: z.string(), advice: z.array(z.string()) })),
})
const linesSchema = z.object({ lines: z.array(z.string()), absent: z.array(z.string()) })

/** What the demo prints for a second terminal. */
const settingsOf = (demo: Watched) => {
  const [, path = ''] = /export PATH=(\S+):\$PATH/.exec(demo.output()) ?? []
  const [, config = ''] = /export CHAIN_AGENT_CONFIG=(\S+)/.exec(demo.output()) ?? []
  return { config, path: `${path}:${process.env['PATH']}` }
}

describe('consensus panics', () => {
  let demo: Watched
  beforeAll(async () => {
    demo = await startDemo('panic', process.execPath, '20s')
  })
  afterAll(async () => demo.stop())

  it('diagnosis, metrics, incident and runbook lead to the cause', async () => {
    const { call } = await openMcp(settingsOf(demo))
    const { data, ageSeconds } = await eventually(
      () => call('diagnosis'),
      ({ text }) => text.includes('ChainServiceDown.failed'),
    )
    const { verdict, findings } = diagnosisSchema.parse(data)
    expect(verdict).toMatchObject({ word: 'CRITICAL', exitCode: 2 })
    expect(findings[0]).toMatchObject({ name: 'ChainServiceDown.failed' })
    expect(z.object({ services: z.number() }).parse(ageSeconds).services).toBeLessThan(60)

    const metrics = await call('metrics', {
      names: ['chain_service_active', 'chain_rpc_down'],
      prefix: 'chain_service_last_',
    })
    const { lines, absent } = linesSchema.parse(metrics.data)
    expect(lines).toContain('chain_service_active{service="bft"} 0')
    expect(lines).toContain('chain_service_last_exit_status{service="bft"} 6')
    expect(absent).toEqual(['chain_rpc_down'])

    const incident = await eventually(
      () => call('incident'),
      ({ text }) => text.includes('panicked'),
    )
    expect(incident.text).toContain('status=6/ABRT')
    expect(incident.text.length).toBeLessThanOrEqual(48 * 1024)

    expect((await call('runbook', { alert: 'ChainServiceDown.failed' })).text).toContain('journalctl')
  })
})

test('no answer has a planted secret', async () => {
  const host = await openHost({ scenario: 'panic', second: 0, hasSecrets: true })
  for (let second = 0; second < 75; second += 1) await host.second()
  const calls = [
    { name: 'diagnosis' },
    { name: 'metrics' },
    { name: 'metrics', arguments: { prefix: 'chain_' } },
    { name: 'incident' },
    { name: 'incident', arguments: { id: 'list' } },
    { name: 'runbook' },
    { name: 'duties' },
  ]
  const lines = calls.map((params, id) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }))
  for (const [id, line] of lines.entries()) {
    const { code, out, err } = await host.run(['mcp'], { stdin: line })
    expect([code, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toMatchObject({ id, result: { isError: false } })
    expect(leaksOf(PLANTED)(out)).toEqual([])
  }
})
