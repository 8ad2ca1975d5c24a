import { minute } from '../../core/units.ts'
import type { PrometheusSample } from '../../parsers/prometheus-text.ts'
import { isOfConsensus } from './names.ts'

/** What an endpoint tells of consensus, and nothing else that it tells. */
export interface NativeSeries {
  /** A value by the node's name for it, without the maker's word; undefined where it is unknown. */
  value(name: string): number | undefined
  /** A label that any of the series carries. */
  label(name: string): string | undefined
  /** When the newest of them was taken, in milliseconds since the epoch, where they tell. */
  readonly newestAt: number | null
}

/** Consensus tells its values anew each second; older than this they are of a process that is gone. */
export const OLD_AFTER = minute / 2

/**
 * Undefined where none is there. Series are found by their name alone: labels differ between
 * versions, and operators add some. An OpenTelemetry collector may serve two of one name for a while
 * after an upgrade, of the version that was and of the one that is: the newest counts.
 */
export const readNativeSeries = (
  samples: readonly PrometheusSample[],
  prefix: string,
): NativeSeries | undefined => {
  const own = samples.filter(
    ({ name }) => name.startsWith(`${prefix}_`) && isOfConsensus(name.slice(prefix.length + 1)),
  )
  if (own.length === 0) return undefined
  const times = own.flatMap(({ timestampMs }) => (timestampMs === null ? [] : [timestampMs]))
  const newestAt = times.length === 0 ? null : Math.max(...times)
  const fresh = own.filter(
    ({ timestampMs }) =>
      timestampMs === null || newestAt === null || newestAt - timestampMs <= OLD_AFTER,
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

/** Two that are equally new and differ say nothing: which of them is the node's, nobody knows. */
const newestOf = (samples: readonly PrometheusSample[]): number | undefined => {
  const newest = Math.max(...samples.map(({ timestampMs }) => timestampMs ?? 0))
  const values = new Set(
    samples.filter(({ timestampMs }) => (timestampMs ?? 0) === newest).map(({ value }) => value),
  )
  const [value] = values
  return values.size === 1 ? value : undefined
}

/** "Never set" is 2^64 − 1 in the node, and 2^64 as a double. */
const known = (value: number | undefined): number | undefined =>
  value !== undefined && value >= 0 && value < 2 ** 64 ? value : undefined
