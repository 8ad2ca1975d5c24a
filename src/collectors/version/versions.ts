import { type Clock, type Context, withDeadline } from '../../core/clock.ts'
import { asError, ParseError, SourceError, summaryOf } from '../../core/errors.ts'
import { type Recorder, type SampleIndex } from '../../core/metric.ts'
import { parsePolicy } from '../../parsers/apt.ts'
import {
  type InstalledPackage,
  parseInstalledPackage,
  type NodeVersion,
  parseNodeVersion,
  versionIn,
} from '../../parsers/version.ts'
import { hour, minute, second } from '../../core/units.ts'
import { type UnknownValue, unknownValue } from '../../core/unknown-values.ts'
import { type RUNNING_SOURCES } from './definition.ts'
import { type Exec } from '../../sources/exec.ts'

/** The version of a program or package, or the error. */
export type VersionResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Error }

interface VersionContext {
  readonly exec: Exec
  readonly recorder: Recorder
  readonly context: Context
  /** Timeout of each program, in milliseconds: a program that hangs does not affect the others. */
  readonly timeout: number
}

const READ_EVERY_MS = 10 * minute

/** How long a result is kept, and a failure, in milliseconds. */
interface KeptTimes {
  readonly every: number
  readonly retry: number
}

/** A program may be a script that runs another one. A failed read is repeated at each call. */
const OF_PROGRAMS: KeptTimes = { every: READ_EVERY_MS, retry: 0 }
/** apt reads all lists: half a second of CPU time and more. */
export const OF_LISTS: KeptTimes = { every: 6 * hour, retry: READ_EVERY_MS }

/** Keeps a result while the text that `InstalledFiles` returns does not change. A read without such a text is repeated at each call. */
export const createKeptResult = <Value>({ every, retry }: KeptTimes = OF_PROGRAMS) => {
  let kept: { readonly result: VersionResult<Value>; readonly from: string; readonly dueAt: number } | undefined
  return async (
    from: string | null,
    clock: Clock,
    read: () => Promise<VersionResult<Value>>,
  ): Promise<VersionResult<Value>> => {
    const now = clock.elapsed()
    if (kept?.from === from && now < kept.dueAt) return kept.result
    const result = await read()
    kept = from === null ? undefined : { result, from, dueAt: now + (result.ok ? every : retry) }
    return result
  }
}

/** The version that a program prints for --version. */
export const readProgramVersion = async (
  command: string,
  context: VersionContext,
): Promise<VersionResult<NodeVersion>> =>
  resultOf(context, 'node-version', async (signal) => {
    const { stdout } = await context.exec.run({ command, args: ['--version'] }, signal)
    return () => parseNodeVersion(stdout)
  })

const FORMAT = '${db:Status-Abbrev} ${Package} ${Version} ${Architecture} ${db-fsys:Last-Modified}\\n'

/** The installed version of a package; null if dpkg has not installed it. */
export const readPackageVersion = async (
  name: string,
  context: VersionContext,
): Promise<VersionResult<InstalledPackage | null>> =>
  resultOf(context, 'dpkg', async (signal) => {
    const { exitCode, stdout, stderr } = await context.exec.run(
      // 1: the package is not installed, or an error.
      { command: 'dpkg-query', args: ['-W', `-f=${FORMAT}`, name], answers: [0, 1] },
      signal,
    )
    if (exitCode === 0) return () => parseInstalledPackage(stdout)
    if (/no packages? found/i.test(stderr)) return () => null
    throw new SourceError({
      doing: 'read the installed version from dpkg',
      happened: `exit code ${exitCode}`,
      evidence: stderr,
    })
  })

const resultOf = async <T>(
  { context, timeout, recorder }: VersionContext,
  format: 'node-version' | 'dpkg',
  read: (signal: AbortSignal) => Promise<() => T>,
): Promise<VersionResult<T>> => {
  const count = (by: 0 | 1): void => {
    recorder.count('chain_agent_lines_total', by, { format, result: 'unparsed' })
  }
  try {
    const parse = await withDeadline(context, timeout, ({ signal }) => read(signal))
    count(0)
    return { ok: true, value: parse() }
  } catch (thrown) {
    const error = asError(thrown)
    if (error instanceof ParseError) count(1)
    else if (!(error instanceof SourceError)) throw error
    return { ok: false, error }
  }
}

/** The version of a running process, and its source. */
export interface RunningVersion {
  readonly source: (typeof RUNNING_SOURCES)[number]
  readonly version: string
}

