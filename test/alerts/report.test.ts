import { expect } from 'vitest'
import { z } from 'zod'
import { ALERTMANAGERS, requireAlertmanager, startAlertmanager } from '../support/alertmanager.ts'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { openHost } from '../support/host.ts'
import { receiving } from '../support/http.ts'
import { readConfig } from './listeners.ts'

const messageSchema = z.object({
  receiver: z.string(),
  status: z.string(),
  commonLabels: z.record(z.string(), z.string()),
  commonAnnotations: z.object({ summary: z.string(), description: z.string() }),
})
const routesSchema = z.looseObject({ routes: z.array(z.looseObject({ matchers: z.array(z.string()) })) })
const resolvedSchema = z.object({ slack_configs: z.array(z.object({ send_resolved: z.boolean() })).optional() })

for (const version of ALERTMANAGERS) {
  const describe = await requireAlertmanager(version)
  describe(`report --send with Alertmanager ${version}`, () => {
    it('is one message of the rows of the page, and none when it ends', async ({ directory, onTestFinished }) => {
      const { url, bodies, close } = await receiving()
      onTestFinished(close)
      const { route, receivers, time_intervals: intervals } = await readConfig()
      const { routes } = routesSchema.parse(route)
      const report = routes.find(({ matchers }) => matchers.includes('digest="true"'))
      const hook = (name: string, isEndSent: boolean) => ({
        name,
        webhook_configs: [{ url, send_resolved: isEndSent }],
      })
      const config = {
        // The alert ends by the clock of Alertmanager.
        global: { resolve_timeout: '1s' },
        time_intervals: intervals,
        route: {
          ...route,
          routes: [
            { ...report, group_interval: '1s', continue: true },
            { ...report, group_interval: '1s', receiver: 'with the end' },
            ...routes.filter((one) => one !== report),
          ],
        },
        receivers: [
          ...receivers.map((one) =>
            hook(one.name, resolvedSchema.parse(one).slack_configs?.every((slack) => slack.send_resolved) ?? true),
          ),
          hook('with the end', true),
        ],
      }
      const { address, stop } = await startAlertmanager(directory, config, { version })
      onTestFinished(async () => stop())

      const host = await openHost({ scenario: 'service-crash', second: 300 })
      const settings = ['--set', `alertmanagers.urls=["http://${address}"]`, '--set', 'alertmanagers.instance=node-a']
      const { code, out, err } = await host.run(['report', '--send', ...settings])
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toMatch(new RegExp(`\n\nSent to Alertmanager:\n {2}${address} {2}accepted\n$`))

      const messages = () => bodies.map((body) => messageSchema.parse(JSON.parse(body)))
      const to = (receiver: string) => messages().filter((one) => one.receiver === receiver)
      await eventually(
        () => to('with the end').map(({ status }) => status),
        (statuses) => statuses.includes('resolved'),
      )
      const [message, ...others] = to('digest')
      expect([message?.status, others, bodies.length]).toEqual(['firing', [], 3])
      expect(message?.commonLabels).toEqual({
        alertname: 'ChainReport',
        severity: 'info',
        component: 'agent',
        job: 'chain-agent',
        instance: 'node-a',
        digest: 'true',
      })
      const { summary = '', description = '' } = message?.commonAnnotations ?? {}
      expect(summary).toMatch(/^Report of 7 d: \d warning incident/)
      expect(description).toMatch(/^availability: .*\nown rounds: .*\nrestarts: .*\nincidents: /)
    })
  })
}

it('an Alertmanager that rejects it is exit code 1, and none at all a usage error', async ({ onTestFinished }) => {
  const rejecting = await receiving(401)
  onTestFinished(rejecting.close)
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false })
  const rejected = await host.run(['report', '--send', '--json', '--set', `alertmanagers.urls=["${rejecting.url}"]`])
  expect(rejected.code).toBe(1)
  expect(JSON.parse(rejected.out)).toMatchObject({
    incidents: null,
    sent: { [new URL(rejecting.url).host]: 'refused: HTTP status 401' },
  })
  const none = await host.run(['report', '--send'])
  expect(none).toMatchObject({ code: 2, out: '' })
  expect(none.err).toContain('There is no Alertmanager to send the report to: set alertmanagers.urls.')
})
