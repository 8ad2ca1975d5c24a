import { z } from 'zod'
import { createSampleIndex, type ReadingName, type Sample, type SampleIndex } from '../core/metric.ts'
import { metrics } from '../metrics.ts'

/** A time in a reading: RFC 3339, parsed to milliseconds since the epoch. */
export const timestamp = z.iso.datetime().transform((text) => Date.parse(text))

/** State and last reading of one collector, as reported by the running agent or by a single round of collectors. */
export interface CollectorStatus {
  readonly name: string
  readonly help: string
  readonly enabled: boolean
  /** Null until the first attempt has ended. */
  readonly up: boolean | null
  /** Milliseconds since the epoch; null for never. */
  readonly lastSuccessAt: number | null
  /** Error of the last attempt; null if it succeeded. */
  readonly error: string | null
  /** JSON: times are RFC 3339, 64-bit integers are decimal strings, unknown is null. */
  readonly reading: unknown
}

/** All that is known of a node at one time. */
export interface NodeSnapshot {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Where it comes from: the agent that runs on this host, or one round of collectors. */
  readonly origin: 'agent' | 'node'
  /** Version of the agent that produced it. */
  readonly version: string
  /** The name prefix of units and tools; null until it is known. */
  readonly prefix: string | null
  readonly collectors: readonly CollectorStatus[]
  readonly known: SampleIndex
  /** The text of /metrics at this time. */
  readonly metrics: string
}

interface ExposedSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Indexes the samples of an exposition. Leaves out metrics that are not in the catalogue and counters of the agent itself. */
export const indexSamples = (samples: readonly ExposedSample[]): SampleIndex => {
  const isReadingByName = new Map<string, boolean>()
  const isReadingSample = (one: ExposedSample): one is ExposedSample & Sample => {
    const isOne = isReadingByName.get(one.name) ?? isReading(one.name)
    isReadingByName.set(one.name, isOne)
    return isOne
  }
  return createSampleIndex(samples.filter(isReadingSample))
}

const isReading = (name: string): name is ReadingName =>
  Object.entries(metrics).some(
    ([known, { type }]) => known === name && (type === 'gauge' || type === 'external counter'),
  )
