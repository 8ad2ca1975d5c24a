import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { ParseError, SourceError } from '../../core/errors.ts'
import { parseJson } from '../../core/json.ts'
import { parsePrometheusText } from '../../parsers/prometheus-text.ts'
import type { AlertmanagerEndpoint } from '../../sources/endpoints.ts'
import { describeStatus } from '../../collectors/shared/request.ts'
import { parseDuration, second } from '../../core/units.ts'

/** A receiver, and the name of its integration in the metrics. */
export interface Target {
  readonly receiver: string
  readonly integration: string
}

export type Labels = Readonly<Record<string, string>>

const labelsSchema = z.record(z.string(), z.string())

/** A route in the configuration that Alertmanager reports. */
export const routeSchema = z.object({
  receiver: z.string().optional(),
  group_wait: z.string().optional(),
  group_interval: z.string().optional(),
  matchers: z.array(z.string()).optional(),
  match: labelsSchema.optional(),
  match_re: labelsSchema.optional(),
  continue: z.boolean().optional(),
  get routes(): z.ZodOptional<z.ZodArray<typeof routeSchema>> {
    return z.array(routeSchema).optional()
  },
})
type Route = z.output<typeof routeSchema>

const statusSchema = z.object({
  versionInfo: z.object({ version: z.string() }),
  config: z.object({ original: z.string() }),
})
const configSchema = z.object({ route: routeSchema, receivers: z.array(z.looseObject({ name: z.string() })) })
const groupsSchema = z.array(
  z.object({ receiver: z.object({ name: z.string() }), alerts: z.array(z.object({ labels: labelsSchema })) }),
)
const alertsSchema = z.array(
  z.object({
    receivers: z.array(z.object({ name: z.string() })),
    status: z.object({ state: z.string(), silencedBy: z.array(z.string()), inhibitedBy: z.array(z.string()) }),
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
    /** What Alertmanager reports about its configuration. */
    routing: async () => {
      const { versionInfo, config } = await json('/api/v2/status', statusSchema)
      const { data } = configSchema.safeParse(parseYaml(config.original))
      if (data === undefined)
        throw new ParseError('the configuration of Alertmanager', 'a route and receivers', config.original)
      return {
        version: versionInfo.version,
        /** Receiver → its integrations, each with the name in its metrics: webhook, telegram, … */
        integrations: new Map(data.receivers.map(({ name, ...rest }) => [name, integrationsOf(rest)])),
        times: (alert: Labels, receiver: string) => groupTimes(data.route, alert, receiver),
      }
    },
    /** What has become of the alert; undefined until Alertmanager has it. */
    routed: async (labels: Labels) => {
      const filters = Object.entries(labels)
        .map(([name, value]) => `filter=${encodeURIComponent(`${name}=${JSON.stringify(value)}`)}`)
        .join('&')
      const [alert] = await json(`/api/v2/alerts?${filters}`, alertsSchema)
      if (!alert || alert.status.state === 'unprocessed') return undefined
      const { silencedBy, inhibitedBy, state } = alert.status
      const by = silencedBy.length > 0 ? 'silenced' : inhibitedBy.length > 0 ? 'inhibited' : 'muted'
      const receivers = alert.receivers.map(({ name }) => name)
      /** `suppressedBy`: why it is not sent; null if it is. */
      return { receivers, suppressedBy: state === 'suppressed' ? by : null }
    },
    /** The groups that wait for a notification, or that have had one. */
    groups: async (labels: Labels) => {
      const groups = await json('/api/v2/alerts/groups', groupsSchema)
      const isOwn = (one: { readonly labels: Labels }): boolean => one.labels['alertname'] === labels['alertname']
      return {
        count: groups.length,
        /** Of the test alert, by receiver: whether other alerts are in its group. */
        shared: new Map(
          groups
            .filter(({ alerts }) => alerts.some(isOwn))
            .map(({ receiver, alerts }) => [receiver.name, !alerts.every(isOwn)]),
        ),
        /** The receivers of other alerts. */
        otherReceivers: new Set(
          groups.filter(({ alerts }) => !alerts.every(isOwn)).map(({ receiver }) => receiver.name),
        ),
      }
    },
    /**
     * The counters of one response are not of one moment: a failed request may be in the total alone. A second response
     * has it in both.
     */
    metrics: async () => {
      const first = metricsOf(await get('/metrics'))
      const now = metricsOf(await get('/metrics'))
      return {
        ...now,
        deliveries: (target: Target) => {
          const counters = now.deliveries(target)
          return { ...counters, delivered: Math.min(counters.delivered, first.deliveries(target).delivered) }
        },
      }
    },
  }
}

export type AlertmanagerReader = ReturnType<typeof createAlertmanagerReader>

const metricsOf = (text: string) => {
  const { samples } = parsePrometheusText(text)
  const hasReceivers = samples.some(({ name, labels }) => name === REQUESTS && labels['receiver_name'] !== undefined)
  const sumOf = (wanted: string, { receiver, integration }: Target): number =>
    samples
      .filter(
        ({ name, labels }) =>
          name === wanted &&
          labels['integration'] === integration &&
          (!hasReceivers || labels['receiver_name'] === receiver),
      )
      .reduce((sum, { value }) => sum + value, 0)
  return {
    /** Whether the metrics name receivers (`--enable-feature=receiver-name-in-metrics`). */
    hasReceivers,
    /** The number of groups, also of those whose alerts are over; undefined if it is not exported. */
    groups: samples.find(({ name }) => name === 'alertmanager_dispatcher_aggregation_groups')?.value,
    /** The counters of an integration since the start of Alertmanager: of all receivers if the metrics name none. */
    deliveries: (target: Target) => {
      const failed = sumOf('alertmanager_notification_requests_failed_total', target)
      return {
        /** Requests that were not rejected. */
        delivered: sumOf(REQUESTS, target) - failed,
        failed,
        /** Notifications that failed after all retries. */
        givenUp: sumOf('alertmanager_notifications_failed_total', target),
      }
    },
  }
}

const REQUESTS = 'alertmanager_notification_requests_total'

const integrationsOf = (receiver: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(receiver).flatMap(([key, list]) =>
    key.endsWith('_configs') && Array.isArray(list) ? list.map(() => key.slice(0, -'_configs'.length)) : [],
  )

/**
 * The times of a group of alerts, in milliseconds, by default: from its first alert to its first notification, and to the
 * next one, if an alert is added after that.
 */
const DEFAULT = { wait: 30 * second, interval: 300 * second }
export type GroupTimes = typeof DEFAULT

/** The longest times of the routes of these labels that lead to the receiver. */
export const groupTimes = (root: Route, alert: Labels, receiver: string): GroupTimes => {
  const times = routesOf(root, alert, { receiver: '', ...DEFAULT }).filter((route) => route.receiver === receiver)
  if (times.length === 0) return DEFAULT
  return {
    wait: Math.max(...times.map(({ wait }) => wait)),
    interval: Math.max(...times.map(({ interval }) => interval)),
  }
}

type Inherited = GroupTimes & { readonly receiver: string }

/** As Alertmanager does: the first route of a level that matches, and the next ones while `continue` is set. */
const routesOf = (route: Route, alert: Labels, parent: Inherited): readonly Inherited[] => {
  const own: Inherited = {
    receiver: route.receiver ?? parent.receiver,
    wait: parseDuration(route.group_wait ?? '') ?? parent.wait,
    interval: parseDuration(route.group_interval ?? '') ?? parent.interval,
  }
  const matched: Inherited[] = []
  for (const child of route.routes ?? []) {
    if (!isMatch(child, alert)) continue
    matched.push(...routesOf(child, alert, own))
    if (child.continue !== true) break
  }
  return matched.length === 0 ? [own] : matched
}

const MATCHER = /^\s*"?([^"=!~\s]+)"?\s*(=~|!~|!=|=)\s*(.*?)\s*$/s

const isMatch = ({ matchers = [], match = {}, match_re: patterns = {} }: Route, alert: Labels): boolean =>
  matchers.every((matcher) => {
    const [, name = '', operator = '', text = ''] = MATCHER.exec(matcher) ?? []
    const value = unquote(text)
    const isEqual = operator.endsWith('~') ? isPattern(value, alert[name]) : (alert[name] ?? '') === value
    return isEqual !== operator.startsWith('!')
  }) &&
  Object.entries(match).every(([name, value]) => (alert[name] ?? '') === value) &&
  Object.entries(patterns).every(([name, value]) => isPattern(value, alert[name]))

const unquote = (text: string): string => {
  if (!text.startsWith('"')) return text
  try {
    return String(JSON.parse(text))
  } catch {
    return text.slice(1, -1)
  }
}

/** A pattern of RE2 that JavaScript does not have matches nothing. */
const isPattern = (pattern: string, value = ''): boolean => {
  try {
    return new RegExp(`^(?:${pattern})$`, 's').test(value)
  } catch {
    return false
  }
}
