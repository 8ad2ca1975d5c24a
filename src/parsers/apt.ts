/** A stanza of apt's preferences, as in apt_preferences(5). */
export interface Pin {
  /** Names and patterns of packages. */
  readonly packages: readonly string[]
  /** `version 0.16.*`, `release a=stable`, `origin "host"`. */
  readonly pin: string
  readonly priority: number
}

/** Parses a file of preferences. A stanza that is not complete is omitted, as apt does. */
export const parsePreferences = (text: string): readonly Pin[] =>
  text
    .split(/\n[ \t]*\n/)
    .map(fieldsOf)
    .flatMap((fields) => {
      const [packages, pin, priority] = ['package', 'pin', 'pin-priority'].map((name) => fields.get(name))
      if (packages === undefined || pin === undefined || priority === undefined) return []
      const number = /^never$/i.test(priority) ? NEVER : Number(priority)
      return Number.isInteger(number) ? [{ packages: packages.split(/\s+/), pin, priority: number }] : []
    })

const NEVER = -32_768

/** Version and Architecture (`all`, or that of the CPU) of a stanza in a package list; null if one is missing. */
export const parseOfferedVersion = (stanza: string) => {
  const fields = fieldsOf(stanza)
  const [version = '', architecture] = ['version', 'architecture'].map((name) => fields.get(name))
  return DEBIAN_VERSION.test(version) && architecture !== undefined ? { version, architecture } : null
}

/** As in deb-version(7), with a limit of its length. */
const DEBIAN_VERSION = /^(?:\d{1,9}:)?\d[\w.+~-]{0,100}$/

const fieldsOf = (stanza: string): ReadonlyMap<string, string> =>
  new Map(
    stanza.split('\n').flatMap((line) => {
      const colon = line.indexOf(':')
      const isField = colon > 0 && /^[\w-]/.test(line)
      return isField ? [[line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const] : []
    }),
  )

interface Choice {
  readonly name: string
  readonly installed: string
  /** The versions in the package lists. */
  readonly available: readonly string[]
  readonly pins: readonly Pin[]
}

/** Priorities of apt_preferences(5). */
const INSTALLED = 100
const AVAILABLE = 500
/** From here on apt replaces a newer installed version by an older one. */
const DOWNGRADES = 1000

/**
 * The version that `apt-get install` would choose: of the highest priority the newest, and none that is older than the
 * installed one. Null if a pin that is not evaluated may decide: a pin of this package that names a release or an origin
 * or has another pattern than `*`, or one of all packages (`Package: *`) that may exclude a repository. Ubuntu ships some
 * of the latter for its own repositories, which do not have the package.
 */
export const chooseVersion = ({ name, installed, available, pins }: Choice): string | null => {
  const own = pins.filter(({ packages }) => packages.some((pattern) => mayName(pattern, name)))
  const globs = own.map(({ pin, priority }) => ({ glob: /^version\s+([^\s?[\\/]+)$/i.exec(pin)?.[1], priority }))
  const isEvaluated =
    own.every(({ packages }) => packages.every((pattern) => GLOB.test(pattern) || !mayName(pattern, name))) &&
    globs.every(({ glob }) => glob !== undefined)
  if (!isEvaluated || pins.some(mayExcludeRepository)) return null
  const listed = new Set(available)
  const priorityOf = (version: string): number =>
    globs.find(({ glob = '' }) => matchesVersion(glob, version))?.priority ??
    (listed.has(version) ? AVAILABLE : INSTALLED)
  const [best] = [...listed.add(installed)]
    .map((version) => ({ version, priority: priorityOf(version) }))
    .filter(
      ({ version, priority }) =>
        priority >= 0 && (priority >= DOWNGRADES || compareDebianVersions(version, installed) >= 0),
    )
    .toSorted((a, b) => b.priority - a.priority || compareDebianVersions(b.version, a.version))
  return best?.version ?? installed
}

/** A name, or a pattern of which only `*` is special: no regular expression, no source package, no architecture. */
const GLOB = /^(?!\/|src:)[^?[\\:]+$/

/** Whether a pattern may be that of the package. Of one that is not evaluated only the beginning is compared. */
const mayName = (pattern: string, name: string): boolean => {
  if (pattern === '*') return false
  if (GLOB.test(pattern)) return matches(pattern, name)
  return /^(?:\/|src:)/.test(pattern) || name.startsWith(/^[^*?[\\:]*/.exec(pattern)?.[0] ?? '')
}

/** apt ignores a pin of all packages by version. */
const mayExcludeRepository = ({ packages, pin, priority }: Pin): boolean =>
  packages.includes('*') &&
  priority < AVAILABLE &&
  !/^version\b/i.test(pin) &&
  !/^release\s(?:.*[\s,])?o=(?:Ubuntu|Debian)/i.test(pin)

/** A `*` at the end is a prefix match, in which another `*` is none: then the rest is a glob. */
const matchesVersion = (pattern: string, version: string): boolean => {
  const rest = pattern.replace(/\*$/, '')
  return (rest !== pattern && version.startsWith(rest)) || matches(rest, version)
}

/** A glob with `*` alone. */
const matches = (pattern: string, text: string): boolean => {
  const [first = '', ...parts] = pattern.split(/\*+/)
  if (parts.length === 0) return text === pattern
  if (!text.startsWith(first)) return false
  const last = parts.pop() ?? ''
  let at = first.length
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/** The order of deb-version(7): epoch, upstream version, revision. */
export const compareDebianVersions = (a: string, b: string): number => {
  const [left, right] = [partsOf(a), partsOf(b)]
  return (
    Number(left.epoch) - Number(right.epoch) ||
    compareParts(left.upstream, right.upstream) ||
    compareParts(left.revision, right.revision)
  )
}

const partsOf = (version: string) => {
  const { epoch = '0', upstream = '', revision = '' } = PARTS.exec(version)?.groups ?? {}
  return { epoch, upstream, revision }
}

const PARTS = /^(?:(?<epoch>\d{1,9}):)?(?<upstream>.*?)(?:-(?<revision>[^-]*))?$/

/** Text and numbers in turn; the text is compared first. */
const compareParts = (a: string, b: string): number => {
  const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)]
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [one, other] = [left[at] ?? '', right[at] ?? '']
    const order = at % 2 === 0 ? compareTexts(one, other) : compareNumbers(one, other)
    if (order !== 0) return order
  }
  return 0
}

const compareTexts = (a: string, b: string): number => {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const order = weightOf(a.charAt(at)) - weightOf(b.charAt(at))
    if (order !== 0) return order
  }
  return 0
}

/** A tilde is before the end, the end before letters, letters before other characters. */
const weightOf = (character: string): number => {
  if (character === '~') return -1
  if (character === '') return 0
  return character.charCodeAt(0) + (/[a-z]/i.test(character) ? 0 : 256)
}

const compareNumbers = (a: string, b: string): number => {
  const [one, other] = [BigInt(a), BigInt(b)]
  return one === other ? 0 : one < other ? -1 : 1
}
