import { createSampleIndex, type SampleIndex } from '../core/sample-index.ts'
import { metrics, type ReadingName, type Sample } from '../metrics.ts'

interface Exposed {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const isReading = (name: string): name is ReadingName =>
  Object.entries(metrics).some(
    ([known, { type }]) => known === name && (type === 'gauge' || type === 'counter'),
  )

/** What an exposition says, by the catalogue: what is not in it, and what the agent itself counts, is left out. */
export const knownFrom = (samples: readonly Exposed[]): SampleIndex => {
  const readings = new Map<string, boolean>()
  const isOurs = (one: Exposed): one is Exposed & Sample => {
    const found = readings.get(one.name) ?? isReading(one.name)
    readings.set(one.name, found)
    return found
  }
  return createSampleIndex(samples.filter(isOurs))
}
