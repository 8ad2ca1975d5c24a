import { z } from 'zod'
import { objectOf, orNull, recordOf } from '../collectors/shared/reading-schema.ts'
import { counter, gauge, open } from '../core/metric.ts'
import { baseUrl, duration, file, timed } from '../core/settings.ts'

/** A value of Prometheus: 127.0.0.1:9843. */
const labelValue = z.string().regex(/^\S.{0,127}$/, 'expected the value of a label')

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

export const alertmanagers = {
  name: 'alertmanagers',
  help: 'firing alerts to Alertmanager: its own rules, without Prometheus or next to it',
  introduction:
    'What the agent sends to the Alertmanagers of `alertmanagers.urls`. They receive what Prometheus would send them: with the labels of its target, both are one alert.',
  settings: timed('15s', '10s', {
    interval: duration('15s', 'how often it sends what fires, in addition to each change'),
    urls: z
      .array(baseUrl('address of an Alertmanager'))
      .refine(
        (urls) => new Set(urls.map(hostOf)).size === urls.length,
        'expected addresses that differ in host or port, by which metrics name an Alertmanager',
      )
      .default([])
      .describe('Alertmanagers to which the agent sends its own alerts, like http://127.0.0.1:9093; none by default'),
    job: labelValue.default('chain-agent').describe('label `job` of the alerts: that of the scrape of this agent'),
    instance: labelValue
      .nullable()
      .default(null)
      .describe('label `instance` of the alerts: that of the scrape of this agent; null: the name of the host'),
    labels: z
      .record(z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, 'expected the name of a label'), labelValue)
      .default({})
      .describe('other labels of the alerts: those of the target and `external_labels`, as {cluster: mainnet}'),
    runbooks: baseUrl('where the runbooks are published, as for `chain-agent rules`; null: no link')
      .nullable()
      .default(null),
    dashboards: baseUrl('the address of Grafana; null: no link').nullable().default(null),
  }),
  reading: objectOf({
    /** By the name of the Alertmanager: `accepted`, or the reason of the failure. */
    states: recordOf(z.string()),
    /** When it last accepted a firing alert, in milliseconds since the epoch; without an entry none is known. */
    lastAlertAt: recordOf(z.number()),
  }),
  metrics: {
    chain_agent_alertmanager_up: gauge('Whether Alertmanager accepted what the agent last sent.', {
      alertmanager: open,
    }),
  },
} as const

export const heartbeat = {
  name: 'heartbeat',
  help: 'heartbeat to an outside receiver, with height and health',
  introduction: "The heartbeat that the agent sends to `heartbeat.urlFile`, a dead man's switch outside of the host.",
  settings: timed('60s', '10s', {
    interval: duration('60s', 'how often it is sent'),
    urlFile: file('the file with the URL that receives heartbeats; null: none is sent').nullable().default(null),
  }),
  reading: objectOf({
    /** `accepted`, or the reason of the failure. */
    state: orNull.text,
    lastSuccessAt: orNull.time,
  }),
  metrics: {
    chain_agent_heartbeat_last_success_timestamp_seconds: gauge('Time at which a heartbeat was last accepted.'),
    chain_agent_heartbeats_total: counter('Heartbeats sent, by result.', { result: ['accepted', 'failed'] }),
  },
} as const
