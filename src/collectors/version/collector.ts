import { type Collector, type Context, poll, type Timing } from '../../core/collector.ts'
import { excerpt, summaryOf } from '../../core/errors.ts'
import type { Forks } from '../../core/fork.ts'
import { createSampleIndex } from '../../core/sample-index.ts'
import type { Recorder } from '../../core/recorder.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import type { PackageVersion } from '../../parsers/dpkg.ts'
import type { NodeVersion } from '../../parsers/node-version.ts'
import { isDifferentVersion, versionIn } from '../../parsers/version-number.ts'
import type { Exec } from '../../sources/exec.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'
import { forkSamples, forkState, readinessFor, type Readiness } from './fork-readiness.ts'
import { askPackage, askProgram, type Told } from './installed.ts'
import { chainIdOf, hasPageTimeline, type Running, runningVersions } from './views.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'

export interface VersionReading {
  /** By the name in the configuration. */
  readonly programs: ReadonlyMap<string, Told<NodeVersion>>
  /** Null within is a package that dpkg does not have. */
  readonly package: Told<PackageVersion | null>
  /** Null where neither the package nor a program tells it. */
  readonly installed: string | null
  readonly running: readonly Running[]
  /** Whether something else runs than is installed; null where that is unknown. */
  readonly mismatch: boolean | null
  readonly forks: readonly Readiness[]
}

interface Parts {
  readonly exec: Exec
  readonly recorder: Recorder
  readonly readPrefix: ReadPrefix
  /** What the other collectors have published: what runs, on which chain, with which database. */
  readonly published: () => Iterable<Sample>
  /** Programs without the maker's word. */
  readonly programs: readonly string[]
  /** The package; null where it has the maker's word for its name. */
  readonly package: string | null
  readonly forks: Forks
  readonly timing: Timing
}

/** What is installed, what runs, and whether that is enough for what the network will ask for. */
export const version = (parts: Parts): Collector<VersionReading> => {
  const { exec, recorder, published, timing } = parts
  /** A node does not change its chain: what was told once holds while the RPC is down. */
  let chainId: string | null = null

  const read = async (context: Context): Promise<VersionReading> => {
    const { word } = await parts.readPrefix(context.signal)
    const asking = { exec, recorder, context, timeout: timing.timeout * 0.75 }
    const [package_, ...answers] = await Promise.all([
      askPackage(parts.package ?? word, asking),
      ...parts.programs.map((name) => askProgram(`${word}-${name}`, asking)),
    ])
    const programs = new Map(
      answers.flatMap((answer, index) => {
        const name = parts.programs[index]
        return name === undefined ? [] : [[name, answer] as const]
      }),
    )
    // After the programs, so that the first reading, too, finds what the others have read.
    const known = createSampleIndex(published())
    const running = runningVersions(known)
    const installed = installedVersion(package_, answers)
    chainId = chainIdOf(known) ?? chainId
    const failure = answers.find((answer) => !answer.ok)
    if (installed === null && running.length === 0 && failure) throw failure.error
    const equipment = {
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
      forks: readinessFor(parts.forks.get(chainId ?? '') ?? [], equipment, context.clock.now()),
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

/** By the package, which names each release once; else by the first program that says it. */
const installedVersion = (
  package_: VersionReading['package'],
  programs: readonly Told<NodeVersion>[],
): string | null => {
  const texts = [
    package_.ok && package_.value ? package_.value.version : null,
    ...programs.map((one) => (one.ok ? one.value.version : null)),
  ]
  return texts.map(versionIn).find((text) => text !== null) ?? null
}

const mismatchOf = (installed: string | null, running: readonly Running[]): boolean | null => {
  const others = running.map((one) => isDifferentVersion(installed, one.version))
  if (others.includes(true)) return true
  // The RPC comes back by itself: that it is the installed one says nothing of consensus.
  const isConsensusKnown = running.some(({ source }) => source === 'native')
  return isConsensusKnown && others.includes(false) ? false : null
}

/** A label is kept for ever, and everybody may read it. */
const label = (value: string | boolean | null): string =>
  value === null ? '' : excerpt(String(value)).slice(0, 100)

const COMMIT = /^[0-9a-f]{7,40}$/i

const samples = (reading: VersionReading): readonly Sample[] => [
  ...[...reading.programs].flatMap(([program, told]) => {
    if (!told.ok) return []
    const { tag, branch, commit, modified } = told.value
    const labels = { tag: label(tag), branch: label(branch), modified: label(modified) }
    return [
      sample('chain_node_build_info', 1, {
        program,
        version: label(told.value.version),
        // Forty digits look like a secret, and are none.
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
    'running version':
      running.map((one) => `${label(one.version)} (${one.source})`).join(', ') || 'unknown',
    ...(mismatch === null ? {} : { restart: mismatch ? 'pending: see both versions' : 'not due' }),
    ...(reading.package.ok ? {} : { package: `unknown: ${summaryOf(reading.package.error)}` }),
    ...Object.fromEntries(
      [...reading.programs].map(([name, told]) => [
        `program ${name}`,
        told.ok ? 'tells its version' : summaryOf(told.error),
      ]),
    ),
    ...Object.fromEntries(
      forks.map((readiness) => [
        `${readiness.fork.kind} ${readiness.fork.name}`,
        forkState(readiness),
      ]),
    ),
  }
}

export const offer: OfferCollector = (dependencies) => ({
  uses: [dependencies.readPrefix, dependencies.forks],
  role: 'derived',
  create: (timing) => version({ ...dependencies, ...dependencies.config.version, timing }),
})
