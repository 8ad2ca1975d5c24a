import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { expect } from 'vitest'
import { z } from 'zod'
import { probeAlertmanager, startAlertmanager } from '../support/alertmanager.ts'
import { cli } from '../support/cli.ts'
import { it } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { requireRealPart } from '../support/real-parts.ts'

const VERSIONS = ['0.25', '0.33'] as const

/** A receiver that answers with this status. */
const listen = async (status: number) => {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      bodies.push(body)
      response.writeHead(status).end()
    })
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${port}/`, bodies, close: (): void => void server.close() }
}

const webhook = (url: string) => ({ webhook_configs: [{ url }] })

const messageSchema = z.object({
  alerts: z.array(z.object({ status: z.string(), labels: z.record(z.string(), z.string()) })),
})

for (const version of VERSIONS) {
  const describe = await requireRealPart(`Alertmanager ${version}`, async () => probeAlertmanager(version))
  describe(`alert test with Alertmanager ${version}`, () => {
    it('reports which receivers it reaches', async ({ directory, onTestFinished }) => {
      const [good, bad] = await Promise.all([listen(200), listen(401)])
      onTestFinished(good.close)
      onTestFinished(bad.close)
      const config = {
        route: {
          receiver: 'phone',
          group_by: ['alertname', 'severity'],
          group_wait: '100ms',
          routes: [
            { matchers: ['severity="warning"'], receiver: 'wrong-key' },
            { matchers: ['severity="info"'], receiver: 'nobody' },
          ],
        },
        receivers: [
          { name: 'phone', ...webhook(good.url) },
          { name: 'wrong-key', ...webhook(bad.url) },
          { name: 'nobody' },
        ],
      }
      const file = join(directory, 'alertmanager.yml')
      await writeFile(file, stringify(config))
      const { address, stop } = await startAlertmanager(file, join(directory, 'data'), version)
      onTestFinished(async () => stop())
      const test = async (...args: readonly string[]) =>
        cli(['alert', 'test', '--alertmanager', `http://${address}`, '--set', 'alertmanagers.instance=node-a', ...args])

      const reached = await test()
      expect(reached.code, reached.err).toBe(0)
      expect(reached.out).toMatch(/phone: webhook {2}\S+ delivered after \d+ s\n$/)
      const [message] = good.bodies.map((body) => messageSchema.parse(JSON.parse(body)))
      expect(message?.alerts).toMatchObject([
        {
          status: 'firing',
          labels: { alertname: 'ChainTest', severity: 'critical', job: 'chain-agent', instance: 'node-a' },
        },
      ])

      const refused = await test('--severity', 'warning', '--json')
      expect(refused.code).toBe(1)
      expect(JSON.parse(refused.out)).toMatchObject({
        alertmanagers: [
          {
            deliveries: [{ receiver: 'wrong-key', integration: 'webhook', state: 'failed', seconds: null }],
            problem: expect.stringContaining('not delivered'),
          },
        ],
        exitCode: 1,
      })

      const nobody = await test('--severity', 'info')
      expect(nobody.code).toBe(1)
      expect(nobody.out).toContain('nobody has no integration')
    })
  })
}
