/** The candidate that a misspelt word most likely meant; undefined when none is near. */
export const nearest = (word: string, candidates: readonly string[]): string | undefined => {
  const [best] = candidates
    .map((candidate) => ({
      candidate,
      distance: editDistance(word.toLowerCase(), candidate.toLowerCase()),
    }))
    .toSorted((a, b) => a.distance - b.distance)
  return best && best.distance <= Math.max(2, Math.floor(word.length / 3))
    ? best.candidate
    : undefined
}

/** Levenshtein distance: insertions, deletions and substitutions, row by row. */
const editDistance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1]
    for (const [column, other] of [...b].entries()) {
      const substitute = (previous[column] ?? 0) + (letter === other ? 0 : 1)
      current.push(
        Math.min(substitute, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1),
      )
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
