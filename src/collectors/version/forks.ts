import { type Fork } from '../../config/forks.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { second } from '../../core/units.ts'
import { compareVersions, isDifferentVersion } from '../../parsers/version.ts'
import { type FORK_CHECKS } from './definition.ts'
import { type RunningVersion } from './versions.ts'

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

export interface Readiness {
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

const checksOf = ({ minimumVersion, timeline, activationAt }: Fork, node: NodeProperties, now: number) => {
  const checks: Check[] = []
  const mustRun = now >= activationAt - RESTARTED_BEFORE
  if (minimumVersion !== null) checks.push({ check: 'version', ready: hasVersion(minimumVersion, node, { mustRun }) })
  if (timeline !== null) checks.push({ check: 'timeline', ready: node.hasPageTimeline })
  return checks
}

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
  sample('chain_fork_activation_timestamp_seconds', fork.activationAt / second, { fork: fork.name }),
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
  if (missing.length > 0) return `not ready for ${by}: ${missing.map(({ check }) => ADVICE[check](fork)).join('; ')}`
  if (promotionDue) return `in force since ${by}; the slot-encoded timeline is still primary: promote the other`
  const unknown = checks.filter(({ ready }) => ready === null).map(({ check }) => check)
  return unknown.length === 0 ? `ready for ${by}` : `${by}; unknown: ${unknown.join(', ')}`
}
