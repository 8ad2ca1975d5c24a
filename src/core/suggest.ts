/** Longer words are not misspellings, and comparing them takes time quadratic in their length. */
const MAX_LENGTH = 60

/** Shorter words are prefixes of too many candidates. */
const MIN_PREFIX = 3

/** The candidate closest to a misspelt or incomplete word; undefined if none is close. */
export const closestMatch = (word: string, candidates: Iterable<string>): string | undefined => {
  const all = [...candidates]
  const [best] = all
    .map((candidate) => ({ candidate, distance: editDistance(fold(word), fold(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance)
  if (best && best.distance <= Math.max(1, Math.floor(best.candidate.length / 3))) {
    return best.candidate
  }
  return word.length < MIN_PREFIX ? undefined : all.find((candidate) => candidate.startsWith(fold(word)))
}

/** The last line of an error about a word: the candidate that was meant, or what else helps. */
export const hintFor = (word: string, candidates: Iterable<string>, otherwise: string): string => {
  const meant = closestMatch(word, candidates)
  return `\n(${meant === undefined ? otherwise : `Did you mean ${meant}?`})`
}

const fold = (word: string): string => word.slice(0, MAX_LENGTH).toLowerCase()

/** The Levenshtein distance, computed row by row, in which two letters in the wrong order are one change. */
const editDistance = (from: string, to: string): number => {
  let beforePrevious: readonly number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...from].entries()) {
    const current = [row + 1]
    for (const [column, other] of [...to].entries()) {
      const changed = (previous[column] ?? 0) + (letter === other ? 0 : 1)
      const isSwapped = letter === to[column - 1] && other === from[row - 1]
      const swapped = isSwapped ? (beforePrevious[column - 1] ?? Infinity) + 1 : Infinity
      current.push(Math.min(changed, swapped, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    beforePrevious = previous
    previous = current
  }
  return previous[to.length] ?? 0
}
