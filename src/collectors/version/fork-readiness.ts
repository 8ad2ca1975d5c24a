import type { Fork } from '../../core/fork.ts'
import { second } from '../../core/units.ts'
import type { FORK_CHECKS } from './definition.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { compareVersions } from '../../parsers/version-number.ts'
import type { Running } from './views.ts'

/** What a node has of all that a fork may ask for; null is unknown. */
export interface Equipment {
  readonly installed: string | null
  /** Every process whose version is known. */
  readonly running: readonly Running[]
  readonly hasPageTimeline: boolean | null
}

interface Check {
  readonly check: (typeof FORK_CHECKS)[number]
  readonly ready: boolean | null
}

export interface Readiness {
  readonly fork: Fork
  /** What the fork asks for, and nothing else. */
  readonly checks: readonly Check[]
}

const DAY = 86_400 * second
/**
 * From so long before the activation a node is ready only with what runs: an alert that comes with the
 * fork itself, because nobody restarted what was installed in time, would come too late.
 */
const RESTARTED_BEFORE = DAY
const FORGOTTEN_AFTER = 30 * DAY

/** How a node stands to each fork. What is long past, and was no trouble, is left out. */
export const readinessFor = (
  forks: readonly Fork[],
  equipment: Equipment,
  now: number,
): readonly Readiness[] =>
  forks
    .map((fork) => ({ fork, checks: checksOf(fork, equipment, now) }))
    .filter(
      ({ fork, checks }) =>
        now - fork.activationAt <= FORGOTTEN_AFTER || checks.some(({ ready }) => ready !== true),
    )

const checksOf = (fork: Fork, equipment: Equipment, now: number): readonly Check[] => [
  ...(fork.minimumVersion === null
    ? []
    : [
        {
          check: 'version' as const,
          ready: hasVersion(fork.minimumVersion, equipment, {
            mustRun: now >= fork.activationAt - RESTARTED_BEFORE,
          }),
        },
      ]),
  ...(fork.timeline === null
    ? []
    : [{ check: 'timeline' as const, ready: equipment.hasPageTimeline }]),
]

/**
 * While there is time, what is installed decides: `chain_version_mismatch` tells that it has still to be
 * started. Later what runs must do, too, and what is installed alone proves nothing.
 */
const hasVersion = (
  minimum: string,
  { installed, running }: Equipment,
  { mustRun }: { readonly mustRun: boolean },
): boolean | null => {
  const there = isEnough(installed, minimum)
  const runs = running.map(({ version }) => isEnough(version, minimum))
  // The RPC comes back by itself: that it is new says nothing of consensus, which does not.
  const isConsensusNew = running.some(
    ({ source, version }) => source === 'native' && isEnough(version, minimum) === true,
  )
  const runsAll = runs.includes(false) ? false : isConsensusNew ? true : null
  if (!mustRun) return there ?? runsAll
  return there === false ? false : runsAll
}

const isEnough = (version: string | null, minimum: string): boolean | null => {
  const order = compareVersions(version, minimum)
  return order === 'unknown' ? null : order !== 'older'
}

export const forkSamples = ({ fork, checks }: Readiness): readonly Sample[] => [
  sample('chain_fork_activation_timestamp_seconds', fork.activationAt / second, {
    fork: fork.name,
  }),
  ...checks.flatMap(({ check, ready }) =>
    sampleIfKnown('chain_fork_ready', ready, { fork: fork.name, check }),
  ),
]

const LACKS = {
  version: ({ minimumVersion }: Fork) => `upgrade to ${minimumVersion ?? ''} or newer, and restart`,
  timeline: () => 'the database has no page-encoded timeline: execution will not start; migrate it',
}

/** For the log: what is missing, and by when. */
export const forkState = ({ fork, checks }: Readiness): string => {
  const by = new Date(fork.activationAt).toISOString().replace(/:\d\d\.\d{3}Z$/, 'Z')
  const lacking = checks.filter(({ ready }) => ready === false)
  if (lacking.length > 0) {
    return `not ready for ${by}: ${lacking.map(({ check }) => LACKS[check](fork)).join('; ')}`
  }
  const unknown = checks.filter(({ ready }) => ready === null).map(({ check }) => check)
  return unknown.length === 0 ? `ready for ${by}` : `${by}; unknown: ${unknown.join(', ')}`
}
