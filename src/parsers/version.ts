import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { tryJson } from '../core/json.ts'
import { second } from '../core/units.ts'

/** The order of one version relative to another. */
type Order = 'same' | 'older' | 'newer' | 'unknown'

type VersionNumber = NonNullable<ReturnType<typeof readVersion>>

/**
 * Compares `v0.12.2-rc` of a tag, `0.12.1~rc` of a package, `Name/0.14.2` of an endpoint. A release is older than its
 * hotfixes and its rebuilds (`v0.16.2+1` is another commit than `v0.16.2`), and newer than its candidates. What a
 * distribution adds (`1:`, `-1`, `+deb12u1`) is packaging of the same program and does not affect the order.
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
 * Whether a process runs a different version than the installed one; null if the versions do not show it. An endpoint
 * reports three numbers and omits the rest, so a suffix that only the installed version has shows nothing. A suffix
 * that only the running version has is a difference: packages and tags have the complete version.
 */
export const isDifferentVersion = (installed: string | null, running: string | null): boolean | null => {
  const [installedVersion, runningVersion] = [readVersion(installed), readVersion(running)]
  if (!installedVersion || !runningVersion) return null
  if (byNumbers(installedVersion, runningVersion) !== 0) return true
  if (runningVersion.stage === 0) return installedVersion.suffix === runningVersion.suffix ? false : null
  const difference = byStage(installedVersion, runningVersion)
  return difference === null ? null : difference !== 0
}

/** The version in a text, without `v` and name; null if the text has none. */
export const versionIn = (text: string | null): string | null =>
  (text !== null && VERSION.exec(text.trim())?.groups?.['version']) || null

/** A name before the slash, an epoch, a `v`; at least two numbers; a suffix without whitespace. */
const VERSION =
  /^(?:[\w.-]{1,60}\/)?(?:\d{1,5}:)?v?(?<version>(?<numbers>\d{1,9}(?:\.\d{1,9}){1,4})(?<suffix>[-~+][\w.+~-]{0,60})?)$/i

/** The parts of a version as a tool, a package or an endpoint prints it; `count` is that of the candidate, hotfix or rebuild. */
const readVersion = (text: string | null) => {
  const { numbers, suffix = '' } = VERSION.exec(text?.trim() ?? '')?.groups ?? {}
  if (numbers === undefined) return null
  const [, word = '', count = ''] = WORD.exec(suffix.toLowerCase()) ?? []
  return { numbers: numbers.split('.').map(Number), stage: stageOf(word), suffix, word, count: Number(count) }
}

/**
 * The first word of the suffix and its number: `-rc.2`, `+1`. In `~rc-1` the 1 is a package revision, as is a suffix
 * that begins with a digit or with `+` and a letter.
 */
const WORD = /^[-~]?([a-z]+|\+(?=\d))\.?(\d{0,9})/

/** Suffixes before the release, oldest first. */
const EARLIER = ['dev', 'debug', 'nightly', 'alpha', 'beta', 'preview', 'pre', 'rc']
const REBUILD = '+'
const LATER = ['hotfix', 'fix', 'patch', REBUILD]
/** Suffixes that distributions add. */
const PACKAGING = ['', 'deb', 'ubuntu', 'bpo']

/** Below 0 before the release (`-rc`), 0 for the release, above 0 after it; null for an unknown suffix. */
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
  if ((a.word === REBUILD) !== (b.word === REBUILD)) return null
  return a.stage === 0 ? 0 : a.count - b.count
}

/** The newest kernel release among the file names of images in `/boot`; null if there is none. */
export const newestKernel = (names: readonly string[]): string | null =>
  names
    .flatMap((name) => /^vmlinuz-(\d+\.\d+\.\d[\w.+~-]{0,50})$/.exec(name)?.[1] ?? [])
    .toSorted(compareReleases)
    .at(-1) ?? null

