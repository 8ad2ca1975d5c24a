import { type Diagnosis, diagnose, plannedRestart } from '../diagnosis.ts'
import { isWatcher } from '../facts.ts'
import type { RestartWindow } from '../restart-window.ts'
import type { CollectorState, NodeSnapshot } from '../snapshot.ts'
import type { Tone } from '../../domain/health.ts'
import { type Fact, factsFor, joined, oneLine, type Parts, relativeTime } from './fact.ts'

/** The data of a node, as sections read it. */
export interface View extends Pick<NodeSnapshot, 'at' | 'known' | 'readings'> {
  /** The name prefix; `chain` if it is not known. */
  readonly prefix: string
  readonly snapshot: NodeSnapshot
  readonly diagnosis: Diagnosis
  /** Whether a planned restart is safe now; null during a fault: then the recovery says what to restart, and when. */
  readonly restart: RestartWindow | null
  /** A fact with a time. */
  readonly time: ReturnType<typeof factsFor>['time']
  collector(collector: string): CollectorState | undefined
  /** True once the collector has a reading: absent fields are then known to be absent. */
  hasReading(collector: string): boolean
}

/** Facts from one source, and therefore of one age. */
export interface Group {
  readonly collector: string | null
  readonly source: string
  readonly facts: (view: View) => readonly Fact[]
}

/** `collector` provides the facts; null if none is needed. `source` is a text: `the status report`. */
export const group = (collector: Group['collector'], source: string, facts: Group['facts']): Group => ({
  collector,
  source,
  facts,
})

export const statusReport = (facts: Group['facts']): Group => group('status', 'the status report', facts)

/** A line of the overview; null is unknown. */
export type Summary = { readonly text: string; readonly tone?: Tone | undefined } | null

export interface Section {
  /** The name in arguments and in JSON. */
  readonly name: string
  /** The label in the overview, if it differs from the name. */
  readonly label?: string
  /** Further names in arguments. */
  readonly aliases?: readonly string[]
  readonly groups: readonly Group[]
  /** A section without a summary has no line in the overview. */
  readonly summary?: (view: View) => Summary
  /** Its line is on the status page only: the overview of `status` fits on a screen of 24 lines. */
  readonly isOnPageOnly?: true
  /** It has no collector of its own and is about the node of this host. */
  readonly isOfNode?: true
}

export const createView = (snapshot: NodeSnapshot): View => {
  const diagnosis = diagnose(snapshot)
  const statusOf = (collector: string): CollectorState | undefined =>
    snapshot.collectors.find(({ name }) => name === collector)
  return {
    at: snapshot.at,
    prefix: snapshot.prefix ?? 'chain',
    known: snapshot.known,
    readings: snapshot.readings,
    snapshot,
    diagnosis,
    restart: plannedRestart(diagnosis, snapshot),
    time: factsFor(snapshot.at).time,
    collector: statusOf,
    hasReading: (collector) => statusOf(collector)?.hasReading ?? false,
  }
}

/** A text or its parts; if none is known, the summary is unknown. */
export const summary = (shown: string | Parts | null, tone?: Tone): Summary => {
  const text = typeof shown === 'string' || shown === null ? shown : joined(shown)
  return text === null ? null : { text, tone }
}

/** Why a collector has no reading, or no new one, in one line; null if it has. */
export const whyUnknown = (status: CollectorState | undefined): string | null => {
  if (status === undefined) return 'the agent has no such collector'
  const { enabled, up, error, hasReading } = status
  if (!enabled) return 'disabled in the configuration, or nothing to read'
  if (error !== null) {
    return hasReading ? `${oneLine(error.message)} (showing the previous reading)` : oneLine(error.message)
  }
  if (up === null) return 'the first attempt has not finished'
  return up ? null : 'stale: no reading within the expected time'
}

/** Whether the configuration enables a part of it: a watcher shows nothing of a node that is not on its host. */
export const isInUse = ({ groups, isOfNode }: Section, view: View): boolean =>
  !(isOfNode && isWatcher(view.known)) &&
  groups.some(({ collector }) => collector === null || view.collector(collector)?.enabled !== false)

/** The source of a group and the age of its reading. */
export const sourceOf = ({ collector, source }: Group, view: View): string => {
  const at = collector !== null && view.hasReading(collector) ? view.collector(collector)?.lastSuccessAt : undefined
  return `from ${source}${typeof at === 'number' ? `, ${relativeTime(at, view.at)}` : ''}:`
}

/** Why parts of a section are unknown, one line each. */
export const reasonsOf = ({ groups }: Section, view: View): readonly string[] =>
  [...new Set(groups.flatMap(({ collector }) => collector ?? []))].flatMap((name) => {
    const why = whyUnknown(view.collector(name))
    return why === null ? [] : [`${name}: ${why}`]
  })
