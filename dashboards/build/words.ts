import {
  MappingType,
  SpecialValueMatch,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { COLOUR, type Meaning } from './colours.ts'

/** What a number stands for, in a word, and how good that is. */
export type Words = Readonly<Record<number, readonly [text: string, meaning: Meaning]>>

export const mappingsOf = (
  words: Words,
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

/** What nobody knows is neither good nor bad: without this Grafana gives it the colour of the least step. */
export const unknownIn = (color: string): ValueMapping => ({
  type: MappingType.SpecialValue,
  options: { match: SpecialValueMatch.NullAndNan, result: { text: 'no data', color, index: 99 } },
})

/** For a time until something: less than none is over. */
export const pastIn = (color: string): ValueMapping => ({
  type: MappingType.RangeToText,
  options: { from: null, to: 0, result: { text: 'past', color, index: 98 } },
})

export const UP: Words = { 0: ['DOWN', 'critical'], 1: ['up', 'good'] }
/** Where 1 is what nobody wants. */
export const alarm = (bad: string, meaning: Meaning = 'critical'): Words => ({
  0: ['no', 'good'],
  1: [bad, meaning],
})
/** Where 1 is neither good nor bad. */
export const fact = (text: string): Words => ({ 0: ['no', 'good'], 1: [text, 'info'] })
