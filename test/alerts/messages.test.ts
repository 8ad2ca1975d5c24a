import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { second } from '../../src/core/units.ts'
import type { RecoveryAction } from '../../src/domain/health.ts'
import { ruleSet } from '../../src/health/rules/index.ts'
import { annotationsOf, labelsOf } from '../../src/health/rules/render.ts'
import { addressOf } from '../../src/health/rules/rule.ts'
import {
  type AlertmanagerVersion,
  ALERTMANAGERS,
  requireAlertmanager,
  startAlertmanager,
} from '../support/alertmanager.ts'
import { it } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { listening } from '../support/http.ts'
import { ALERTS } from './files.ts'
import { readConfig } from './listeners.ts'

const STARTED = Date.parse('2026-01-05T12:58:01Z')
const INTEGRATIONS = ['telegram', 'slack', 'discord', 'pagerduty', 'email', 'ntfy', 'webhook'] as const
type Integration = (typeof INTEGRATIONS)[number]

interface Posted {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly startsAt: string
  readonly endsAt: string
}

interface Fault {
  readonly alert: string
  readonly severity: string
  readonly own?: Readonly<Record<string, string>>
  readonly value?: number
  /** Seconds after which it is over. */
  readonly lasted?: number
}

const rows = ruleSet().alerts.map(({ row }) => row)

const alertOf = (instance: string, recovery: RecoveryAction | null) => {
  return ({ alert, severity, own = {}, value = 0, lasted }: Fault): Posted => {
    const row = rows.find((one) => addressOf(one) === alert && one.severity === severity)
    if (!row) throw new Error(`no rule ${alert} ${severity}`)
    const labels = { alertname: row.alert, ...labelsOf(row), instance, job: 'chain-agent', ...own }
    return {
      labels,
      annotations: annotationsOf(row, { labels, value, at: STARTED, recovery }),
      startsAt: new Date(STARTED).toISOString(),
      endsAt: lasted === undefined ? '2036-01-01T00:00:00Z' : new Date(STARTED + lasted * second).toISOString(),
    }
  }
}

const RESTART: RecoveryAction = { action: 'Restart the services together, now', deadline: STARTED + 220 * second }
const CRASH: Fault = { alert: 'ChainServiceDown.failed', severity: 'critical', own: { service: 'bft' } }
const EXECUTION: Fault = { alert: 'ChainServiceDown', severity: 'critical', own: { service: 'execution' } }
const STALLED: Fault = { alert: 'ChainBlockStalled', severity: 'critical', value: 35 }
const DISK: Fault = { alert: 'ChainDiskFull', severity: 'critical', own: { directory: '/' }, value: 0.04 }

const WARNINGS: readonly Fault[] = ['nvme0', 'nvme1', 'nvme2', 'nvme3'].map((device) => ({
  alert: 'ChainHeat.drive',
  severity: 'warning',
  own: { device },
  value: 75,
}))

