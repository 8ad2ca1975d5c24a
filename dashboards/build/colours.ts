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

export type Meaning = keyof typeof COLOUR

/** The same meanings behind white text, which has a contrast of at least 4.5 on them. */
const FILL: Readonly<Record<Meaning, string>> = {
  good: '#00694D',
  info: '#0072B2',
  warning: '#946300',
  critical: '#B34700',
  unknown: '#6E6E6E',
}

const MEANINGS = Object.keys(FILL).filter((name): name is Meaning => name in COLOUR)

/** The colour of an area with text on it. */
export const fillOf = (colour: string): string => {
  const meaning = MEANINGS.find((one) => COLOUR[one] === colour)
  return meaning ? FILL[meaning] : colour
}

const QUIET: readonly string[] = [COLOUR.good, COLOUR.info]

/** In tiles and tables only problems are coloured: a page of green or blue would hide them. */
export const quietFillOf = (colour: string): string => (QUIET.includes(colour) ? 'transparent' : fillOf(colour))

/** Colour of events, which are neither good nor bad. */
export const EVENT = '#CC79A7'
