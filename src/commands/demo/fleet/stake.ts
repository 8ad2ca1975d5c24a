const WHOLE_BPS = 10_000

/**
 * What consensus tells as the share of one of so many validators that lead equally often: whole basis
 * points, which sum up to the whole.
 */
export const stakeBpsOf = (index: number, validators: number): number =>
  upTo(index + 1, validators) - upTo(index, validators)

const upTo = (count: number, validators: number): number =>
  Math.floor((count * WHOLE_BPS) / validators)
