import { type Collector, type Context, poll, type Timing } from '../../core/collector.ts'
import { excerpt, summaryOf } from '../../core/errors.ts'
import type { Forks } from '../../core/fork.ts'
import { createSampleIndex } from '../../core/sample-index.ts'
import type { Recorder } from '../../core/recorder.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { isDifferentVersion, type NodeVersion, type PackageVersion, versionIn } from '../../parsers/version.ts'
import type { Exec } from '../../sources/exec.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'
import { forkSamples, forkState, readinessFor, type Readiness } from './fork-readiness.ts'
import {
  chainIdOf,
  hasPageTimeline,
  readPackageVersion,
  readProgramVersion,
  type RunningVersion,
  runningVersions,
  type VersionResult,
} from './versions.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'

export interface VersionReading {
  /** By the name in the configuration. */
  readonly programs: ReadonlyMap<string, VersionResult<NodeVersion>>
  /** The value is null if dpkg has not installed the package. */
  readonly package: VersionResult<PackageVersion | null>
  /** Null if neither the package nor a program reports it. */
  readonly installed: string | null
  readonly running: readonly RunningVersion[]
  /** Whether a process runs a version other than the installed one; null if unknown. */
  readonly mismatch: boolean | null
  readonly forks: readonly Readiness[]
}

interface VersionCollectorOptions {
  readonly exec: Exec
  readonly recorder: Recorder
  readonly readPrefix: ReadPrefix
  /** Returns the samples of the other collectors: running versions, chain, database. */
  readonly published: () => Iterable<Sample>
  /** Programs without the name prefix. */
  readonly programs: readonly string[]
  /** The package; null: the name prefix. */
  readonly package: string | null
  readonly forks: Forks
  readonly timing: Timing
}

/** Installed and running versions, and whether they meet the requirements of the next forks. */
export const version = (options: VersionCollectorOptions): Collector<VersionReading> => {
  const { exec, recorder, published, timing } = options
  /** A node does not change its chain: the chain id is kept while the RPC is down. */
  let chainId: string | null = null

  const read = async (context: Context): Promise<VersionReading> => {
    const { word } = await options.readPrefix(context.signal)
    const versionContext = { exec, recorder, context, timeout: timing.timeout * 0.75 }
    const [package_, ...results] = await Promise.all([
      readPackageVersion(options.package ?? word, versionContext),
      ...options.programs.map((name) => readProgramVersion(`${word}-${name}`, versionContext)),
    ])
    const programs = new Map(
      results.flatMap((result, index) => {
        const name = options.programs[index]
        return name === undefined ? [] : [[name, result] as const]
      }),
    )
    // After the programs, so that the first reading has the samples of the other collectors.
    const known = createSampleIndex(published())
    const running = runningVersions(known)
    const installed = installedVersion(package_, results)
    chainId = chainIdOf(known) ?? chainId
    const failure = results.find((result) => !result.ok)
    if (installed === null && running.length === 0 && failure) throw failure.error
    const node = {
      installed,
      running,
      hasPageTimeline: hasPageTimeline(known, word),
    }
    return {
      programs,
      package: package_,
      installed,
      running,
      mismatch: mismatchOf(installed, running),
      forks: readinessFor(options.forks.get(chainId ?? '') ?? [], node, context.clock.now()),
    }
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: poll(timing, read),
    samples,
    states,
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

const mismatchOf = (installed: string | null, running: readonly RunningVersion[]): boolean | null => {
  const others = running.map((one) => isDifferentVersion(installed, one.version))
  if (others.includes(true)) return true
  // The RPC restarts by itself: its version does not prove the version of consensus.
  const isConsensusKnown = running.some(({ source }) => source === 'native')
  return isConsensusKnown && others.includes(false) ? false : null
}

/** Labels are stored permanently and are public. */
const label = (value: string | boolean | null): string => (value === null ? '' : excerpt(String(value)).slice(0, 100))

const COMMIT = /^[0-9a-f]{7,40}$/i

const samples = (reading: VersionReading): readonly Sample[] => [
  ...[...reading.programs].flatMap(([program, result]) => {
    if (!result.ok) return []
    const { tag, branch, commit, modified } = result.value
    const labels = { tag: label(tag), branch: label(branch), modified: label(modified) }
    return [
      sample('chain_node_build_info', 1, {
        program,
        version: label(result.value.version),
        // A commit of 40 hex digits would be redacted as a secret.
        commit: commit !== null && COMMIT.test(commit) ? commit : '',
        ...labels,
      }),
    ]
  }),
  ...reading.running.map(({ source, version: runs }) =>
    sample('chain_node_running_info', 1, { source, version: label(runs) }),
  ),
  ...(reading.package.ok && reading.package.value
    ? [
        sample('chain_package_info', 1, {
          package: label(reading.package.value.package),
          version: label(reading.package.value.version),
        }),
      ]
    : []),
  ...sampleIfKnown('chain_version_mismatch', reading.mismatch),
  ...reading.forks.flatMap(forkSamples),
]

const states = (reading: VersionReading): Readonly<Record<string, string>> => {
  const { installed, running, mismatch, forks } = reading
  return {
    'installed version': installed === null ? 'unknown' : label(installed),
    'running version': running.map((one) => `${label(one.version)} (${one.source})`).join(', ') || 'unknown',
    ...(mismatch === null ? {} : { restart: mismatch ? 'pending: see both versions' : 'not due' }),
    ...(reading.package.ok ? {} : { package: `unknown: ${summaryOf(reading.package.error)}` }),
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

export const offer: OfferCollector = (dependencies) => ({
  uses: [dependencies.readPrefix, dependencies.forks],
  role: 'derived',
  create: (timing) => version({ ...dependencies, ...dependencies.config.version, timing }),
})
