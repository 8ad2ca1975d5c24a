import { COLOUR } from './colours.ts'
import { inWords, type Unit } from './units.ts'
import { limitsOf, type Limit, type Severity } from './rules.ts'

/** The alert whose numbers divide good from bad, and the metric in it that they are compared with. */
export interface LimitedBy {
  readonly alert: string
  readonly metric: string
  /** Counts of whole things: more than 2 are 3. */
  readonly whole?: boolean
  /** Where another severity of it compares something else. */
  readonly only?: Severity
}

export interface Step {
  /** From here on; null is from the least. */
  readonly value: number | null
  readonly color: string
}

/** Colours of a value by the limits of alerts, and the same in words. */
export interface Limits {
  readonly steps: readonly Step[]
  /** The same as lines in a graph, each in the colour of what lies beyond it. */
  readonly lines: readonly Step[]
  readonly words: (unit: Unit) => string
}

export const limitsBy = (...sources: readonly LimitedBy[]): Limits => {
  const limits = sources
    .flatMap(({ alert, metric, whole = false, only }) =>
      limitsOf(alert, metric)
        .filter(({ severity }) => only === undefined || severity === only)
        .map((limit) => ({ ...limit, from: stepOf(limit, whole) })),
    )
    .toSorted((a, b) => a.from - b.from)
  const [first] = limits
  if (!first || limits.some(({ bad }) => bad !== first.bad)) {
    throw new Error(
      `limits of ${sources.map(({ alert }) => alert).join(', ')} do not agree on what is bad`,
    )
  }
  const colours = limits.map(({ severity }) => COLOUR[severity === 'none' ? 'info' : severity])
  const [least = COLOUR.good, ...rest] =
    first.bad === 'above' ? [COLOUR.good, ...colours] : [...colours, COLOUR.good]
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
        .map(
          ({ severity, bad, value }) =>
            `${severity} ${bad === 'above' ? '>' : '<'} ${inWords(value, unit)}`,
        )
        .toSorted()
        .toReversed()
        .join(', '),
  }
}

/** For a count of what nobody wants: a single one is so bad. */
export const anyIs = (meaning: 'critical' | 'warning'): Limits =>
  ownLimits([
    { value: null, color: COLOUR.good },
    { value: 1, color: COLOUR[meaning] },
  ])

/** Where no alert draws the line, but the word for the thing does. */
export const ownLimits = (steps: readonly Step[]): Limits => ({
  steps,
  lines: steps,
  words: () => '',
})

/** A step begins with its value, and `> 0` does not begin with 0. */
const stepOf = ({ bad, inclusive, value }: Limit, whole: boolean): number => {
  if (bad === 'below' || inclusive) return value
  if (whole) return value + 1
  return value === 0 ? 1e-9 : value
}