/** Name → what is posted, one after the other; the messages about the last are the golden ones. */
const CASES: Readonly<Record<string, readonly (readonly Posted[])[]>> = {
  'a crash': [[CRASH].map(alertOf('node-a', RESTART))],
  'a limit': [
    [{ alert: 'ChainHostSetUp.open-file-limit', severity: 'warning', own: { service: 'bft' }, value: 1024 }].map(
      alertOf('node-b', null),
    ),
  ],
  'a full disk': [[DISK].map(alertOf('node-c', null))],
  'the end of a crash': [
    [CRASH].map(alertOf('node-d', RESTART)),
    [{ ...CRASH, lasted: 252 }].map(alertOf('node-d', RESTART)),
  ],
  'several at once': [[...WARNINGS, STALLED, DISK, EXECUTION, CRASH].map(alertOf('node-e', RESTART))],
  'one of two is over': [
    [CRASH, DISK].map(alertOf('node-f', RESTART)),
    [{ ...CRASH, lasted: 252 }, DISK].map(alertOf('node-f', RESTART)),
  ],
  'a fault of others': [
    [
      {
        alert: 'ChainLogTrouble.others',
        severity: 'warning',
        own: { service: 'rpc', pattern: 'rpc_overloaded' },
      },
    ].map(alertOf('node-i', null)),
  ],
  'two vantage points': [
    [
      { alert: 'ChainAgentDown', severity: 'critical' },
      {
        alert: 'ChainWatchedNodeSilent.nothing',
        severity: 'critical',
        value: 210,
        own: { node: 'node-j', watcher: 'w' },
      },
    ].map(alertOf('node-j', null)),
  ],
  'a maintenance window': [
    [{ alert: 'ChainMaintenance', severity: 'none', own: { reason: 'upgrade' } }].map(alertOf('node-g', null)),
  ],
  'the end of a maintenance window': [
    [{ alert: 'ChainMaintenance', severity: 'none', own: { reason: 'upgrade' } }].map(alertOf('node-h', null)),
    [{ alert: 'ChainMaintenance', severity: 'none', own: { reason: 'upgrade' }, lasted: 3600 }].map(
      alertOf('node-h', null),
    ),
  ],
}

interface Received {
  readonly integration: Integration
  readonly text: string
}

