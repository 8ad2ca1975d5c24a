import { createKnown, type Known } from '../core/known.ts'
import { metrics } from '../metrics.ts'
import type { ReadingName, Sample } from '../core/metric.ts'

interface Exposed {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const isReading = (name: string): name is ReadingName =>
  Object.entries(metrics).some(
    ([known, { type }]) => known === name && (type === 'gauge' || type === 'external counter'),
  )

/** What an exposition says, by the catalogue: what is not in it, and what the agent itself counts, is left out. */
export const knownFrom = (samples: readonly Exposed[]): Known => {
  const readings = new Map<string, boolean>()
  const isOurs = (one: Exposed): one is Exposed & Sample => {
    const found = readings.get(one.name) ?? isReading(one.name)
    readings.set(one.name, found)
    return found
  }
  return createKnown(samples.filter(isOurs))
}
