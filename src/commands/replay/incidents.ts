import { minute } from '../../core/units.ts'
import type { RuleSeverity } from '../../health/rules/rule.ts'
import { type Firing, rank } from './firings.ts'

/** Alerts that began close together: most likely one cause and its consequences. */
export interface Incident {
  readonly severity: RuleSeverity
  readonly beganAt: number
  /** When the last of them ended; null if one still fired at the end of the recording. */
  readonly endedAt: number | null
  /** Most severe first; one for each alert and subject. */
  readonly firings: readonly Firing[]
}

/** A firing that begins within this time after the previous one belongs to the same incident. */
const TOGETHER_MS = 5 * minute

/** Groups firings, which must be sorted by the time at which they began, into incidents. */
export const incidentsOf = (firings: readonly Firing[]): readonly Incident[] => {
  const groups: Firing[][] = []
  let latest = -Infinity
  for (const firing of firings) {
    const group = groups.at(-1)
    if (group && firing.beganAt - latest <= TOGETHER_MS) group.push(firing)
    else groups.push([firing])
    latest = firing.beganAt
  }
  return groups.map(incidentOf)
}

const incidentOf = (group: readonly Firing[]): Incident => {
  const merged = mergeSeverities(group).toSorted((a, b) => rank(a.severity) - rank(b.severity) || a.beganAt - b.beganAt)
  return {
    severity: merged[0]?.severity ?? 'info',
    beganAt: Math.min(...group.map(({ beganAt }) => beganAt)),
    endedAt: latestEnd(group),
    firings: merged,
  }
}

/** Merges a warning that became critical into one firing, from the start of the first to the end of the last. */
const mergeSeverities = (group: readonly Firing[]): readonly Firing[] => {
  const byKey = new Map<string, Firing>()
  for (const firing of group) {
    const key = `${firing.alert ?? firing.beganAt} ${firing.subject}`
    const known = byKey.get(key)
    if (!known) {
      byKey.set(key, firing)
      continue
    }
    const worse = rank(firing.severity) < rank(known.severity) ? firing : known
    byKey.set(key, {
      ...worse,
      beganAt: Math.min(known.beganAt, firing.beganAt),
      firedAt: Math.min(known.firedAt, firing.firedAt),
      endedAt: latestEnd([known, firing]),
    })
  }
  return [...byKey.values()]
}

const latestEnd = (all: readonly Firing[]): number | null => {
  const ends = all.map(({ endedAt }) => endedAt)
  return ends.every((end) => end !== null) ? Math.max(...ends) : null
}
