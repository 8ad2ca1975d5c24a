import { MIGRATION_PHASES } from './definition.ts'
import { ALL_NODE_METRICS, EXPORTED, NODE_METRICS, type NodeMetric } from './node-metrics.ts'
import { withinBounds } from '../../core/bounds.ts'
import type { Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/units.ts'
import type { PrometheusSample } from '../../parsers/prometheus-text.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { plainText } from '../../core/redaction/redact.ts'
import { type UnknownValue, unknownValue } from '../../core/unknown-values.ts'

/** The metrics of consensus that are read, without the name prefix; the last one shows that there are any. */
const NAMES: ReadonlySet<string> = new Set([...ALL_NODE_METRICS.map(({ name }) => name), 'execution_ledger_block_num'])

/** The metrics of consensus that an endpoint returned. */
export type NativeSeries = NonNullable<ReturnType<typeof readNativeSeries>>

/** The OpenTelemetry collector receives new values every few seconds; older ones are from a process that has exited. In milliseconds. */
const STALE_AFTER = minute / 2

/**
 * Returns undefined if there are no metrics of consensus. Series are selected by name only: labels differ between
 * versions, and operators add labels. After an upgrade an OpenTelemetry collector may serve two series of one name for
 * a while, of the old and of the new version: the newest is used.
 */
export const readNativeSeries = (samples: readonly PrometheusSample[], prefix: string) => {
  const own = samples.map(withoutDots).flatMap((one) => {
    const name = one.name.slice(prefix.length + 1)
    return one.name.startsWith(`${prefix}_`) && NAMES.has(name) ? [{ ...one, name }] : []
  })
  if (own.length === 0) return undefined
  const { fresh, newestAt } = freshSamples(own, STALE_AFTER)
  const byName = new Map<string, PrometheusSample[]>()
  for (const one of fresh) {
    const sameName = byName.get(one.name)
    if (sameName) sameName.push(one)
    else byName.set(one.name, [one])
  }
  return {
    /** The newest timestamp, in milliseconds since the epoch; null without timestamps. */
    newestAt,
    /** The value of a metric by its current name without the name prefix; undefined if it is unknown. */
    value: (name: string) => known(newestOf(byName.get(name) ?? [])),
    /** The value of a label of any of the series. */
    label: (name: string) =>
      newestOf(fresh.flatMap((one) => (one.labels[name] ? [{ ...one, value: one.labels[name] }] : []))),
  }
}

/** The samples that are at most that many milliseconds older than the newest, and the time of that; null without times. */
export const freshSamples = (samples: readonly PrometheusSample[], within: number) => {
  const times = samples.flatMap(({ timestampMs }) => timestampMs ?? [])
  const newestAt = times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b))
  const oldest = (newestAt ?? 0) - within
  return { newestAt, fresh: samples.filter(({ timestampMs }) => timestampMs === null || timestampMs >= oldest) }
}

/** OpenTelemetry's own form of the names, `zephyr.total_uptime_us`, which some collectors serve unchanged. */
export const withoutDots = (one: PrometheusSample): PrometheusSample => {
  if (!one.name.includes('.')) return one
  const labels = Object.entries(one.labels).map(([name, value]): [string, string] => [name.replaceAll('.', '_'), value])
  return { ...one, name: one.name.replaceAll('.', '_'), labels: Object.fromEntries(labels) }
}

/** Two different values with the same timestamp are unknown: either may be of this node. */
const newestOf = <T>(samples: readonly { readonly timestampMs: number | null; readonly value: T }[]): T | undefined => {
  const newest = samples.reduce((latest, { timestampMs }) => Math.max(latest, timestampMs ?? 0), -Infinity)
  const values = new Set(samples.filter(({ timestampMs }) => (timestampMs ?? 0) === newest).map(({ value }) => value))
  const [value] = values
  return values.size === 1 ? value : undefined
}

/**
 * The sentinel for "never set" is 2^64 − 1 in the node, and 2^64 as a double. An integer beyond 2^53 is already rounded,
 * so it is unknown too.
 */
const known = (value: number | undefined): number | undefined => {
  const found = withinBounds('metric', value)
  return found === null ? undefined : found + 0
}

/** Whether the values change: `standing` means that they do not, `unknown` that they have no timestamps and were read once. */
export type Movement = 'moving' | 'standing' | 'unknown'

/** The main loop of consensus has an event every 5 ms, and a poll may be faster than its metrics change. In milliseconds. */
const STOPPED_AFTER = 3 * second

