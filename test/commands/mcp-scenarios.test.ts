import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type Watched, startDemo } from '../support/agent.ts'
import { eventually } from '../support/eventually.ts'
import { openMcp } from '../support/mcp.ts'

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

it('diagnosis, metrics, incident and runbook lead to the cause of a panic', async () => {
  const demo = await startDemo('panic', process.execPath, '20s')
  onTestFinished(async () => demo.stop())
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
