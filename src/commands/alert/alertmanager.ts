import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { ParseError, SourceError } from '../../core/errors.ts'
import { parseJson } from '../../core/json.ts'
import { parsePrometheusText } from '../../parsers/prometheus-text.ts'
import type { AlertmanagerEndpoint } from '../../sources/alertmanager.ts'
import { describeStatus } from '../../collectors/shared/request.ts'

/** What Alertmanager reports about its configuration. */
export interface Routing {
  readonly version: string
  /** Receiver → its integrations, each with the name in its metrics: webhook, telegram, … */
  readonly integrations: ReadonlyMap<string, readonly string[]>
}

/** What has become of the alert. */
export interface Routed {
  readonly receivers: readonly string[]
  /** Why it is not sent: `silenced`, `inhibited`, `muted`; null if it is sent. */
  readonly suppressedBy: string | null
}

/** Requests to one integration since the start of Alertmanager, and notifications that failed after all retries. */
export interface Deliveries {
  readonly delivered: number
  readonly failed: number
  readonly givenUp: number
}

type DeliveriesByIntegration = ReadonlyMap<string, Deliveries>

const statusSchema = z.object({
  versionInfo: z.object({ version: z.string() }),
  config: z.object({ original: z.string() }),
})
const configSchema = z.object({
  receivers: z.array(z.looseObject({ name: z.string() })),
})
const alertsSchema = z.array(
  z.object({
    receivers: z.array(z.object({ name: z.string() })),
    status: z.object({
      state: z.string(),
      silencedBy: z.array(z.string()),
      inhibitedBy: z.array(z.string()),
    }),
  }),
)

/** Reads what `chain-agent alert test` follows. Every method throws a SourceError or a ParseError. */
export const createAlertmanagerReader = (endpoint: AlertmanagerEndpoint, signal: AbortSignal) => {
  const get = async (path: string): Promise<string> => {
    const response = await endpoint.get(path, signal)
    if (response.status === 200) return response.text
    throw new SourceError({
      doing: `read ${path} of Alertmanager ${endpoint.name}`,
      happened: describeStatus(response),
      advice: 'the address is that of an Alertmanager since 0.22, with its --web.route-prefix',
    })
  }
  const json = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const text = await get(path)
    const { data } = schema.safeParse(parseJson(path, text))
    if (data === undefined) throw new ParseError(`${path} of Alertmanager`, 'what version 2 of its API returns', text)
    return data
  }

  return {
    routing: async (): Promise<Routing> => {
      const { versionInfo, config } = await json('/api/v2/status', statusSchema)
      const { data } = configSchema.safeParse(parseYaml(config.original))
      if (data === undefined) throw new ParseError('the configuration of Alertmanager', 'receivers', config.original)
      return {
        version: versionInfo.version,
        integrations: new Map(data.receivers.map(({ name, ...rest }) => [name, integrationsOf(rest)])),
      }
    },
    /** Undefined until Alertmanager has the alert. */
    routed: async (labels: Readonly<Record<string, string>>): Promise<Routed | undefined> => {
      const filters = Object.entries(labels)
        .map(([name, value]) => `filter=${encodeURIComponent(`${name}=${JSON.stringify(value)}`)}`)
        .join('&')
      const [alert] = await json(`/api/v2/alerts?${filters}`, alertsSchema)
      if (!alert || alert.status.state === 'unprocessed') return undefined
      const { silencedBy, inhibitedBy, state } = alert.status
      const by = silencedBy.length > 0 ? 'silenced' : inhibitedBy.length > 0 ? 'inhibited' : 'muted'
      return {
        receivers: alert.receivers.map(({ name }) => name),
        suppressedBy: state === 'suppressed' ? by : null,
      }
    },
    /**
     * The counters of one response are not of one moment: a failed request may be in the total alone. A second response
     * has it in both.
     */
    deliveries: async (): Promise<DeliveriesByIntegration> => {
      const first = countersOf(await get('/metrics'))
      const now = countersOf(await get('/metrics'))
      return new Map(
        [...now].map(([integration, counters]) => [
          integration,
          {
            ...counters,
            delivered: Math.min(counters.delivered, first.get(integration)?.delivered ?? counters.delivered),
          },
        ]),
      )
    },
  }
}

const countersOf = (text: string): DeliveriesByIntegration => {
  const { samples } = parsePrometheusText(text)
  const sumOf = (name: string, integration: string): number =>
    samples
      .filter((one) => one.name === name && one.labels['integration'] === integration)
      .reduce((sum, { value }) => sum + value, 0)
  const all = samples.flatMap(({ name, labels }) =>
    name === 'alertmanager_notification_requests_total' ? [labels['integration'] ?? ''] : [],
  )
  return new Map(
    all.map((integration) => {
      const failed = sumOf('alertmanager_notification_requests_failed_total', integration)
      return [
        integration,
        {
          delivered: sumOf('alertmanager_notification_requests_total', integration) - failed,
          failed,
          givenUp: sumOf('alertmanager_notifications_failed_total', integration),
        },
      ]
    }),
  )
}

const integrationsOf = (receiver: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(receiver).flatMap(([key, list]) =>
    key.endsWith('_configs') && Array.isArray(list) ? list.map(() => key.slice(0, -'_configs'.length)) : [],
  )
