import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/core/clock.ts'
import { hour } from '../../src/core/units.ts'
import { ALERTMANAGERS, requireAlertmanager, startAlertmanager } from '../support/alertmanager.ts'
import { cli, startCli, type World } from '../support/cli.ts'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { receiving } from '../support/http.ts'

/** A receiver that returns this status and body. */
const listen = async (...answer: Parameters<typeof receiving>) => {
  const receiver = await receiving(...answer)
  onTestFinished(receiver.close)
  return receiver
}

const messageSchema = z.object({
  alerts: z.array(
    z.object({
      status: z.string(),
      labels: z.record(z.string(), z.string()),
      annotations: z.record(z.string(), z.string()),
    }),
  ),
})

const resultSchema = z.object({
  code: z.string().regex(/^\d{4}$/),
  alertmanagers: z.array(
    z.object({
      deliveries: z.array(z.object({ receiver: z.string(), state: z.string(), seconds: z.number().nullable() })),
      problem: z.string().nullable(),
    }),
  ),
  heartbeat: z.string().nullable(),
  exitCode: z.number(),
})

interface AlertmanagerOptions {
  /** Receiver → the addresses of its webhooks. */
  readonly receivers: Readonly<Record<string, readonly string[]>>
  readonly route?: object
  readonly flags?: readonly string[]
}

const NOT_DELIVERED = /^not delivered: .* `journalctl -u prometheus-alertmanager`$/

for (const version of ALERTMANAGERS) {
  const describe = await requireAlertmanager(version)
  describe(`alert test with Alertmanager ${version}`, () => {
    const start = async (directory: string, { receivers, route = {}, flags = [] }: AlertmanagerOptions) => {
      const config = {
        route: { receiver: 'phone', group_by: ['alertname'], group_wait: '1s', group_interval: '1h', ...route },
        receivers: Object.entries(receivers).map(([name, urls]) => ({
          name,
          webhook_configs: urls.map((url) => ({ url })),
        })),
      }
      const { address, stop, post, alerts: active } = await startAlertmanager(directory, config, { version, flags })
      onTestFinished(async () => stop())
      const url = `http://${address}`
      const argv = ['alert', 'test', '--alertmanager', url, '--set', 'alertmanagers.instance=node-a']
      const run = async (args: readonly string[] = [], world: World = {}) => cli([...argv, ...args], world)
      return {
        run,
        startRun: (args: readonly string[]) => startCli([...argv, ...args]),
        active: async () => z.array(z.unknown()).parse(await active()),
        json: async (args: readonly string[] = [], world: World = {}) => {
          const { code: exitCode, out } = await run(['--json', ...args], world)
          const { alertmanagers, code, ...result } = resultSchema.parse(JSON.parse(out))
          expect(result.exitCode).toBe(exitCode)
          const [tested] = alertmanagers
          return { exitCode, code, states: tested?.deliveries.map(({ state }) => state), problem: tested?.problem }
        },
        post: async (alert: object) => post([alert]),
      }
    }
    it('an interruption ends the alert', async ({ directory }) => {
      const phone = await listen(200)
      const { startRun, active } = await start(directory, {
        receivers: { phone: [phone.url] },
        route: { group_wait: '1h' },
      })
      const running = startRun(['--wait', '1h'])
      await eventually(active, (alerts) => alerts.length === 1, { within: 20_000 })
      const { code, err } = await running.interrupt()
      expect([code, err]).toEqual([1, 'Interrupted before there was a result.\n'])
      expect(await active()).toEqual([])
    })

    const other = { labels: { alertname: 'OtherAlert', severity: 'critical' } }
    const cannotTell = (code: string, reason: string) =>
      `cannot tell whether it was delivered: ${reason}. Look for ${code} on your phone: only its message shows that`

    it('names the code of the message that the receiver has accepted', async ({ directory }) => {
      const phone = await listen(200)
      const { run } = await start(directory, { receivers: { phone: [phone.url], spare: ['http://127.0.0.1:1/'] } })
      const { code, out, err } = await run()
      expect(code, out + err).toBe(0)
      const [, named] =
        /phone: webhook {2}\S+ handed to webhook after \d+ s: look for (\d{4}) on your phone\n$/.exec(out) ?? []
      const [message] = phone.bodies.map((body) => messageSchema.parse(JSON.parse(body)))
      expect(message?.alerts).toMatchObject([
        {
          status: 'firing',
          labels: { severity: 'critical', job: 'chain-agent', instance: 'node-a' },
          annotations: { summary: `test ${named} of the notifications` },
        },
      ])
      expect(message?.alerts[0]?.labels['alertname']).toMatch(/^ChainTest \d{4}-/)
      // The end of that may be sent at any time.
      const again = await run()
      expect(again.code).toBe(1)
      expect(again.out).toContain('an alert is over whose end may be sent at the same time')
    })

    it.for([
      ['rejects', 401],
      ['fails', 500],
      ['is unreachable', null],
    ] as const)('a receiver that %s', async ([, status], { directory }) => {
      // One that returns 401 is not tried again; the others are, and the command does not wait for the end of that.
      const url = status === null ? `http://127.0.0.1:${await freePort()}/` : (await listen(status)).url
      const { json } = await start(directory, { receivers: { phone: [url] } })
      const { exitCode, states, problem } = await json()
      expect([exitCode, states]).toEqual([1, ['failed']])
      expect(problem).toMatch(NOT_DELIVERED)
    })

    it('an alert that is not sent', async ({ directory }) => {
      const routes = [{ matchers: ['severity="info"'], receiver: 'none' }]
      const { run } = await start(directory, { receivers: { phone: [], none: [] }, route: { routes } })
      const none = await run(['--severity', 'info'])
      expect(none.code).toBe(1)
      expect(none.out).toContain('the alert is not sent: none has no integration')
    })

    it('another alert that was added before: its notification is no delivery of the test', async ({ directory }) => {
      const phone = await listen(200)
      const { json, post } = await start(directory, { receivers: { phone: [phone.url] }, route: { group_wait: '4s' } })
      await post(other)
      const { exitCode, code, states, problem } = await json()
      expect([exitCode, states]).toEqual([1, ['cannot tell']])
      const reason = 'other alerts are sent by webhook, too, and the metrics of Alertmanager do not name the alert'
      expect(problem).toBe(cannotTell(code, reason))
      // It has lived until it was sent.
      expect(phone.bodies.filter((body) => body.includes(`test ${code} of the notifications`))).toHaveLength(1)
    })

    it('two receivers of one kind', async ({ directory }) => {
      const [phone, dropping] = await Promise.all([listen(200), listen(401)])
      const routes = [{ receiver: 'phone', continue: true }, { receiver: 'second' }]
      const { json } = await start(directory, {
        receivers: { phone: [phone.url], second: [dropping.url] },
        route: { routes },
      })
      const { exitCode, code, states, problem } = await json()
      expect([exitCode, states]).toEqual([1, ['cannot tell', 'cannot tell']])
      const reason = 'the metrics of Alertmanager have one counter for all its receivers of the kind webhook'
      expect(problem).toBe(cannotTell(code, reason))
    })

    it('a group that was sent before: the alert lives until group_interval is over', async ({ directory }) => {
      const phone = await listen(200)
      const route = { group_by: ['severity'], group_interval: '5s' }
      const { json, post } = await start(directory, { receivers: { phone: [phone.url] }, route })
      await post(other)
      await eventually(
        () => phone.bodies.length,
        (count) => count === 1,
      )
      const { exitCode, code, states } = await json()
      expect([exitCode, states]).toEqual([1, ['cannot tell']])
      expect(phone.bodies.filter((body) => body.includes(code))).toHaveLength(1)
    })

    it('a --wait that is shorter than group_wait', async ({ directory }) => {
      const phone = await listen(200)
      const { json } = await start(directory, { receivers: { phone: [phone.url] }, route: { group_wait: '1h' } })
      const { exitCode, states, problem } = await json(['--wait', '2s'])
      expect([exitCode, states]).toEqual([1, ['waiting']])
      expect(problem).toMatch(/^not sent within 2 s: /)
    })

    it.for([-hour, hour])('a clock that is %i ms ahead of that of Alertmanager', async (ahead, { directory }) => {
      const phone = await listen(200)
      const { json } = await start(directory, { receivers: { phone: [phone.url] }, route: { group_wait: '2s' } })
      const clock = { ...systemClock, now: () => Date.now() + ahead }
      expect(await json([], { clock })).toMatchObject({ exitCode: 0, states: ['delivered'] })
    })

    if (version !== '0.25') {
      it('receivers that the metrics name', async ({ directory }) => {
        const [phone, chat] = await Promise.all([listen(200), listen(401)])
        const routes = [{ matchers: ['alertname="OtherAlert"'], receiver: 'chat' }]
        const { json, post } = await start(directory, {
          receivers: { phone: [phone.url], chat: [chat.url] },
          route: { routes },
          flags: ['--enable-feature=receiver-name-in-metrics'],
        })
        await post(other)
        expect(await json()).toMatchObject({ exitCode: 0, states: ['delivered'], problem: null })
      })
    }
  })
}

