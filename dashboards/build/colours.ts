/**
 * The palette of Okabe and Ito, which is distinguishable with colour vision deficiencies. Colour never carries meaning
 * alone: states have labels, limits are lines with their numbers in the description, and lines also differ in dashes.
 */
export const COLOUR = {
  good: '#009E73',
  info: '#56B4E9',
  warning: '#E69F00',
  critical: '#D55E00',
  unknown: '#8C8C8C',
} as const

/** Colour of events, which are neither good nor bad. */
export const EVENT = '#CC79A7'

export type Meaning = keyof typeof COLOUR
