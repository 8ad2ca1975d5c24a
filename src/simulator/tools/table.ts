/** A table as systemctl prints it: the head first, columns as wide as they must be. */
export const renderTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] => {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(' ')
      .trimEnd(),
  )
}