const quotedPrintable = (encoded: string): string =>
  Buffer.from(
    encoded
      .replaceAll(/=\r?\n/g, '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()

/** The subject and the plain text of a message. */
const mailOf = (data: string): string => {
  const unfolded = data.replaceAll(/\r?\n /g, ' ')
  const [, subject = ''] = /^Subject: (.*?)\r?$/m.exec(unfolded) ?? []
  const words = subject.replaceAll(/=\?utf-8\?q\?(.*?)\?=\s*/gi, (_, word: string) =>
    quotedPrintable(word.replaceAll('_', ' ')),
  )
  const [, body = ''] = /Content-Type: text\/plain[^]*?\r?\n\r?\n([^]*?)\r?\n--/.exec(data) ?? []
  return `Subject: ${words}\n${quotedPrintable(body.replaceAll('\r\n..', '\r\n.')).replaceAll('\r\n', '\n').trim()}`
}

/** The part of Go's templates that the address of ntfy uses. */
const renderNtfy = (template: string, data: unknown): string => {
  const valueOf = (path: string, of: unknown): unknown =>
    path
      .split('.')
      .slice(1)
      .reduce<unknown>((value, key) => z.record(z.string(), z.unknown()).parse(value)[key], of)
  return template
    .replaceAll(/\{\{range (\.\w+)\}\}([^]*?)\{\{end\}\}/g, (_, path: string, part: string) =>
      z
        .array(z.unknown())
        .parse(valueOf(path, data))
        .map((one) => renderNtfy(part, one))
        .join(''),
    )
    .replaceAll(/\{\{(\.[\w.]+)\}\}/g, (_, path: string) => String(valueOf(path, data)))
}

const slackSchema = z.object({
  attachments: z.tuple([z.object({ title: z.string(), title_link: z.string().default(''), text: z.string() })]),
})
const discordSchema = z.object({
  content: z.string().optional(),
  embeds: z.tuple([z.object({ title: z.string(), description: z.string() })]),
})
const pagerdutySchema = z.object({
  event_action: z.string(),
  dedup_key: z.string().min(1),
  payload: z
    .object({ summary: z.string(), severity: z.string(), custom_details: z.record(z.string(), z.unknown()) })
    .optional(),
  links: z.array(z.object({ href: z.string(), text: z.string() })).default([]),
})
const webhookSchema = z.object({
  status: z.string(),
  alerts: z.array(z.object({ status: z.string(), annotations: z.record(z.string(), z.string()) })),
})

/** What a person reads, by the path at which it arrives. */
const READERS: Readonly<Record<string, (body: string, url: URL) => Received>> = {
  '/bot1:a/sendMessage': (body) => ({
    integration: 'telegram',
    text: z.object({ text: z.string() }).parse(JSON.parse(body)).text,
  }),
  '/slack': (body) => {
    const [{ title, title_link: link, text: rest }] = slackSchema.parse(JSON.parse(body)).attachments
    return { integration: 'slack', text: `${title} <${link}>\n${rest}` }
  },
  '/discord': (body) => {
    const [{ title, description }] = discordSchema.parse(JSON.parse(body)).embeds
    return { integration: 'discord', text: `${title}\n${description}` }
  },
  '/pagerduty': (body) => {
    const { event_action: action, payload, links } = pagerdutySchema.parse(JSON.parse(body))
    const details = Object.entries(payload?.custom_details ?? {}).flatMap(([name, value]) =>
      (name === 'text' || name === 'description') && typeof value === 'string' && value !== ''
        ? [`${name}: ${value.trim()}`]
        : [],
    )
    const lines = [
      `${action} ${payload?.severity ?? ''}: ${payload?.summary ?? ''}`,
      ...details,
      ...links.map(({ href, text: label }) => `${label}: ${href}`),
    ]
    return { integration: 'pagerduty', text: lines.join('\n') }
  },
  '/ntfy': (body, { searchParams }) => {
    const lines = ['title', 'message'].map((name) => renderNtfy(searchParams.get(name) ?? '', JSON.parse(body)))
    return { integration: 'ntfy', text: lines.join('\n') }
  },
  '/webhook': (body) => {
    const { status, alerts } = webhookSchema.parse(JSON.parse(body))
    const lines = alerts.map(({ status: state, annotations }) => `${state} ${JSON.stringify(annotations)}`)
    return { integration: 'webhook', text: [status, ...lines.toSorted()].join('\n') }
  },
}

/** In place of the services: it accepts every message. */
const listen = async () => {
  const received: Received[] = []
  const http = createHttpServer((incoming, response) => {
    void text(incoming).then((body) => {
      const url = new URL(incoming.url ?? '', 'http://sink')
      const read = READERS[url.pathname]
      if (read) received.push(read(body, url))
      response.setHeader('content-type', 'application/json')
      response.end('{"ok":true,"status":"success","result":{"message_id":1,"chat":{"id":42}}}')
    })
  })
  const smtp = createServer((socket) => {
    let data = ''
    let isMessage = false
    socket.write('220 sink\r\n')
    socket.on('data', (chunk) => {
      data += chunk.toString()
      if (isMessage && !data.endsWith('\r\n.\r\n')) return
      if (isMessage) received.push({ integration: 'email', text: mailOf(data) })
      const [word = ''] = data.split(/[\s:]/)
      const isBegin = !isMessage && word.toUpperCase() === 'DATA'
      isMessage = isBegin
      data = ''
      socket.write(isBegin ? '354 go\r\n' : word.toUpperCase() === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
    })
    socket.on('error', () => undefined)
  })
  const [web, mail] = [await listening(http), await listening(smtp)]
  return {
    received,
    url: web.url,
    smarthost: `127.0.0.1:${mail.port}`,
    close: async () => Promise.all([web.close(), mail.close()]),
  }
}

/** The receiver with every integration, as it is shipped, but for its addresses and secrets. */
const configFor = async ({ url, smarthost }: Readonly<Record<'url' | 'smarthost', string>>) => {
  const { receivers } = await readConfig()
  const examples = receivers.find(({ name }) => name === 'examples')
  const only = z.tuple([z.looseObject({})])
  const [telegram] = only.parse(examples?.['telegram_configs'])
  const [{ api_url_file: _slackFile, ...slack }] = only.parse(examples?.['slack_configs'])
  const [discord] = only.parse(examples?.['discord_configs'])
  const [{ routing_key_file: _keyFile, ...pagerduty }] = only.parse(examples?.['pagerduty_configs'])
  const [{ auth_username: _user, auth_password: _password, ...email }] = only.parse(examples?.['email_configs'])
  const [ntfy, webhook] = z
    .tuple([z.looseObject({ url: z.string() }), z.looseObject({})])
    .parse(examples?.['webhook_configs'])
  return {
    templates: [join(ALERTS, 'chain.tmpl')],
    route: { receiver: 'examples', group_by: ['instance'], group_wait: '1s', group_interval: '1s' },
    receivers: [
      {
        name: 'examples',
        telegram_configs: [{ ...telegram, bot_token: '1:a', chat_id: 42, api_url: url }],
        slack_configs: [{ ...slack, api_url: `${url}/slack` }],
        discord_configs: [{ ...discord, webhook_url: `${url}/discord` }],
        pagerduty_configs: [{ ...pagerduty, routing_key: 'k', url: `${url}/pagerduty` }],
        email_configs: [{ ...email, smarthost, require_tls: false }],
        webhook_configs: [
          { ...ntfy, url: ntfy.url.replace('https://ntfy.invalid/TOPIC', `${url}/ntfy`) },
          { ...webhook, url: `${url}/webhook` },
        ],
      },
    ],
  }
}

/**
 * The texts of the first message about all of these alerts, by each integration. An alert that began long ago is sent at
 * once, alone, and with the others of its group one interval later.
 */
const textsOfAll = (received: readonly Received[], alerts: readonly Posted[]): readonly string[] => {
  const of = (wanted: Integration) =>
    received.filter(({ integration }) => integration === wanted).map((one) => one.text)
  const ended = alerts.filter(({ endsAt }) => Date.parse(endsAt) < Date.now()).length
  const index = of('webhook').findIndex((message) => {
    const lines = message.split('\n').slice(1)
    return lines.length === alerts.length && lines.filter((line) => line.startsWith('resolved')).length === ended
  })
  return INTEGRATIONS.flatMap((one) => {
    const message = index === -1 ? undefined : of(one)[index]
    return message === undefined ? [] : [`# ${one}\n${message.trimEnd()}\n`]
  })
}

const messagesOf = async (version: AlertmanagerVersion, directory: string): Promise<ReadonlyMap<string, string>> => {
  const sink = await listen()
  const manager = await startAlertmanager(directory, await configFor(sink), { version })
  try {
    const arrived = new Map<string, string>()
    for (const [name, steps] of Object.entries(CASES)) {
      for (const alerts of steps) {
        sink.received.length = 0
        await manager.post(alerts)
        const texts = await eventually(
          () => textsOfAll(sink.received, alerts),
          (found) => found.length === INTEGRATIONS.length,
          { within: 60_000 },
        )
        arrived.set(name, texts.join('\n'))
      }
    }
    return arrived
  } finally {
    await manager.stop()
    await sink.close()
  }
}

test('the how-to shows messages as they arrive', async () => {
  const page = await readFile('docs/how-to/first-message.md', 'utf8')
  for (const name of ['a-crash', 'a-limit', 'the-end-of-a-crash']) {
    const golden = await readFile(join(import.meta.dirname, `messages/${name}.txt`), 'utf8')
    const [, telegram = ''] = /^# telegram\n([^]*?)\n\n# /.exec(golden) ?? []
    expect(page).toContain(`\`\`\`text\n${telegram}\n\`\`\``)
  }
})

for (const version of ALERTMANAGERS) {
  const describe = await requireAlertmanager(version)
  describe(`the messages of Alertmanager ${version}`, () => {
    it('say what is wrong, what to do and since when, by every integration', async ({ directory }) => {
      for (const [name, message] of await messagesOf(version, directory))
        await expect(message).toMatchFileSnapshot(`messages/${name.replaceAll(' ', '-')}.txt`)
    })
  })
}
