import { MappingType, SpecialValueMatch, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard'
import { COLOUR, type Meaning } from './colours.ts'

/** The label of each value of a series, and its meaning. */
export type ValueLabels = Readonly<Record<number, readonly [text: string, meaning: Meaning]>>

export const mappingsOf = (
  words: ValueLabels,
  tint: (colour: string) => string = (colour) => colour,
): ValueMapping[] => [
  {
    type: MappingType.ValueToText,
    options: Object.fromEntries(
      Object.entries(words).map(([value, [text, meaning]], index) => [
        value,
        { text, color: tint(COLOUR[meaning]), index },
      ]),
    ),
  },
]

/** The meaning of each text of a label. */
export type TextLabels = Readonly<Record<string, Meaning>>

export const textMappingOf = (words: TextLabels, tint: (colour: string) => string): ValueMapping => ({
  type: MappingType.ValueToText,
  options: Object.fromEntries(
    Object.entries(words).map(([text, meaning], index) => [text, { text, color: tint(COLOUR[meaning]), index }]),
  ),
})

/** Unknown is neither good nor bad: without this mapping Grafana gives it the colour of the lowest step. */
export const unknownIn = (color: string, text = NO_DATA): ValueMapping => ({
  type: MappingType.SpecialValue,
  options: { match: SpecialValueMatch.NullAndNan, result: { text, color, index: 99 } },
})

/** The text for a value that should be there and is missing. */
export const NO_DATA = 'no data'

/** For the time until an event: a negative time means that it is over. */
export const pastIn = (color: string): ValueMapping => ({
  type: MappingType.RangeToText,
  options: { from: null, to: 0, result: { text: 'past', color, index: 98 } },
})

export const UP: ValueLabels = { 0: ['DOWN', 'critical'], 1: ['up', 'good'] }
/** Health as a number: the worst state is the highest. */
export const HEALTH: ValueLabels = {
  0: ['healthy', 'good'],
  1: ['maintenance', 'info'],
  2: ['warning', 'warning'],
  3: ['unknown', 'unknown'],
  4: ['CRITICAL', 'critical'],
}
/** For series where 1 is a fault. */
export const alarm = (bad: string, meaning: Meaning = 'critical'): ValueLabels => ({
  0: ['no', 'good'],
  1: [bad, meaning],
})
export const NONE: ValueLabels = { 0: ['none', 'good'] }
/** For series where 1 is neither good nor bad. */
export const fact = (text: string): ValueLabels => ({ 0: ['no', 'good'], 1: [text, 'info'] })
