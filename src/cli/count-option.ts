import { InvalidArgumentError } from 'commander'

/** The newest so many are held before the first of them is printed; a stretch of time is not. */
const MOST = 20_000

/** How many of the newest are wanted. */
export const readCount =
  (what: string) =>
  (text: string): number => {
    const count = Number(text)
    if (/^[1-9]\d*$/.test(text) && count <= MOST) return count
    throw new InvalidArgumentError(
      `expected a number of at least 1 and at most ${MOST}; --since gives more ${what}`,
    )
  }
