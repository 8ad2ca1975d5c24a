import { newestBlock } from '../../domain/agreement.ts'
import type { Context } from '../../core/clock.ts'
import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import { createSampleIndex, type Sample, sample, sampleIfKnown, type SampleIndex } from '../../core/metric.ts'
import { day, minute, second } from '../../core/units.ts'
import type { ReadingOf, Uses } from '../dependencies.ts'
import { CRITERIA, definition } from './definition.ts'
import { addToHours, parseSloHours, type SloHour, sumOfHours } from './hours.ts'

type Reading = ReadingOf<typeof definition>

export const SLO_PERIOD_MS = 7 * day
/** A newer block is fresh: the limit of `instance:chain_available:bool`. */
const FRESH_S = 30
const SAVE_EVERY_MS = 5 * minute

/** Uptime of the last days, by the hour. */
export const slo = ({
  published,
  roundCounter,
  objective,
  checkpoint,
  timing,
}: Uses<'published' | 'roundCounter' | 'objective' | 'checkpoint'>): Collector<Reading> => {
  let hours: readonly SloHour[] = []
  let readAt: number | undefined
  let savedAt: number | undefined
  // The rounds from before, if this collector replaces another one.
  let before = roundCounter.read()

  const observe = (known: SampleIndex, { clock }: Context): Omit<SloHour, 'from'> => {
    const elapsed = clock.elapsed()
    const step = readAt === undefined ? 0 : elapsed - readAt
    readAt = elapsed
    // The host or the agent was suspended.
    const observed = step > 3 * timing.interval ? 0 : step
    const isFresh = hasFreshBlock(known, clock.now())
    const counts = roundCounter.read()
    const led = (counts?.ownBlocks ?? 0) - (before?.ownBlocks ?? 0)
    const missed = (counts?.ownTimeouts ?? 0) - (before?.ownTimeouts ?? 0)
    before = counts
    return { known: isFresh === null ? 0 : observed, fresh: isFresh === true ? observed : 0, led, missed }
  }

  const evaluate = (context: Context): Reading => {
    const now = context.clock.now()
    hours = addToHours(hours, now, observe(createSampleIndex(published()), context))
    const elapsed = context.clock.elapsed()
    if (savedAt === undefined || elapsed - savedAt >= SAVE_EVERY_MS) {
      savedAt = elapsed
      void checkpoint.save(hours)
    }
    return { objective, ...sumOfHours(hours, now - SLO_PERIOD_MS) }
  }

  return {
    ...metadataOf(definition, timing),
    run: async (context, report) => {
      hours = parseSloHours((await checkpoint.read()).value)
      await poll(timing, (inner) => Promise.resolve(evaluate(inner)))(context, report)
      void checkpoint.save(hours)
    },
    samples,
    // Whether it is a problem is decided by the alert rules.
    states: () => ({}),
  }
}

/** Null is unknown. */
const hasFreshBlock = (known: SampleIndex, now: number): boolean | null => {
  const newest = newestBlock(known)
  if (newest) return now / second - newest.time <= FRESH_S
  return known.value('chain_service_active', { service: 'bft' }) === 0 ? false : null
}

/** With less known time, a few readings would decide the ratio. */
const MIN_KNOWN_MS = minute

/** The two measurements: what is known, what is good of it, and what the objective allows; null while unknown. */
export const sloCriteria = ({ objective, known, fresh, led, missed }: Reading) => {
  if (objective === null) return { fresh_block: null, own_rounds: null }
  const own = (led ?? 0) + (missed ?? 0)
  return {
    fresh_block:
      known === null || fresh === null || known < MIN_KNOWN_MS
        ? null
        : { ratio: fresh / known, left: 1 - (known - fresh) / ((1 - objective) * SLO_PERIOD_MS) },
    own_rounds:
      led === null || missed === null || own === 0
        ? null
        : { ratio: led / own, left: 1 - missed / ((1 - objective) * own) },
  }
}

const samples = (reading: Reading): readonly Sample[] => {
  const criteria = sloCriteria(reading)
  return [
    ...sampleIfKnown('chain_slo_objective_ratio', reading.objective),
    ...sampleIfKnown('chain_slo_known_ratio', reading.known === null ? null : reading.known / SLO_PERIOD_MS),
    ...CRITERIA.flatMap((criterion) => {
      const found = criteria[criterion]
      return found === null
        ? []
        : [
            sample('chain_slo_uptime_ratio', found.ratio, { criterion }),
            sample('chain_slo_budget_remaining_ratio', found.left, { criterion }),
          ]
    }),
  ]
}
