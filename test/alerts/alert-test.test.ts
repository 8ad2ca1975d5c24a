import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { expect } from 'vitest'
import { z } from 'zod'
import { ALERTMANAGERS, probeAlertmanager, startAlertmanager } from '../support/alertmanager.ts'
import { cli } from '../support/cli.ts'
import { it } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { requireRealPart } from '../support/real-parts.ts'

/** A receiver that returns this status. */
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

const messageSchema = z.object({
  alerts: z.array(z.object({ status: z.string(), labels: z.record(z.string(), z.string()) })),
})

const resultSchema = z.object({
  alertmanagers: z.array(
    z.object({
      deliveries: z.array(z.object({ receiver: z.string(), state: z.string(), seconds: z.number().nullable() })),
      problem: z.string().nullable(),
    }),
  ),
  heartbeat: z.string().nullable(),
  exitCode: z.number(),
})

for (const version of ALERTMANAGERS) {
  const describe = await requireRealPart(`Alertmanager ${version}`, async () => probeAlertmanager(version))
  describe(`alert test with Alertmanager ${version}`, () => {
    it('reports which receivers it reaches', async ({ directory, onTestFinished }) => {
      const [good, failing, rejecting] = await Promise.all([listen(200), listen(500), listen(401)])
      for (const { close } of [good, failing, rejecting]) onTestFinished(close)
      const receivers = {
        phone: [good.url],
        rejecting: [rejecting.url],
        failing: [failing.url],
        // Nothing listens there.
        refused: [`http://127.0.0.1:${await freePort()}/`],
        mixed: [good.url, rejecting.url],
      }
      const config = {
        route: {
          receiver: 'phone',
          group_by: ['alertname'],
          group_wait: '100ms',
          routes: [
            ...Object.keys(receivers).map((receiver) => ({ matchers: [`to="${receiver}"`], receiver })),
            { matchers: ['severity="info"'], receiver: 'none' },
          ],
        },
        receivers: [
          { name: 'none' },
          ...Object.entries(receivers).map(([name, urls]) => ({ name, webhook_configs: urls.map((url) => ({ url })) })),
        ],
      }
      const file = join(directory, 'alertmanager.yml')
      await writeFile(file, stringify(config))
      const { address, stop } = await startAlertmanager(file, join(directory, 'data'), version)
      onTestFinished(async () => stop())
      const test = async (...args: readonly string[]) =>
        cli(['alert', 'test', '--alertmanager', `http://${address}`, '--set', 'alertmanagers.instance=node-a', ...args])
      const resultTo = async (receiver: string) => {
        const { code, out } = await test('--json', '--set', `alertmanagers.labels={to: ${receiver}}`)
        const { alertmanagers, exitCode } = resultSchema.parse(JSON.parse(out))
        expect(exitCode).toBe(code)
        const [result] = alertmanagers
        return { code, states: result?.deliveries.map(({ state }) => state), problem: result?.problem }
      }

      const reached = await test()
      expect(reached.code, reached.err).toBe(0)
      expect(reached.out).toMatch(/phone: webhook {2}\S+ delivered after \d+ s\n$/)
      const [message] = good.bodies.map((body) => messageSchema.parse(JSON.parse(body)))
      expect(message?.alerts).toMatchObject([
        { status: 'firing', labels: { severity: 'critical', job: 'chain-agent', instance: 'node-a' } },
      ])
      expect(message?.alerts[0]?.labels['alertname']).toMatch(/^ChainTest \d{4}-/)

      // One that returns 401 is not tried again; the others are, and the command does not wait for the end of that.
      const notDelivered = /^not delivered: .* `journalctl -u prometheus-alertmanager`$/
      for (const receiver of ['rejecting', 'failing', 'refused']) {
        const { problem, ...rest } = await resultTo(receiver)
        expect(rest, receiver).toEqual({ code: 1, states: ['failed'] })
        expect(problem).toMatch(notDelivered)
      }
      // Only their number shows that one of two webhooks was not reached.
      expect(await resultTo('mixed')).toMatchObject({ code: 1, states: ['failed', 'failed'] })

      const none = await test('--severity', 'info')
      expect(none.code).toBe(1)
      expect(none.out).toContain('the alert is not sent: none has no integration')
    })
  })
}

it('an Alertmanager that is away, and a heartbeat that is not accepted', async ({ directory, onTestFinished }) => {
  const [accepting, rejecting] = await Promise.all([listen(200), listen(404)])
  for (const { close } of [accepting, rejecting]) onTestFinished(close)
  const urlFile = join(directory, 'url')
  const heartbeatTo = async (url: string, ...args: readonly string[]) => {
    await writeFile(urlFile, `${url}\n`)
    return cli(['alert', 'test', '--set', `heartbeat.urlFile=${urlFile}`, ...args])
  }
  const accepted = await heartbeatTo(accepting.url)
  expect(accepted.code).toBe(0)
  expect(accepted.out).toMatch(/heartbeat {2}\S+ accepted\n$/)
  expect(accepting.bodies.map((body): unknown => JSON.parse(body))).toMatchObject([{ test: true }])
  const rejected = await heartbeatTo(rejecting.url)
  expect(rejected.code).toBe(1)
  expect(rejected.out).toContain('refused: HTTP status 404')

  const away = await heartbeatTo(accepting.url, '--alertmanager', `http://127.0.0.1:${await freePort()}`)
  expect(away.code).toBe(1)
  expect(away.out).toContain('ECONNREFUSED')

  const nothing = await cli(['alert', 'test'])
  expect(nothing.code).toBe(2)
  expect(nothing.err).toContain('There is nothing to test: set alertmanagers.urls or heartbeat.urlFile')
})

it.for([
  ['127.0.0.1:9093', 'expected an http or https address'],
  ['localhost:9093', 'expected an http or https address'],
  ['http://user:hunter2@127.0.0.1:9093', 'expected a URL without user, query or fragment'],
])('--alertmanager %s is a usage error', async ([url, expected]) => {
  const { code, out, err } = await cli(['alert', 'test', '--alertmanager', String(url)])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(`--alertmanager: alertmanagers.urls.0: ${expected}`)
  expect(err).not.toContain('hunter2')
})
