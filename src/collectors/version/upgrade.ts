import { type Context, withDeadline } from '../../core/clock.ts'
import { SourceError } from '../../core/errors.ts'
import { chooseVersion, compareDebianVersions, parseOfferedVersion, parsePreferences } from '../../parsers/apt.ts'
import { type InstalledPackage } from '../../parsers/version.ts'
import { type PackageLists } from '../../sources/package-lists.ts'

/** What apt would install for the package of the node. */
export interface Upgrade {
  /** Null if unknown. */
  readonly candidate: string | null
  /** Whether the candidate is newer than the installed version. */
  readonly isAvailable: boolean | null
  readonly state: string
}

/** Reads files only: the lists are as old as the last `apt-get update`. */
export const readUpgrade = async (
  lists: PackageLists,
  installed: InstalledPackage | null,
  { context, timeout }: { readonly context: Context; readonly timeout: number },
): Promise<Upgrade> => {
  if (installed === null) return unknown('the installed version is unknown')
  try {
    const listing = await withDeadline(context, timeout, ({ signal }) => lists.read(installed.package ?? '', signal))
    return upgradeOf(installed, listing)
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    return unknown(error.timeout ? 'the package lists are still being read' : error.summary)
  }
}

const upgradeOf = (
  { package: name, version, architecture: own, isHeld }: InstalledPackage,
  listing: Awaited<ReturnType<PackageLists['read']>>,
): Upgrade => {
  if (listing === null) return unknown('this host has no package lists')
  const { stanzas, compressed } = listing
  const available = stanzas
    .flatMap((stanza) => parseOfferedVersion(stanza) ?? [])
    .filter(({ architecture }) => architecture === own || architecture === 'all')
    .map((offered) => offered.version)
  const unread = compressed > 0 ? `${compressed} package lists are compressed and not read` : null
  if (available.length === 0) return unknown(unread ?? 'no package list has the package')
  const pins = listing.preferences.flatMap(parsePreferences)
  const candidate = chooseVersion({ name: name ?? '', installed: version, available, pins })
  if (candidate === null) return unknown('a pin that is not evaluated may decide')
  const isAvailable = compareDebianVersions(candidate, version) > 0
  if (!isAvailable && unread !== null) return unknown(unread)
  const newest = available.toSorted(compareDebianVersions).at(-1) ?? version
  const pinned = compareDebianVersions(newest, candidate) > 0 ? `; ${newest} is excluded by a pin` : ''
  return {
    candidate,
    isAvailable,
    state: `${isAvailable ? `${candidate} is available` : 'none available'}${pinned}${isHeld ? '; the package is on hold' : ''}`,
  }
}

const unknown = (why: string): Upgrade => ({ candidate: null, isAvailable: null, state: `unknown: ${why}` })
