/**
 * The palette of Okabe and Ito, which those who see colours in another way can tell apart as well. Meaning never hangs on it
 * alone: states have words, limits are lines with their numbers in the description, and lines differ in dashes, too.
 */
export const COLOUR = {
  good: '#009E73',
  info: '#56B4E9',
  warning: '#E69F00',
  critical: '#D55E00',
  unknown: '#8C8C8C',
} as const

/** What happened, and is neither good nor bad. */
export const EVENT = '#CC79A7'

export type Meaning = keyof typeof COLOUR
