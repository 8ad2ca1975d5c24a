import { chainIdOf } from '../../domain/agreement.ts'
import { type Fork, type Forks } from '../../config/forks.ts'
import { second } from '../../core/units.ts'
import { definition, type FORK_CHECKS } from './definition.ts'
import { createSampleIndex, type Recorder, type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import {
  compareVersions,
  isDifferentVersion,
  versionIn,
  type InstalledPackage,
  type NodeVersion,
} from '../../parsers/version.ts'
import {
  hasPageTimeline,
  hasSlotPrimary,
  readPackageVersion,
  readProgramVersion,
  type RunningVersion,
  runningVersions,
  runsReplaced,
  unknownKinds,
  type VersionResult,
} from './versions.ts'
import { type Collector, poll, type Timing } from '../../core/collector.ts'
import { type Context } from '../../core/clock.ts'
import { excerpt, summaryOf } from '../../core/errors.ts'
import { createUnknownValues } from '../../core/unknown-values.ts'
import { type Exec } from '../../sources/exec.ts'
import { type ReadPrefix } from '../../sources/prefix.ts'
import { type OfferCollector } from '../dependencies.ts'

/** The properties of a node that forks may require; null is unknown. */
export interface NodeProperties {
  readonly installed: string | null
  /** Processes with a known version. */
  readonly running: readonly RunningVersion[]
  /** Whether a process runs a version other than the installed one. */
  readonly mismatch: boolean | null
  readonly hasPageTimeline: boolean | null
  /** Whether the primary timeline is known to be slot-encoded. */
  readonly hasSlotPrimary: boolean
}

interface Check {
  readonly check: (typeof FORK_CHECKS)[number]
  readonly ready: boolean | null
}

interface Readiness {
  readonly fork: Fork
  /** The requirements of the fork. */
  readonly checks: readonly Check[]
  /** Whether the fork is in force and both timelines are still written: the page-encoded one is to be promoted. */
  readonly promotionDue: boolean
}

const DAY = 86_400 * second
/**
 * From this time before the activation the running version must meet the requirement: if the node was upgraded and not
 * restarted, an alert at the activation would be too late.
 */
const RESTARTED_BEFORE = DAY
const OMITTED_AFTER = 30 * DAY

/** The readiness for each fork. Forks from long ago are omitted if nothing is left to do. */
export const readinessFor = (forks: readonly Fork[], node: NodeProperties, now: number): readonly Readiness[] =>
  forks
    .map((fork) => ({
      fork,
      checks: checksOf(fork, node, now),
      promotionDue:
        fork.timeline === 'page' && now >= fork.activationAt && node.hasPageTimeline === true && node.hasSlotPrimary,
    }))
    .filter(
      ({ fork, checks, promotionDue }) =>
        now - fork.activationAt <= OMITTED_AFTER || promotionDue || checks.some(({ ready }) => ready !== true),
    )

const checksOf = (fork: Fork, node: NodeProperties, now: number): readonly Check[] => [
  ...(fork.minimumVersion === null
    ? []
    : [
        {
          check: 'version' as const,
          ready: hasVersion(fork.minimumVersion, node, {
            mustRun: now >= fork.activationAt - RESTARTED_BEFORE,
          }),
        },
      ]),
  ...(fork.timeline === null ? [] : [{ check: 'timeline' as const, ready: node.hasPageTimeline }]),
]

/**
 * First the installed version decides: `chain_version_mismatch` reports that a restart is pending. Later the running
 * version must be new enough, too.
 */
const hasVersion = (
  minimum: string,
  { installed, running, mismatch }: NodeProperties,
  { mustRun }: { readonly mustRun: boolean },
): boolean | null => {
  const isInstalled = isEnough(installed, minimum)
  if (isInstalled !== null && mismatch === false) return isInstalled
  const perProcess = running.map(({ version }) => runsEnough(version, minimum))
  // The RPC restarts by itself: its version does not prove the version of consensus, which does not.
  const isConsensusNew = running.some(
    ({ source, version }) => source === 'native' && runsEnough(version, minimum) === true,
  )
  const runsAll = perProcess.includes(false) ? false : isConsensusNew ? true : null
  if (!mustRun) return isInstalled ?? runsAll
  return isInstalled === false ? false : runsAll
}

const isEnough = (version: string | null, minimum: string): boolean | null => {
  const order = compareVersions(version, minimum)
  return order === 'unknown' ? null : order !== 'older'
}

/** An endpoint omits the suffix: 0.16.2 may be the required 0.16.2+1. */
const runsEnough = (version: string, minimum: string): boolean | null => {
  const enough = isEnough(version, minimum)
  return enough === false && isDifferentVersion(minimum, version) === null ? null : enough
}

export const forkSamples = ({ fork, checks }: Readiness): readonly Sample[] => [
  sample('chain_fork_activation_timestamp_seconds', fork.activationAt / second, {
    fork: fork.name,
  }),
  ...checks.flatMap(({ check, ready }) => sampleIfKnown('chain_fork_ready', ready, { fork: fork.name, check })),
]

const ADVICE = {
  version: ({ minimumVersion }: Fork) => `upgrade to ${minimumVersion ?? ''} or newer, and restart`,
  timeline: () => 'the database has no page-encoded timeline: execution will not start; migrate it',
}

/** The missing requirements and the activation time, for the log. */
export const forkState = ({ fork, checks, promotionDue }: Readiness): string => {
  const by = new Date(fork.activationAt).toISOString().replace(/:\d\d\.\d{3}Z$/, 'Z')
  const missing = checks.filter(({ ready }) => ready === false)
  if (missing.length > 0) {
    return `not ready for ${by}: ${missing.map(({ check }) => ADVICE[check](fork)).join('; ')}`
  }
  if (promotionDue) return `in force since ${by}; the slot-encoded timeline is still primary: promote the other`
  const unknown = checks.filter(({ ready }) => ready === null).map(({ check }) => check)
  return unknown.length === 0 ? `ready for ${by}` : `${by}; unknown: ${unknown.join(', ')}`
}

export interface VersionReading {
  /** A map from the name in the configuration. */
  readonly programs: ReadonlyMap<string, VersionResult<NodeVersion>>
  /** The value is null if dpkg has not installed the package. */
  readonly package: VersionResult<InstalledPackage | null>
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
  const unknownValues = createUnknownValues(recorder, 'chain-mpt')
  /** A node does not change its chain: the chain id is kept while the RPC is down. */
  let chainId: string | null = null

  const read = async (context: Context): Promise<VersionReading> => {
    const { word, from } = await options.readPrefix(context.signal)
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
    // Without a node the prefix, which is also the name of a kind, is unknown.
    unknownValues.add(from === 'default' ? [] : unknownKinds(known, word))
    const running = runningVersions(known)
    const installed = installedVersion(package_, results)
    chainId = chainIdOf(known) ?? chainId
    const installedAt = package_.ok ? (package_.value?.installedAt ?? null) : null
    const mismatch = mismatchOf({ installed, running, isReplaced: runsReplaced(known, installedAt) })
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
      programs,
      package: package_,
      installed,
      running,
      mismatch,
      forks: readinessFor(options.forks.get(chainId ?? '') ?? [], node, context.clock.now()),
    }
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
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

interface MismatchEvidence {
  readonly installed: string | null
  readonly running: readonly RunningVersion[]
  /** Whether a service has been running since before the package was installed. */
  readonly isReplaced: boolean | null
}

/**
 * Versions that differ are a mismatch. Versions that are the same, suffix included, are none. Where they do not show
 * it, because the running one is unknown or only the installed one has a suffix, the times of installation and start
 * do.
 */
const mismatchOf = ({ installed, running, isReplaced }: MismatchEvidence): boolean | null => {
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

export const offer: OfferCollector<typeof definition> = (
  settings,
  { exec, recorder, readPrefix, published, forks },
) => ({
  role: 'derived',
  create: (timing) => version({ ...settings, exec, recorder, readPrefix, published, forks, timing }),
})
