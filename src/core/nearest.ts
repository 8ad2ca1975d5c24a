/** Longer words are no misspelling of ours, and would cost the square of their length. */
const MAX_LENGTH = 60

/** Shorter words begin too many candidates. */
const MIN_PREFIX = 3

/** The candidate that a misspelt or unfinished word most likely meant; undefined when none is near. */
export const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  const all = [...candidates]
  const [best] = all
    .map((candidate) => ({ candidate, distance: editDistance(fold(word), fold(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance)
  if (best && best.distance <= Math.max(1, Math.floor(best.candidate.length / 3))) {
    return best.candidate
  }
  return word.length < MIN_PREFIX
    ? undefined
    : all.find((candidate) => candidate.startsWith(fold(word)))
}

const fold = (word: string): string => word.slice(0, MAX_LENGTH).toLowerCase()

/** How many letters have to be added, taken away or changed (Levenshtein), row by row. */
const editDistance = (from: string, to: string): number => {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...from].entries()) {
    const current = [row + 1]
    for (const [column, other] of [...to].entries()) {
      const changed = (previous[column] ?? 0) + (letter === other ? 0 : 1)
      current.push(Math.min(changed, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
