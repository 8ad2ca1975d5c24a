/** Adapts the number of items per request. */
export interface BatchSizer {
  size(): number
  /** A request for this number of items was too large or too slow. */
  reduce(requested: number): void
  /** Records how many characters the last batch took. */
  record(requested: number, characters: number): void
}

interface BatchSizerOptions {
  readonly first: number
  readonly most: number
  /** Target size of a response, in characters. */
  readonly characters: number
}

/** Successful requests after a reduction before the batch grows again. */
const GROWTH_PAUSE = 8

/**
 * Doubles until the first reduction, which halves the batch; then it grows slowly. Responses are kept below the target
 * size.
 */
export const createBatchSizer = ({ first, most, characters }: BatchSizerOptions): BatchSizer => {
  let size = first
  let successes = GROWTH_PAUSE
  let growth = 2
  return {
    size: () => size,
    reduce: (requested) => {
      size = Math.max(1, Math.floor(requested / 2))
      successes = 0
      growth = 1.25
    },
    record: (requested, received) => {
      successes += 1
      const fitting = Math.max(1, Math.floor((requested * characters) / Math.max(received, 1)))
      // Near the chain head requests are smaller than allowed, which says nothing about larger ones.
      const wanted = requested >= size && successes >= GROWTH_PAUSE ? Math.ceil(size * growth) : size
      size = Math.min(most, fitting, wanted)
    },
  }
}
