/** How many blocks may be asked for at a time, after the service has found a request too large. */
export const createSpan = () => {
  let most = Number.POSITIVE_INFINITY
  let whole = 0
  return {
    end: (from: number, end: number): number => Math.min(end, from + most - 1),
    /** Halves it. False where one block was too much already. */
    shrink: (asked: number): boolean => {
      if (asked <= 1) return false
      most = Math.min(most, Math.floor(asked / 2))
      whole = 0
      return true
    },
    /** Where the blocks are emptier, it may be more again. */
    fits: (covered: number): void => {
      whole = covered >= most ? whole + 1 : 0
      if (whole < GROWS_AFTER) return
      most *= 2
      whole = 0
    },
  }
}

const GROWS_AFTER = 8