/** RPC and consensus are separate processes: after a partial restart their versions differ. */
export const runningVersions = (known: SampleIndex): readonly RunningVersion[] =>
  RUNNING.flatMap(({ source, metric, label }) => {
    const version = versionIn(known.series(metric)[0]?.labels[label] ?? null)
    return version === null ? [] : [{ source, version }]
  })

const RUNNING = [
  { source: 'rpc', metric: 'chain_rpc_info', label: 'client_version' },
  { source: 'native', metric: 'chain_native_info', label: 'version' },
] as const

/** The services that run programs of the package. */
const SERVICES = ['bft', 'execution', 'rpc'] as const

/**
 * Whether a service has been running since before the package was installed, so that it runs what was replaced: an
 * endpoint reports three numbers, and execution reports no version. Null if that is not known of consensus or execution.
 */
export const runsReplaced = (known: SampleIndex, installedAt: number | null): boolean | null => {
  if (installedAt === null) return null
  const isOlder = SERVICES.map((service) => {
    const startedAt = known.value('chain_service_start_timestamp_seconds', { service })
    const isActive = known.value('chain_service_active', { service }) === 1
    return isActive && startedAt !== undefined ? startedAt * second < installedAt : null
  })
  if (isOlder.includes(true)) return true
  return isOlder[0] === false && isOlder[1] === false ? false : null
}

/** The kind with one value per slot; all versions use this name. The page-encoded kind is named by the name prefix. */
const SLOT_KIND = 'ethereum'

/**
 * Whether the database has a page-encoded timeline, primary or secondary: from the storage report, else from the
 * metrics of consensus. Null for an unknown kind.
 */
export const hasPageTimeline = (known: SampleIndex, prefix: string): boolean | null => {
  const kinds = known.series('chain_storage_timeline_info').map(({ labels }) => labels['kind'])
  if (kinds.includes(prefix)) return true
  if (kinds.length > 0 && kinds.every((kind) => kind === SLOT_KIND)) return false
  const legacy = known.value('chain_native_migration_phase', { phase: 'legacy' })
  return kinds.length > 0 || legacy === undefined ? null : legacy === 0
}

/** Whether the primary timeline is slot-encoded, by the storage report alone: phases of consensus do not name it. */
export const hasSlotPrimary = (known: SampleIndex): boolean =>
  known
    .series('chain_storage_timeline_info')
    .some(({ labels }) => labels['timeline'] === 'primary' && labels['kind'] === SLOT_KIND)

/** Kinds of timelines that this version of the agent does not know. */
export const unknownKinds = (known: SampleIndex, prefix: string): readonly UnknownValue[] =>
  known
    .series('chain_storage_timeline_info')
    .flatMap(({ labels }) => unknownValue('state machine kind', labels['kind'], [SLOT_KIND, prefix]))

/** As root apt would write its cache. */
const NO_CACHE = ['Dir::Cache::pkgcache=', 'Dir::Cache::srcpkgcache=']

/** What apt would install for the package of the node, by the lists that the last `apt-get update` left on the host. */
export const readPolicy = async (name: string, root: string, context: VersionContext) =>
  resultOf(context, 'dpkg', async (signal) => {
    const directories = root === '/' ? [] : [`Dir=${root}`, `Dir::State::status=${root}/var/lib/dpkg/status`]
    const args = ['policy', name, ...[...NO_CACHE, ...directories].flatMap((option) => ['-o', option])]
    const { stdout } = await context.exec.run({ command: 'apt-cache', args }, signal)
    return () => parsePolicy(stdout)
  })

export type Upgrade = ReturnType<typeof upgradeOf>

/** `policy`: undefined on a host without package lists. */
export const upgradeOf = (
  installed: InstalledPackage | null,
  policy: VersionResult<ReturnType<typeof parsePolicy>> | undefined,
) => {
  const unknown = (why: string) => ({ candidate: null, isAvailable: null, state: `unknown: ${why}` })
  if (installed === null) return unknown('the installed version is unknown')
  if (policy === undefined) return unknown('this host has no package lists')
  if (!policy.ok) return unknown(summaryOf(policy.error))
  if (policy.value === null) return unknown('no package list has the package')
  const { candidate, isNewer, excluded } = policy.value
  const pinned = excluded === undefined ? '' : `; ${excluded} is excluded by a pin`
  const held = installed.isHeld ? '; the package is on hold' : ''
  const state = `${isNewer ? `${candidate} is available` : 'none available'}${pinned}${held}`
  return { candidate, isAvailable: isNewer, state }
}
