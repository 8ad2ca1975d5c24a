import { chainIdOf } from '../../domain/agreement.ts'
import { forkSamples, forkState, type Readiness, readinessFor } from './forks.ts'
import { definition } from './definition.ts'
import { inSeconds } from '../../core/units.ts'
import { createSampleIndex, type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import type { parsePolicy } from '../../parsers/apt.ts'
import { isDifferentVersion, versionIn, type InstalledPackage, type NodeVersion } from '../../parsers/version.ts'
import {
  createKeptResult,
  OF_LISTS,
  hasPageTimeline,
  hasSlotPrimary,
  readPackageVersion,
  readProgramVersion,
  readPolicy,
  type RunningVersion,
  runningVersions,
  runsReplaced,
  unknownKinds,
  type Upgrade,
  upgradeOf,
  type VersionResult,
} from './versions.ts'
import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import { type Context } from '../../core/clock.ts'
import { excerpt, summaryOf } from '../../core/errors.ts'
import { createUnknownValues } from '../../core/unknown-values.ts'
import type { Settings, Uses } from '../dependencies.ts'

export interface VersionReading {
  /** A map from the name in the configuration. */
  readonly programs: ReadonlyMap<string, VersionResult<NodeVersion>>
  /** The value is null if dpkg has not installed the package. */
  readonly package: VersionResult<InstalledPackage | null>
  readonly upgrade: Upgrade
  /** Null if neither the package nor a program reports it. */
  readonly installed: string | null
  readonly running: readonly RunningVersion[]
  /** Whether a process runs a version other than the installed one; null if unknown. */
  readonly mismatch: boolean | null
  readonly forks: readonly Readiness[]
  /**
   * The day on which the list of forks was last compared with the public sources, in milliseconds; null if the chain is not
   * in the list and the operator has no file of forks.
   */
  readonly forksReviewedAt: number | null
}

type VersionCollectorOptions = Uses<
  'exec' | 'recorder' | 'readPrefix' | 'installedFiles' | 'published' | 'forks' | 'forksReviewedAt',
  Settings<typeof definition, 'programs' | 'package' | 'forksFile' | 'rootDirectory'>
>

type Policy = ReturnType<typeof parsePolicy>

/** Installed and running versions, and whether they meet the requirements of the next forks. */
export const version = (uses: VersionCollectorOptions): Collector<VersionReading> => {
  const { exec, recorder, readPrefix, rootDirectory, installedFiles, published, timing } = uses
  const { programs: names, package: configuredPackage, forks: networks, forksReviewedAt, forksFile } = uses
  const unknownValues = createUnknownValues(recorder, 'chain-mpt')
  /** A node does not change its chain: the chain id is kept while the RPC is down. */
  let chainId: string | null = null
  const keptPackage = createKeptResult<InstalledPackage | null>()
  const keptPolicy = createKeptResult<Policy>(OF_LISTS)
  const programs = names.map((name) => ({ name, kept: createKeptResult<NodeVersion>() }))

  const read = async (context: Context): Promise<VersionReading> => {
    const { word, from } = await readPrefix(context.signal)
    const versionContext = { exec, recorder, context, timeout: timing.timeout * 0.75 }
    const [packages, lists] = await Promise.all([installedFiles.packages(), installedFiles.packageLists()])
    const packageName = configuredPackage ?? word
    const readProgram = async ({ name, kept }: (typeof programs)[number]) => {
      const command = `${word}-${name}`
      const file = await installedFiles.program(command)
      return [name, await kept(file, context.clock, () => readProgramVersion(command, versionContext))] as const
    }
    const [package_, policy, ...named] = await Promise.all([
      keptPackage(packages && `${packageName} ${packages}`, context.clock, () =>
        readPackageVersion(packageName, versionContext),
      ),
      lists === null
        ? undefined
        : keptPolicy(packages && `${packageName} ${packages} ${lists}`, context.clock, () =>
            readPolicy(packageName, rootDirectory, versionContext),
          ),
      ...programs.map(readProgram),
    ])
    const results = named.map(([, result]) => result)
    // After the programs, so that the first reading has the samples of the other collectors.
    const known = createSampleIndex(published())
    // Without a node the prefix, which is also the name of a kind, is unknown.
    unknownValues.add(from === 'default' ? [] : unknownKinds(known, word))
    const running = runningVersions(known)
    const installed = installedVersion(package_, results)
    chainId = chainIdOf(known) ?? chainId
    const forks = networks.get(chainId ?? '')
    const found = package_.ok ? package_.value : null
    const mismatch = mismatchOf(installed, running, runsReplaced(known, found?.installedAt ?? null))
    const failure = results.find((result) => !result.ok)
    if (installed === null && running.length === 0 && failure) throw failure.error
    const node = {
      installed,
      running,
      mismatch,
      hasPageTimeline: hasPageTimeline(known, word),
      hasSlotPrimary: hasSlotPrimary(known),
    }
    return {
      programs: new Map(named),
      package: package_,
      upgrade: upgradeOf(found, policy),
      installed,
      running,
      mismatch,
      forksReviewedAt: forks !== undefined || forksFile !== null ? forksReviewedAt : null,
      forks: readinessFor(forks ?? [], node, context.clock.now()),
    }
  }

  return {
    ...metadataOf(definition, timing),
    run: poll(timing, read),
    samples,
    states: (reading) => ({ ...states(reading), ...unknownValues.states() }),
  }
}

/** From the package, which is unique for a release; else from the first program that reports it. */
const installedVersion = (
  package_: VersionReading['package'],
  programs: readonly VersionResult<NodeVersion>[],
): string | null => {
  const texts = [
    package_.ok && package_.value ? package_.value.version : null,
    ...programs.map((one) => (one.ok ? one.value.version : null)),
  ]
  return texts.map(versionIn).find((text) => text !== null) ?? null
}

/**
 * Versions that differ are a mismatch. Versions that are the same, suffix included, are none. Where they do not show
 * it, because the running one is unknown or only the installed one has a suffix, the times of installation and start
 * do: `isReplaced`, whether a service has been running since before the package was installed.
 */
const mismatchOf = (
  installed: string | null,
  running: readonly RunningVersion[],
  isReplaced: boolean | null,
): boolean | null => {
  const differs = running.map((one) => isDifferentVersion(installed, one.version))
  if (differs.includes(true)) return true
  // The RPC restarts by itself: its version does not prove the version of consensus.
  const isConsensusKnown = running.some(({ source }) => source === 'native')
  return isConsensusKnown && differs.every((one) => one === false) ? false : isReplaced
}

/** Labels are stored permanently and are public. */
const label = (value: string | boolean | null): string => (value === null ? '' : excerpt(String(value)).slice(0, 100))

const COMMIT = /^[0-9a-f]{7,40}$/i

const samples = (reading: VersionReading): readonly Sample[] => [
  ...[...reading.programs].flatMap(([program, result]) => {
    if (!result.ok) return []
    const { version: built, tag, branch, commit, modified } = result.value
    return [
      sample('chain_node_build_info', 1, {
        program,
        version: label(built),
        // A commit of 40 hex digits would be redacted as a secret.
        commit: commit !== null && COMMIT.test(commit) ? commit : '',
        tag: label(tag),
        branch: label(branch),
        modified: label(modified),
      }),
    ]
  }),
  ...reading.running.map(({ source, version: runs }) =>
    sample('chain_node_running_info', 1, { source, version: label(runs) }),
  ),
  ...(reading.package.ok && reading.package.value ? packageSamples(reading.package.value) : []),
  ...sampleIfKnown('chain_package_candidate_info', reading.upgrade.candidate === null ? null : 1, {
    version: label(reading.upgrade.candidate),
  }),
  ...sampleIfKnown('chain_package_upgrade_available', reading.upgrade.isAvailable),
  ...sampleIfKnown('chain_version_mismatch', reading.mismatch),
  ...reading.forks.flatMap(forkSamples),
  ...sampleIfKnown('chain_forks_reviewed_timestamp_seconds', inSeconds(reading.forksReviewedAt)),
]

const packageSamples = ({ package: name, version: installed, isHeld }: InstalledPackage): readonly Sample[] => [
  sample('chain_package_info', 1, { package: label(name), version: label(installed) }),
  sample('chain_package_held', isHeld, { package: 'node' }),
]

const states = (reading: VersionReading): Readonly<Record<string, string>> => {
  const { installed, running, mismatch, forks } = reading
  return {
    'installed version': installed === null ? 'unknown' : label(installed),
    'running version': running.map((one) => `${label(one.version)} (${one.source})`).join(', ') || 'unknown',
    ...(mismatch !== null && { restart: mismatch ? 'pending: see both versions' : 'not due' }),
    ...(!reading.package.ok && { package: `unknown: ${summaryOf(reading.package.error)}` }),
    upgrade: reading.upgrade.state,
    ...Object.fromEntries(
      [...reading.programs].map(([name, result]) => [
        `program ${name}`,
        result.ok ? 'reports its version' : summaryOf(result.error),
      ]),
    ),
    ...Object.fromEntries(
      forks.map((readiness) => [`${readiness.fork.kind} ${readiness.fork.name}`, forkState(readiness)]),
    ),
  }
}
