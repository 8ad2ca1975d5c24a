/** How much is asked for at a time. */
export interface Sizer {
  size(): number
  /** So much was too much. */
  refused(asked: number): void
  /** So much came in so many characters. */
  came(asked: number, characters: number): void
}

interface SizerOptions {
  readonly first: number
  readonly most: number
  /** An answer of about this length is neither heavy for the node nor for us. */
  readonly characters: number
}

/** Answers without a refusal before more is tried. */
const CALM = 8

/** Doubles while nobody complains; halves when somebody does, and grows slowly from then on. Never aims at long answers. */
export const createSizer = ({ first, most, characters }: SizerOptions): Sizer => {
  let size = first
  let calm = CALM
  let growth = 2
  return {
    size: () => size,
    refused: (asked) => {
      size = Math.max(1, Math.floor(asked / 2))
      calm = 0
      growth = 1.25
    },
    came: (asked, came) => {
      calm += 1
      const fitting = Math.max(1, Math.floor((asked * characters) / Math.max(came, 1)))
      // Near the tip there is less to ask for than could be: that says nothing of more.
      const wanted = asked >= size && calm >= CALM ? Math.ceil(size * growth) : size
      size = Math.min(most, fitting, wanted)
    },
  }
}