it.for([
  [200, {}, 'the alert is not accepted: refused: HTTP status 200 (Sign in with SSO)'],
  [302, { location: 'https://sso.example/login?id=1' }, 'it redirects to https://sso.example/...'],
] as const)('a sign-in page with status %i in the place of Alertmanager', async ([status, headers, expected]) => {
  const { url } = await listen(status, '<!DOCTYPE html><title>Sign in</title>with SSO', headers)
  const { code, out } = await cli(['alert', 'test', '--alertmanager', url])
  expect(code).toBe(1)
  expect(out).toContain(expected)
})

it('an Alertmanager that is away, and a heartbeat that is not accepted', async ({ directory }) => {
  const [accepting, rejecting, deleted] = await Promise.all([listen(200), listen(404), listen(200, 'OK (not found)')])
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
  const unknown = await heartbeatTo(deleted.url)
  expect(unknown.code).toBe(1)
  expect(unknown.out).toContain('refused: HTTP status 200 (OK (not found))')

  const away = await heartbeatTo(accepting.url, '--alertmanager', `http://127.0.0.1:${await freePort()}`)
  expect(away.code).toBe(1)
  expect(away.out).toContain('ECONNREFUSED')

  const nothing = await cli(['alert', 'test'])
  expect(nothing.code).toBe(2)
  expect(nothing.err).toContain('There is nothing to test: set alertmanagers.urls or heartbeat.urlFile')
})

it('--alertmanager with a password is a usage error without it', async () => {
  const { code, out, err } = await cli(['alert', 'test', '--alertmanager', 'http://user:hunter2@127.0.0.1:9093'])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('--alertmanager: alertmanagers.urls.0: expected a URL without user, query or fragment')
  expect(err).not.toContain('hunter2')
})
