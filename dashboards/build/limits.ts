import { COLOUR } from './colours.ts'
import { inWords, type Unit } from './units.ts'
import { limitsOf, type Limit, type Severity } from './rules.ts'

/** The alert that has the limits, and the metric that it compares with them. */
export interface LimitedBy {
  readonly alert: string
  readonly metric: string
  /** Integer counts: more than 2 means 3. */
  readonly whole?: boolean
  /** Set if another severity of the alert compares another metric. */
  readonly only?: Severity
}

export interface Step {
  /** Start of the step; null is the lowest step. */
  readonly value: number | null
  readonly color: string
}

/** Colours of a value by the limits of alerts, and the same as text. */
export interface Limits {
  readonly steps: readonly Step[]
  /** The same as lines in a graph, each in the colour of the values beyond it. */
  readonly lines: readonly Step[]
  readonly words: (unit: Unit) => string
}

/** Those of one alert for one metric. */
export const limitsBy = (alert: string, metric: string, how: Pick<LimitedBy, 'whole' | 'only'> = {}): Limits =>
  combinedLimits({ alert, metric, ...how })

const combinedLimits = (...sources: readonly LimitedBy[]): Limits => {
  const limits = sources
    .flatMap(({ alert, metric, whole = false, only }) =>
      limitsOf(alert, metric)
        .filter(({ severity }) => only === undefined || severity === only)
        .map((limit) => ({ ...limit, from: stepOf(limit, whole) })),
    )
    .toSorted((a, b) => a.from - b.from)
  const [first] = limits
  if (!first || limits.some(({ bad }) => bad !== first.bad)) {
    throw new Error(`limits of ${sources.map(({ alert }) => alert).join(', ')} do not agree on what is bad`)
  }
  const colours = limits.map(({ severity }) => COLOUR[severity === 'none' ? 'info' : severity])
  const [least = COLOUR.good, ...rest] = first.bad === 'above' ? [COLOUR.good, ...colours] : [...colours, COLOUR.good]
  return {
    steps: [
      { value: null, color: least },
      ...limits.map(({ from }, index) => ({ value: from, color: rest[index] ?? COLOUR.good })),
    ],
    lines: [
      { value: null, color: 'transparent' },
      ...limits.map(({ from }, index) => ({ value: from, color: colours[index] ?? COLOUR.info })),
    ],
    words: (unit) =>
      limits
        .map(({ severity, bad, value }) => `${severity} ${bad === 'above' ? '>' : '<'} ${inWords(value, unit)}`)
        .toSorted()
        .toReversed()
        .join(', '),
  }
}

/** For a count of faults: a single one already has this meaning. */
export const anyIs = (meaning: 'critical' | 'warning'): Limits =>
  ownLimits([
    { value: null, color: COLOUR.good },
    { value: 1, color: COLOUR[meaning] },
  ])

/** For limits that no alert has, but that follow from the definition of the value. */
export const ownLimits = (steps: readonly Step[]): Limits => ({ steps, lines: steps, words: () => '' })

/** A step includes its value, but `> 0` does not include 0. */
const stepOf = ({ bad, inclusive, value }: Limit, whole: boolean): number => {
  if (bad === 'below' || inclusive) return value
  if (whole) return value + 1
  return value === 0 ? 1e-9 : value
}

const SESSIONS = 'chain_native_sessions{state="transport"}'
export const SESSIONS_LIMITS = combinedLimits(
  { alert: 'ChainIsolated', metric: SESSIONS },
  { alert: 'ChainPeersFew.sessions', metric: SESSIONS },
)
