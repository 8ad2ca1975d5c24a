/** The newest of the kernels of which `/boot` holds an image, by its file name; null where it holds none. */
export const newestKernel = (names: readonly string[]): string | null =>
  names
    .flatMap((name) => /^vmlinuz-(\d+\.\d+\.\d[\w.+~-]{0,50})$/.exec(name)?.[1] ?? [])
    .toSorted(compareReleases)
    .at(-1) ?? null

/**
 * The order in which GRUB sorts them: number by number, so that 6.8.0-100 comes behind 6.8.0-59, and
 * a release candidate before the release.
 */
export const compareReleases = (a: string, b: string): number => {
  const [left, right] = [partsOf(a), partsOf(b)]
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const order = compareParts(left[at] ?? '', right[at] ?? '')
    if (order !== 0) return order
  }
  return 0
}

const partsOf = (release: string): readonly string[] =>
  release.replaceAll(/[-.]?rc(?=\d)/g, '~').match(/\d+|~|[a-z]+/gi) ?? []

const compareParts = (a: string, b: string): number => {
  if (a === b) return 0
  if (a === '~' || b === '~') return a === '~' ? -1 : 1
  if (/^\d/.test(a) && /^\d/.test(b)) return Number(a) - Number(b)
  // A number is newer than a word, and a word than the end.
  if (/^\d/.test(a) !== /^\d/.test(b)) return /^\d/.test(a) ? 1 : -1
  return a < b ? -1 : 1
}