/**
 * The order of kernel releases as in GRUB: number by number, so that 6.8.0-100 is newer than
 * 6.8.0-59, and a release candidate is older than its release.
 */
export const compareReleases = (a: string, b: string): number =>
  sortKey(a) < sortKey(b) ? -1 : Number(sortKey(a) !== sortKey(b))

const sortKey = (release: string): string =>
  `${release.replaceAll(/[-.]?rc(?=\d)/g, '\u0001').replaceAll(/\d+/g, (number) => number.padStart(9, '0'))}\u0002`

export type InstalledPackage = NonNullable<ReturnType<typeof parseInstalledPackage>>

/** Desired state, actual state, error. In the states `iUFWt` the files of the package are present. */
const STATUS = /^([uirph])([iUFWtncH])R?$/
const PACKAGE = /^([a-z0-9][a-z0-9+.-]*)(?::\w+)?$/
const PACKAGE_VERSION = /^(?:\d+:)?\d[\w.+~-]*$/

/**
 * Parses the output of dpkg-query for one package with `${db:Status-Abbrev} ${Package} ${Version} ${Architecture}
 * ${db-fsys:Last-Modified}`; null if the package is not installed or was removed. Throws a ParseError.
 */
export const parseInstalledPackage = (text: string) => {
  const [status = '', named = '', version = '', architecture = '', modified = ''] = text.trim().split(/\s+/, 5)
  const [, wanted, state = ''] = STATUS.exec(status) ?? []
  if ('ncH'.includes(state) && state !== '') return null
  const [, name] = PACKAGE.exec(named) ?? []
  if (wanted === undefined || name === undefined || !PACKAGE_VERSION.test(version)) {
    throw new ParseError('the version of the package', 'an installed package with its version', text)
  }
  return {
    package: name,
    version,
    architecture,
    /** In milliseconds; null if dpkg did not return it (before 1.19.3). */
    installedAt: /^\d{1,11}$/.test(modified) ? Number(modified) * second : null,
    /** `apt-mark hold`: apt does not upgrade it by itself. */
    isHeld: wanted === 'h',
  }
}

/** The version of a node program as it reports it. Null is a value that is missing or empty. */
export type NodeVersion = ReturnType<typeof parseNodeVersion>

const optional = z.string().nullish()
/** All texts are empty in a build without git. */
const build = z
  .object({ tag: optional, commit: optional, branch: optional, modified: z.boolean().nullish() })
  .refine(({ tag, commit }) => typeof (tag ?? commit) === 'string')
  .transform(({ tag, commit, branch, modified = null }) => ({
    tag: tag || null,
    commit: commit || null,
    branch: branch || null,
    /** Also true in official builds. */
    modified,
  }))

const NO_BUILD: z.output<typeof build> = { tag: null, commit: null, branch: null, modified: null }

const JSON_LINE = /^(?:([\w.-]+) )?(\{.*\})$/
const PLAIN_LINE = /^([\w.-]+) v?(\d+\.\d+\.\d+[\w.+~-]*)$/
const TAG = /^v?(\d+\.\d+\.\d+[\w.+~-]*)$/

/** Parses the output of `--version` of a node program; the version is `0.14.2-rc` of the tag `v0.14.2-rc`. Throws a ParseError. */
export const parseNodeVersion = (text: string) => {
  for (const line of text.split('\n').map((one) => one.trim())) {
    const [, program = null, json] = JSON_LINE.exec(line) ?? []
    const { data } = json === undefined ? {} : build.safeParse(tryJson(json))
    if (data) {
      const [, version = null] = TAG.exec(data.tag ?? '') ?? []
      return { program, version, ...data }
    }
    const [, name, version] = PLAIN_LINE.exec(line) ?? []
    if (name !== undefined && version !== undefined) {
      return { program: name, version, ...NO_BUILD }
    }
  }
  throw new ParseError('the version of the node', 'NAME {"tag":…} or NAME x.y.z', text)
}
