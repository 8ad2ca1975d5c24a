import type { MetricDefinition } from '../../../src/core/metric.ts'
import { metrics } from '../../../src/metrics.ts'
import { alerts, rules } from '../../alerts/files.ts'

interface Known {
  /** Label → its values, or `open` if they are not known in advance. */
  readonly labels: Readonly<Record<string, readonly string[] | 'open'>>
  /** Undefined if both forms of query are valid. */
  readonly isCounter?: boolean
}

const definitions: ReadonlyMap<string, MetricDefinition> = new Map(Object.entries(metrics))

/** Labels of a recorded series in addition to job and instance. */
const recordedLabels = (name: string): Known['labels'] => {
  const ruled = rules.filter(({ record }) => record === name)
  const values = ruled.flatMap(({ labels = {} }) => Object.entries(labels))
  const own = Object.fromEntries(
    values.map(([label]) => [label, values.filter(([other]) => other === label).map(([, value]) => value)]),
  )
  // The labels that the expression keeps, according to the level in the name of the rule.
  const level = name.split(':')[0]?.split('_').slice(1) ?? []
  return { ...Object.fromEntries(level.map((label) => [label, 'open' as const])), ...own }
}

const recorded: ReadonlyMap<string, Known> = new Map(
  rules.flatMap(({ record }) =>
    record === undefined ? [] : [[record, { labels: recordedLabels(record), isCounter: false }]],
  ),
)

const severities = [...new Set(alerts.flatMap(({ labels }) => labels?.['severity'] ?? []))]
const components = [...new Set(alerts.flatMap(({ labels }) => labels?.['component'] ?? []))]

/** Series of Prometheus itself about targets and alerts. */
const OF_PROMETHEUS: Readonly<Record<string, Known>> = {
  up: { labels: {}, isCounter: false },
  scrape_duration_seconds: { labels: {}, isCounter: false },
  scrape_samples_scraped: { labels: {}, isCounter: false },
  scrape_samples_post_metric_relabeling: { labels: {}, isCounter: false },
  scrape_series_added: { labels: {}, isCounter: false },
  ALERTS: {
    labels: {
      alertname: [...new Set(alerts.map(({ alert }) => alert))],
      alertstate: ['pending', 'firing'],
      severity: severities,
      component: components,
    },
    isCounter: false,
  },
  ALERTS_FOR_STATE: { labels: { severity: severities, component: components }, isCounter: false },
}

/** The default metrics of prom-client. */
const OF_PROCESS = /^process_(?:start_time_seconds|(?:resident|virtual)_memory_bytes|heap_bytes|(?:open|max)_fds)$/
const CPU = /^process_cpu_(?:(?:user|system)_)?seconds_total$/

/** Metrics, labels and values of agents of version 0.2.0: panels query both names. */
const BEFORE: Readonly<Record<string, { readonly labels: Readonly<Record<string, readonly string[]>> }>> = {
  chain_blocks_behind: { labels: {} },
  chain_execution_block_timestamp_seconds: { labels: {} },
  chain_host_pressure_seconds_total: { labels: { resource: ['cpu', 'io', 'memory'], share: ['some', 'full'] } },
  chain_native_events_total: { labels: { event: ['vote_sent', 'statesync_triggered'] } },
  chain_native_vote_delay_seconds: { labels: { quantile: ['0.99'] } },
  chain_schedule_own_rounds_ahead: { labels: { window: ['hour', 'epoch'] } },
  chain_staking_pending_tokens: { labels: { delegator: ['all', 'own'] } },
  chain_staking_unclaimed_reward_tokens: { labels: { delegator: ['all', 'own'] } },
  chain_status_blocks_behind: { labels: {} },
}

/** Labels and type of a metric; undefined if no source exposes it. */
export const knownMetric = (name: string): Known | undefined => {
  const [now, before] = [knownToday(name), BEFORE[name]]
  if (!before) return now
  const labels: Record<string, readonly string[] | 'open'> = { ...now?.labels }
  for (const [label, values] of Object.entries(before.labels)) {
    const known = labels[label] ?? []
    labels[label] = known === 'open' ? known : [...known, ...values]
  }
  return { isCounter: name.endsWith('_total'), ...now, labels }
}

const knownToday = (name: string): Known | undefined => {
  const own = definitions.get(name)
  if (own && own.type !== 'histogram') return { labels: own.labels ?? {}, isCounter: own.type !== 'gauge' }
  const [, base = '', suffix = ''] = /^(\w+)_(bucket|sum|count)$/.exec(name) ?? []
  const whole = definitions.get(base)
  if (whole?.type === 'histogram') {
    const le = [...(whole.buckets ?? []), '+Inf'].map(String)
    return {
      labels: { ...whole.labels, ...(suffix === 'bucket' ? { le } : {}) },
      isCounter: true,
    }
  }
  if (OF_PROCESS.test(name)) return { labels: { version: 'open' }, isCounter: false }
  if (CPU.test(name)) return { labels: {}, isCounter: true }
  // A selector by a name pattern: each matching name is a known metric.
  if (isPattern(name)) return [...recorded.keys()].some((key) => matches(name, key)) ? { labels: {} } : undefined
  return OF_PROMETHEUS[name] ?? recorded.get(name)
}

const isPattern = (name: string): boolean => !/^[\w:]*$/.test(name)
const matches = (pattern: string, name: string): boolean => new RegExp(`^(?:${pattern})$`).test(name)

/** All known labels. */
export const knownLabels: ReadonlySet<string> = new Set([
  'job',
  'cluster',
  'instance',
  'le',
  'alertname',
  'alertstate',
  'severity',
  'component',
  ...Object.values(metrics).flatMap(({ labels }) => Object.keys(labels ?? {})),
  ...Object.values(BEFORE).flatMap(({ labels }) => Object.keys(labels)),
  ...rules.flatMap(({ labels = {} }) => Object.keys(labels)),
])
