import type { Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/units.ts'
import type { PrometheusSample } from '../../parsers/prometheus-text.ts'
import { isOfConsensus, NATIVE_NAMES } from './metric-names.ts'

/** The metrics of consensus that an endpoint returned. */
export interface NativeSeries {
  /** The value of a metric by its name without the name prefix; undefined if it is unknown. */
  value(name: string): number | undefined
  /** The value of a label of any of the series. */
  label(name: string): string | undefined
  /** The newest timestamp, in milliseconds since the epoch; null without timestamps. */
  readonly newestAt: number | null
}

/** Consensus updates its values every second; older ones are from a process that has exited. In milliseconds. */
const STALE_AFTER = minute / 2

/**
 * Returns undefined if there are no metrics of consensus. Series are selected by name only: labels differ between
 * versions, and operators add labels. After an upgrade an OpenTelemetry collector may serve two series of one name for
 * a while, of the old and of the new version: the newest is used.
 */
export const readNativeSeries = (samples: readonly PrometheusSample[], prefix: string): NativeSeries | undefined => {
  const own = samples.filter(
    ({ name }) => name.startsWith(`${prefix}_`) && isOfConsensus(name.slice(prefix.length + 1)),
  )
  if (own.length === 0) return undefined
  const times = own.flatMap(({ timestampMs }) => (timestampMs === null ? [] : [timestampMs]))
  const newestAt = times.length === 0 ? null : Math.max(...times)
  const fresh = own.filter(
    ({ timestampMs }) => timestampMs === null || newestAt === null || newestAt - timestampMs <= STALE_AFTER,
  )
  const byName = new Map<string, PrometheusSample[]>()
  for (const sample of fresh) {
    const name = sample.name.slice(prefix.length + 1)
    byName.set(name, [...(byName.get(name) ?? []), sample])
  }
  return {
    newestAt,
    value: (name) => known(newestOf(byName.get(name) ?? [])),
    label: (name) => {
      const [value] = fresh
        .toSorted((a, b) => (b.timestampMs ?? 0) - (a.timestampMs ?? 0))
        .flatMap(({ labels }) => labels[name] || [])
      return value
    },
  }
}

/** Two different values with the same timestamp are unknown: either may be of this node. */
const newestOf = (samples: readonly PrometheusSample[]): number | undefined => {
  const newest = Math.max(...samples.map(({ timestampMs }) => timestampMs ?? 0))
  const values = new Set(samples.filter(({ timestampMs }) => (timestampMs ?? 0) === newest).map(({ value }) => value))
  const [value] = values
  return values.size === 1 ? value : undefined
}

/** The sentinel for "never set" is 2^64 − 1 in the node, and 2^64 as a double. */
const known = (value: number | undefined): number | undefined =>
  value !== undefined && value >= 0 && value < 2 ** 64 ? value : undefined

/** Whether the values change: `standing` means that they do not, `unknown` that they have no timestamps and were read once. */
export type Movement = 'moving' | 'standing' | 'unknown'

/** Consensus updates its uptime every second, and a poll may be faster than that. In milliseconds. */
const STOPPED_AFTER = 3 * second

/**
 * Detects whether the values of one endpoint are from a running process: an OpenTelemetry collector serves the last
 * values for a minute after the exit of consensus, or for hours, depending on its configuration. They have old
 * timestamps or, without timestamps, an uptime that does not increase.
 */
export const createMovementDetector = (clock: Clock) => {
  let last: { readonly uptime: number; readonly at: number } | undefined
  let movement: Movement = 'unknown'
  const byUptime = (uptime: number): Movement => {
    const at = clock.elapsed()
    if (last?.uptime === uptime) return at - last.at >= STOPPED_AFTER ? 'standing' : movement
    const isFirst = last === undefined
    last = { uptime, at }
    return isFirst ? 'unknown' : 'moving'
  }
  return {
    update: ({ newestAt, value }: NativeSeries): Movement => {
      const uptime = value(NATIVE_NAMES.uptime)
      // Without an uptime no value must increase.
      movement = uptime === undefined ? 'unknown' : byUptime(uptime)
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
