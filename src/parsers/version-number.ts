/** How one version stands to another. */
export type Order = 'same' | 'older' | 'newer' | 'unknown'

/** A version as a tool, a package or an endpoint prints it, taken apart. */
interface VersionNumber {
  readonly numbers: readonly number[]
  /** Below 0 before the release (`-rc`), 0 the release itself, above it after it; null is a word that nobody knows. */
  readonly stage: number | null
  readonly word: string
  /** Which candidate or hotfix it is. */
  readonly count: number
}

/**
 * `v0.12.2-rc` of a tag, `0.12.1~rc` of a package, `Name/0.14.2` of an endpoint. The release is older
 * than its hotfixes and newer than its candidates. What a package adds on its own account (`1:`, `-1`,
 * `+1`, `+deb12u1`) is the packaging of one and the same program, and orders nothing.
 */
export const compareVersions = (one: string | null, other: string | null): Order => {
  const [a, b] = [readVersion(one), readVersion(other)]
  if (!a || !b) return 'unknown'
  const difference = byNumbers(a, b) || byStage(a, b)
  if (difference === null) return 'unknown'
  if (difference === 0) return 'same'
  return difference < 0 ? 'older' : 'newer'
}

/**
 * Whether a process runs another version than the one that is installed; null where either is unknown.
 * An endpoint tells three numbers and leaves out the rest, so a suffix that only the installed version
 * has is no difference; one that only the running version has is: a package or a tag tells all of it.
 */
export const isOtherVersion = (
  installed: string | null,
  running: string | null,
): boolean | null => {
  const [there, runs] = [readVersion(installed), readVersion(running)]
  if (!there || !runs) return null
  if (byNumbers(there, runs) !== 0) return true
  if (runs.stage === 0) return false
  const difference = byStage(there, runs)
  return difference === null ? null : difference !== 0
}

/** A version as one would write it: without `v` and name; null where there is none in the text. */
export const versionIn = (text: string | null): string | null =>
  (text !== null && VERSION.exec(text.trim())?.groups?.['version']) || null

/** A name before the slash, an epoch, a `v`; at least two numbers; a suffix that no blank ends. */
const VERSION =
  /^(?:[\w.-]{1,60}\/)?(?:\d{1,5}:)?v?(?<version>(?<numbers>\d{1,9}(?:\.\d{1,9}){1,4})(?<suffix>[-~+][\w.+~-]{0,60})?)$/i

const readVersion = (text: string | null): VersionNumber | null => {
  const { numbers, suffix = '' } = VERSION.exec(text?.trim() ?? '')?.groups ?? {}
  if (numbers === undefined) return null
  const [, word = '', count = ''] = WORD.exec(suffix.toLowerCase()) ?? []
  return {
    numbers: numbers.split('.').map(Number),
    stage: stageOf(word),
    word,
    count: Number(count),
  }
}

/** The first word, and which one it is: `-rc.2`. Of `~rc-1` the 1 is a revision, as is what begins with a digit or `+`. */
const WORD = /^[-~]([a-z]+)\.?(\d{0,9})/

/** In this order they come before the release. */
const EARLIER = ['dev', 'debug', 'nightly', 'alpha', 'beta', 'preview', 'pre', 'rc']
const LATER = ['hotfix', 'fix', 'patch']
/** What distributions add. */
const PACKAGING = ['', 'deb', 'ubuntu', 'bpo']

const stageOf = (word: string): number | null => {
  if (PACKAGING.includes(word)) return 0
  if (LATER.includes(word)) return 1
  return EARLIER.includes(word) ? EARLIER.indexOf(word) - EARLIER.length : null
}

const byNumbers = (a: VersionNumber, b: VersionNumber): number => {
  for (let index = 0; index < Math.max(a.numbers.length, b.numbers.length); index += 1) {
    const difference = (a.numbers[index] ?? 0) - (b.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const byStage = (a: VersionNumber, b: VersionNumber): number | null => {
  if (a.stage === null || b.stage === null) {
    return a.word === b.word && a.count === b.count ? 0 : null
  }
  if (a.stage !== b.stage) return a.stage - b.stage
  return a.stage === 0 ? 0 : a.count - b.count
}
