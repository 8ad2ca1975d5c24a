import { type Clock, type Context, withDeadline } from '../../core/clock.ts'
import { asError, ParseError, SourceError } from '../../core/errors.ts'
import { type Recorder, type SampleIndex } from '../../core/metric.ts'
import {
  type InstalledPackage,
  parseHeld,
  parseInstalledPackage,
  type NodeVersion,
  parseNodeVersion,
  versionIn,
} from '../../parsers/version.ts'
import { minute, second } from '../../core/units.ts'
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

/**
 * Keeps a result while the text that `InstalledFiles` returns does not change, for ten minutes: a program may be a script
 * that runs another one. A failed read is repeated at each call, as is one without such a text.
 */
export const createKeptResult = <Value>() => {
  let kept: { readonly result: VersionResult<Value>; readonly from: string; readonly dueAt: number } | undefined
  return async (
    from: string | null,
    clock: Clock,
    read: () => Promise<VersionResult<Value>>,
  ): Promise<VersionResult<Value>> => {
    const now = clock.elapsed()
    if (kept?.from === from && now < kept.dueAt) return kept.result
    const result = await read()
    kept = result.ok && from !== null ? { result, from, dueAt: now + READ_EVERY_MS } : undefined
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

/** Kernel images, and the packages that depend on the newest one. */
const KERNELS = ['linux-image*', 'linux-generic*']

/** Whether a package of the kernel is on hold; null if there is none. */
export const readKernelHeld = async (context: VersionContext): Promise<VersionResult<boolean | null>> =>
  resultOf(context, 'dpkg', async (signal) => {
    const { stdout } = await context.exec.run(
      // 1: one of the patterns matches no package.
      { command: 'dpkg-query', args: ['-W', '-f=${db:Status-Abbrev} ${Package}\\n', ...KERNELS], answers: [0, 1] },
      signal,
    )
    return () => parseHeld(stdout)
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
    const parse = await withDeadline(context, timeout, async ({ signal }) => await read(signal))
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
export const runningVersions = (known: SampleIndex): readonly RunningVersion[] => {
  const rpc = versionIn(labelOf(known, 'chain_rpc_info', 'client_version'))
  const native = versionIn(labelOf(known, 'chain_native_info', 'version'))
  return [
    ...(rpc === null ? [] : [{ source: 'rpc' as const, version: rpc }]),
    ...(native === null ? [] : [{ source: 'native' as const, version: native }]),
  ]
}

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

const labelOf = (
  known: SampleIndex,
  metric: 'chain_rpc_info' | 'chain_native_info' | 'chain_status_info',
  label: string,
): string | null => known.series(metric)[0]?.labels[label] || null
