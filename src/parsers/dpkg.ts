import { ParseError } from '../core/errors.ts'

export interface PackageVersion {
  /** Null if only the version was queried. */
  readonly package: string | null
  /** The Debian version, like `0.12.1~rc`, which sorts before `0.12.1`. */
  readonly version: string
}

/**
 * Columns: desired state, actual state, error; name; version; architecture. If the second letter is not `i`, the
 * package is not installed.
 */
const ROW = /^[uirph]i[R ]? +([a-z0-9][a-z0-9+.-]*)(?::\w+)?\s+(\S+)\s+\S+/
const PAIR = /^(?:([a-z0-9][a-z0-9+.-]*)(?::\w+)?\s+)?(\S+)$/
const VERSION = /^(?:\d+:)?\d[\w.+~-]*$/

/**
 * Parses a row of `dpkg -l`, or the output of `dpkg-query` for `${Package} ${Version}` or `${Version}`; of several
 * packages, the first. Throws a ParseError, also for a package that is not installed.
 */
export const parsePackageVersion = (text: string): PackageVersion => {
  for (const line of text.split('\n').map((one) => one.trim())) {
    const [, name = null, version = ''] = ROW.exec(line) ?? PAIR.exec(line) ?? []
    if (VERSION.test(version)) return { package: name, version }
  }
  throw new ParseError('the version of the package', 'an installed package with its version', text)
}

/**
 * The second letter: installed, unpacked, half configured, waiting for triggers. In all these states the files are
 * present.
 */
const STATUS = /^[uirph]([a-zA-Z])[R ]? /

/**
 * Parses the output of dpkg-query for one package with `${db:Status-Abbrev} ${Package} ${Version} …`; null if the
 * package is not installed or was removed. Throws a ParseError.
 */
export const parseInstalledPackage = (text: string): PackageVersion | null => {
  const row = text.trimStart()
  const [, status = ''] = STATUS.exec(row) ?? []
  if (/^[ncH]$/.test(status)) return null
  return parsePackageVersion(/^[iUFWt]$/.test(status) ? `ii ${row.slice(3)}` : row)
}