/**
 * Detects whether the values of one endpoint are from a main loop that runs. An OpenTelemetry collector serves the last
 * values for a minute after the exit of consensus, or for hours, depending on its configuration. At consensus' own
 * endpoint another thread answers, also while the main loop hangs, and computes the uptime at each scrape: the time
 * spent updating state moves only with the main loop. Without that metric the uptime must grow. Values of a process
 * that does not update them have old timestamps, too.
 */
export const createMovementDetector = (clock: Clock) => {
  let last: { readonly counter: number; readonly at: number } | undefined
  let movement: Movement = 'unknown'
  const byCounter = (counter: number): Movement => {
    const at = clock.elapsed()
    if (last?.counter === counter) return at - last.at >= STOPPED_AFTER ? 'standing' : movement
    const isFirst = last === undefined
    last = { counter, at }
    return isFirst ? 'unknown' : 'moving'
  }
  return {
    update: ({ newestAt, value }: NativeSeries): Movement => {
      const counter = value(NODE_METRICS.stateUpdate.name) ?? value(NODE_METRICS.uptime.name)
      // Without a counter no value must increase.
      movement = counter === undefined ? 'unknown' : byCounter(counter)
      if (newestAt === null) return movement
      if (clock.now() - newestAt > STALE_AFTER) return 'standing'
      return movement === 'standing' ? movement : 'moving'
    },
    /** To be called when the endpoint was not read: the next values are the first ones. */
    reset: (): void => {
      last = undefined
      movement = 'unknown'
    },
  } as const
}

/** The metrics of the node that no other source provides, in base units. */
export const nativeSamples = (series: NativeSeries): readonly Sample[] => {
  const { value, label } = series
  // Not `service_name`: it contains the name that the operator gave the node.
  const [network, version] = [label('network'), label('service_version')]
  const info = { network: plainText(network ?? '', 100), version: plainText(version ?? '', 100) }
  return [
    ...sampleIfKnown('chain_native_info', network === undefined && version === undefined ? null : 1, info),
    ...statesyncSamples(series),
    // It is 0 until consensus is live, whatever the stake.
    ...(isNotLive(series) ? [] : exportedSamples(series, [NODE_METRICS.stake])),
    ...phaseSamples(value(NODE_METRICS.migrationPhase.name)),
    ...exportedSamples(series, EXPORTED),
  ]
}

const exportedSamples = ({ value }: NativeSeries, metrics: readonly NodeMetric[]): readonly Sample[] =>
  metrics.flatMap(({ name, exports, labels = {}, divisor = 1, quantity = 'metric' }) => {
    const found = withinBounds(quantity, (value(name) ?? Number.NaN) / divisor)
    return found === null ? [] : [{ name: exports, value: found, labels }]
  })

/** Whether consensus is not live. It sets this at every start, whether or not it needs statesync. */
const isNotLive = ({ value }: NativeSeries): boolean => value(NODE_METRICS.statesyncActive.name) === 1

/** A target of 0 is a process that has not needed statesync: while it is not live, it starts. */
const statesyncSamples = (series: NativeSeries): readonly Sample[] => {
  const { value } = series
  const target = value(NODE_METRICS.statesyncTarget.name)
  const isLive = value(NODE_METRICS.statesyncActive.name) === 0
  const isKnown = isLive || (isNotLive(series) && target !== undefined)
  return [
    ...sampleIfKnown('chain_native_start_active', isKnown ? !isLive && target === 0 : null),
    ...sampleIfKnown('chain_native_statesync_active', isKnown ? !isLive && target !== 0 : null),
    ...sampleIfKnown(
      'chain_native_statesync_progress_block',
      target ? value(NODE_METRICS.statesyncProgress.name) : null,
    ),
    ...sampleIfKnown('chain_native_statesync_target_block', target === 0 ? null : target),
  ]
}

/** An unknown value of the phase is not exported. */
const phaseSamples = (value: number | undefined): readonly Sample[] =>
  MIGRATION_PHASES.some((_, code) => code === value)
    ? MIGRATION_PHASES.map((phase, code) => sample('chain_native_migration_phase', code === value, { phase }))
    : []

const FLAG = ['0', '1']

/** The values that this version of the agent does not know. */
export const unknownNativeValues = ({ value }: NativeSeries): readonly UnknownValue[] => [
  ...unknownValue('migration phase', value(NODE_METRICS.migrationPhase.name), Object.keys(MIGRATION_PHASES)),
  ...unknownValue('statesync active', value(NODE_METRICS.statesyncActive.name), FLAG),
]
