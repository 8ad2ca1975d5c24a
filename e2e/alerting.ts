import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse as parseYaml, stringify } from 'yaml'
import { z } from 'zod'
import { parseDuration } from '../src/core/units.ts'
import { type AlertmanagerVersion, startAlertmanager } from '../test/support/alertmanager.ts'
import { freePort } from '../test/support/free-port.ts'
import { start } from '../test/support/programs.ts'
import { addressOf } from '../test/alerts/files.ts'
import { prometheus } from '../test/support/prometheus.ts'

const ALERTS = join(import.meta.dirname, '../alerts')

/** One notice of an alert at the webhook. */
export interface Notice {
  readonly alert: string
  readonly severity: string
  readonly instance: string
  readonly status: 'firing' | 'resolved'
  /** Receiver and group of the message: alerts of one group arrive together. */
  readonly receiver: string
  readonly group: string
  /** Of its labels. */
  readonly fingerprint: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface Alerting {
  /** HOST:PORT of Alertmanager. */
  readonly address: string
  /** All notices so far, for any receiver. */
  notices(): readonly Notice[]
  /** Replaces the targets. */
  scrape(targets: readonly string[]): Promise<void>
  close(): Promise<void>
}

const rulesSchema = z.object({
  groups: z.array(z.looseObject({ rules: z.array(z.looseObject({ for: z.string().optional() })) })),
})
const configSchema = z.looseObject({
  receivers: z.array(z.object({ name: z.string() }).loose()),
  route: z.looseObject({}),
})
const noticeSchema = z.object({
  receiver: z.string(),
  groupKey: z.string(),
  alerts: z.array(
    z.object({
      status: z.enum(['firing', 'resolved']),
      labels: z.record(z.string(), z.string()),
      fingerprint: z.string(),
    }),
  ),
})

/** Divisor for every `for`, and its maximum in seconds: only for these tests. */
const SPEEDUP = 10
const LONGEST_S = 20

/** The shipped rules, evaluated every second, with every `for` a tenth as long, at most 20 s. */
const shortenRules = (text: string): string => {
  const { groups } = rulesSchema.parse(parseYaml(text))
  const shorter = (duration: string): string =>
    `${Math.min(LONGEST_S, Math.max(1, Math.round((parseDuration(duration) ?? 0) / 1000 / SPEEDUP)))}s`
  return stringify({
    groups: groups.map((group) => ({
      ...group,
      interval: '1s',
      rules: group.rules.map((rule) => (rule.for === undefined ? rule : { ...rule, for: shorter(rule.for) })),
    })),
  })
}

/** The shipped routes and inhibitions, by default without group_wait; every receiver is the webhook of the test. */
const toWebhook = (
  text: string,
  { webhook, isShipped }: { readonly webhook: string; readonly isShipped: boolean },
): string => {
  const { receivers, route, ...rest } = configSchema.parse(parseYaml(text))
  const shorten = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shorten)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => {
        if (key === 'group_wait') return [key, '0s']
        return [key, key === 'group_interval' ? '1s' : shorten(entry)]
      }),
    )
  }
  return stringify({
    ...rest,
    route: isShipped ? route : { ...z.looseObject({}).parse(shorten(route)), group_wait: '0s', group_interval: '1s' },
    receivers: receivers.map(({ name }) => ({ name, webhook_configs: [{ url: webhook, send_resolved: true }] })),
  })
}

/** The label `instance` of a target that is the only one. */
export const INSTANCE = 'node-a'

interface AlertingOptions {
  /** Of Alertmanager. */
  readonly version?: AlertmanagerVersion
  readonly withPrometheus?: boolean
  /** With the durations of the rules and the waits of the routes as they are shipped. */
  readonly isShipped?: boolean
  /** Also the timeout of a scrape. */
  readonly scrapeInterval?: string
}

/** Starts a real Alertmanager with the shipped routes, a webhook, and a real Prometheus with the shipped rules. */
export const startAlerting = async (
  targets: readonly string[],
  { version, withPrometheus = true, isShipped = false, scrapeInterval = '1s' }: AlertingOptions = {},
): Promise<Alerting> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-alerting-'))
  const webhook = await listen()
  const shipped = await readFile(join(ALERTS, 'alertmanager.yaml'), 'utf8')
  const receivers = toWebhook(shipped, { webhook: webhook.url, isShipped })
  const manager = await startAlertmanager(directory, receivers, { version })
  for (const file of await readdir(ALERTS)) {
    if (!file.endsWith('.rules.yaml')) continue
    const text = await readFile(join(ALERTS, file), 'utf8')
    await writeFile(join(directory, file), isShipped ? text : shortenRules(text))
  }
  const discovery = join(directory, 'targets.json')
  const scrape = async (addresses: readonly string[]): Promise<void> =>
    writeFile(
      discovery,
      JSON.stringify([{ targets: addresses, ...(addresses.length === 1 && { labels: { instance: INSTANCE } }) }]),
    )
  await scrape(targets)
  const config = {
    global: {
      scrape_interval: scrapeInterval,
      scrape_timeout: scrapeInterval,
      ...(!isShipped && { evaluation_interval: '1s' }),
    },
    rule_files: [join(directory, '*.rules.yaml')],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [manager.address] }] }] },
    scrape_configs: [{ job_name: 'chain-agent', file_sd_configs: [{ files: [discovery], refresh_interval: '1s' }] }],
  }
  await writeFile(join(directory, 'prometheus.yml'), JSON.stringify(config))
  const server =
    withPrometheus &&
    start(await prometheus(), [
      `--config.file=${join(directory, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${await freePort()}`,
      '--rules.alert.resend-delay=1s',
      '--log.level=warn',
    ])
  return {
    address: manager.address,
    notices: webhook.notices,
    scrape,
    close: async () => {
      if (server) await server.stop()
      await manager.stop()
      webhook.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const listen = async () => {
  const notices: Notice[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.end()
      const { alerts, receiver, groupKey: group } = noticeSchema.parse(JSON.parse(Buffer.concat(chunks).toString()))
      for (const { status, labels, fingerprint } of alerts) {
        notices.push({
          alert: addressOf({ alert: labels['alertname'] ?? '', labels }),
          severity: labels['severity'] ?? '',
          instance: labels['instance'] ?? '',
          status,
          receiver,
          group,
          fingerprint,
          at: Date.now(),
        })
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    url: `http://127.0.0.1:${port}/`,
    notices: () => notices,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
